"""Everything that is doubtful about the runs and their records, each thing once. Pure."""

from collections.abc import Iterator, Sequence

from harness.record.metrics import AFTER, BEFORE, read_metrics
from harness.report.document import Cell, Column, Section, Table
from harness.report.sections.grouping import Shown, shown, trouble
from harness.report.sources import Sources
from harness.report.words import Words

RUNS_NAMED_MAX = 20


def section(sources: Sources, words: Words) -> Section | None:
    """Return the chapter of warnings, None if there is none."""
    found = warnings(sources)
    if not found:
        return None
    columns = tuple(Column(key, words(f"run.column.{key}")) for key in ("warning", "records", "where"))
    rows: list[tuple[Cell, ...]] = []
    for text, places in found.items():
        named = list(places[:RUNS_NAMED_MAX])
        if len(places) > len(named):
            named.append(words("run.more", count=len(places) - len(named)))
        rows.append((words.phrase(text), len(places), words("run.list").join(named)))
    marks = dict.fromkeys(range(len(rows)), "warning")
    table = Table("warnings", words("run.warnings.table"), columns, tuple(rows), marks=marks)
    return Section("warnings", words("run.warnings.title"), (table,), brief=True)


def warnings(sources: Sources) -> dict[str, tuple[str, ...]]:
    """Return every warning, with the runs or records that it is about."""
    runs = shown(sources.runs)
    places: dict[str, dict[str, None]] = {}
    for text, where in (*_of_runs(runs), *_of_records(sources.broken, runs)):
        places.setdefault(text, {})[where] = None
    return {text: tuple(where) for text, where in places.items()}


def _of_runs(runs: Sequence[Shown]) -> Iterator[tuple[str, str]]:
    for one in runs:
        meta = one.run.record.meta
        told = [*meta.warnings, *one.run.record.warnings, *meta.unsettled, *meta.deaths, *meta.node_deaths]
        if meta.error:
            told.append(meta.error)
        path = one.run.record.path
        wrong = [trouble(read_metrics, path, name) for name in (BEFORE, AFTER)] + [trouble(_findings, one)]
        told += [text.replace(f"{path}/", "") for text in wrong if text]
        for text in told:
            yield str(text), one.title


def _findings(one: Shown) -> object:
    return one.run.findings


def _of_records(broken: Sequence[str], runs: Sequence[Shown]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with records: each sentence begins with the id of its record."""
    titles = {one.run.record.path.name: one.title for one in runs}
    for sentence in broken:
        record, colon, text = sentence.partition(": ")
        if colon and text:
            yield text, titles.get(record, record)
        else:
            yield sentence, "-"
