"""The lab write-up: what a course asks for, made of the same records and chapters. Pure.

Aim, environment, method, results, logs, analysis, appendix. What only the student can say is asked, with room below.
"""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from harness.record.logs import Excerpt, excerpts
from harness.report.assemble import title
from harness.report.document import Block, Callout, Cell, Code, Column, Document, Facts, Fold, Section, Table, Text
from harness.report.sections.grouping import Shown, natural, readable, shown, slug
from harness.report.sources import Sources
from harness.report.words import Words

RUNS_MAX = 12
"""Of more runs, only the first get chapters and logs of their own: the tables have all of them."""
# Chapters of a report that are results; the others have a place of their own.
_RESULTS = (
    "comparison",
    "differences",
    "placement",
    "timeline",
    "pending",
    "extenders",
    "load",
    "regress",
    "baseline",
    "trace",
)
_MARKS = {"held": "good", "rejected": "bad"}
_AFTER_RESULTS = ("metrics", "warnings")


def write_up(sources: Sources, document: Document, words: Words) -> Document:
    """Return the write-up of a lab, made of the report on the same records."""
    runs = shown(sources.runs)
    known = {section.name: section for section in document.sections}
    facts, configured, commands = _parted(known.get("environment"))
    sections = [
        _aim(runs, words),
        Section("environment", words("formats.lab.environment"), tuple(facts)),
        _method(configured, words),
        *(_of_run(one, words) for one in runs[:RUNS_MAX]),
        *(known.get(name) for name in (*_RESULTS, *_AFTER_RESULTS)),
        _logs(runs, words),
        _analysis(sources, words),
        _appendix(sources, commands, words),
    ]
    made = [section for section in sections if section is not None and section.blocks]
    return replace(document, title=title(sources, words, "formats.lab.title"), sections=tuple(_numbered(made)))


def _numbered(sections: Sequence[Section]) -> Iterator[Section]:
    for number, section in enumerate(sections, start=1):
        yield replace(section, title=f"{number}. {section.title}")


def _aim(runs: Sequence[Shown], words: Words) -> Section:
    scenarios = {one.scenario: words.phrase(one.run.record.scenario.summary) for one in runs}
    blocks: list[Block] = [Facts(tuple(scenarios.items()))] if scenarios else []
    return Section("aim", words("formats.lab.aim"), (*blocks, *_asked("aim", words)))


def _method(configured: Sequence[Block], words: Words) -> Section:
    told = (Text(words("formats.lab.method.text")), *configured) if configured else ()
    return Section("method", words("formats.lab.method"), (*told, *_asked("method", words)))


def _parted(environment: Section | None) -> tuple[list[Block], list[Block], list[Block]]:
    """Return what the chapter on the environment has: facts, the configuration that was used, and commands."""
    facts: list[Block] = []
    configured: list[Block] = []
    commands: list[Block] = []
    for block in environment.blocks if environment else ():
        inner = block.blocks if isinstance(block, Fold) else (block,)
        languages = {part.language for part in inner if isinstance(part, Code)}
        if languages:
            (configured if "yaml" in languages else commands).append(block)
        elif not isinstance(block, Text):
            # Sentences there introduce what stands elsewhere here.
            facts.append(block)
    return facts, configured, commands


def _of_run(one: Shown, words: Words) -> Section:
    name = slug(one.title)
    return Section(
        f"result-{name}",
        words("formats.lab.result", run=one.title),
        (_facts(one, words), _nodes(one, name, words), _verdicts(one, name, words)),
    )


def _facts(one: Shown, words: Words) -> Facts:
    run, meta = one.run, one.run.record.meta
    counts = run.counts()
    attempts = readable(None, lambda: run.attempts)
    pairs: dict[str, str | None] = {
        "record": meta.id,
        "running": f"{counts['running']} / {counts['total']}",
        "pending": str(counts["pending"]),
        "duration_s": None if meta.duration_seconds is None else f"{meta.duration_seconds:.2f}",
        "attempts": None if attempts is None else str(attempts),
        "pods_per_second": None if run.pods_per_second is None else f"{run.pods_per_second:.1f}",
        "extenders": ", ".join(f"{each.name} ({each.subject})" for each in run.record.extenders) or None,
    }
    return Facts(tuple((words(f"formats.lab.fact.{key}"), value) for key, value in pairs.items() if value is not None))


def _nodes(one: Shown, name: str, words: Words) -> Table:
    rows = tuple(sorted(one.run.per_node().items(), key=lambda pair: natural(pair[0])))
    columns = tuple(Column(key, words(f"formats.lab.column.{key}")) for key in ("node", "pods"))
    return Table(f"result-{name}-nodes", words("formats.lab.nodes"), columns, rows, shown=20)


def _verdicts(one: Shown, name: str, words: Words) -> Table:
    keys = ("expectation", "status", "expected", "seen")
    rows: list[tuple[Cell, ...]] = [
        (
            words.phrase(verdict.title),
            words(f"formats.lab.{verdict.status if verdict.status in _MARKS else 'not-judged'}"),
            words.phrase(verdict.expected),
            words.phrase(verdict.seen),
        )
        for verdict in one.run.verdicts
    ]
    marks = {place: _MARKS.get(verdict.status, "warning") for place, verdict in enumerate(one.run.verdicts)}
    columns = tuple(Column(key, words(f"formats.lab.column.{key}")) for key in keys)
    return Table(f"result-{name}-verdicts", words("formats.lab.verdicts"), columns, tuple(rows), marks=marks)


def _logs(runs: Sequence[Shown], words: Words) -> Section | None:
    blocks: list[Block] = []
    for one in runs[:RUNS_MAX]:
        found = excerpts(one.run.record.path)
        if found:
            blocks.append(Fold(one.title, tuple(block for log in found for block in _log(log, words))))
    if not blocks:
        return None
    return Section("logs", words("formats.lab.logs"), (Text(words("formats.lab.logs.text")), *blocks))


def _log(log: Excerpt, words: Words) -> Iterator[Block]:
    told = words("formats.lab.logs.about", component=log.component, lines=log.lines, errors=log.errors)
    yield Text(told + (words("formats.lab.logs.cut") if log.cut else ""))
    if log.first_errors:
        yield Code("\n".join(log.first_errors), title=words("formats.lab.logs.errors"))
    yield Code("\n".join(log.last), title=words("formats.lab.logs.last"))


def _analysis(sources: Sources, words: Words) -> Section:
    variants = {run.record.meta.variant for run in sources.runs}
    questions = [
        "spread" if sources.runs else "",
        "variants" if len(variants) > 1 else "",
        "pending" if any(run.counts()["pending"] for run in sources.runs) else "",
        "extender" if any(run.record.extenders for run in sources.runs) else "",
        "load" if sources.loads else "",
        "regress" if sources.regressions or sources.checked else "",
        "failed" if any(not run.ok for run in sources.runs) else "",
        "limits",
    ]
    blocks = [block for name in questions if name for block in _asked(name, words)]
    return Section("analysis", words("formats.lab.analysis"), tuple(blocks))


def _asked(name: str, words: Words) -> tuple[Block, Block]:
    return Text(words(f"formats.lab.ask.{name}")), Callout("task", words("formats.lab.fill-in"))


def _appendix(sources: Sources, commands: Sequence[Block], words: Words) -> Section:
    measured: list[Iterable[object]] = [
        *(load.meta.get("command") or () for load in sources.loads),
        *(regression.meta.get("command") or () for regression in sources.regressions),
        *(one.meta.get("command") or () for one in sources.checked),
    ]
    lines = list(dict.fromkeys(line for line in map(_command, measured) if line))
    # The language too: elsewhere another one may be the usual.
    lines.append(f"harness report {shlex.join(sources.ids)} --template lab --lang {words.language}")
    blocks = (Text(words("formats.lab.appendix.text")), *commands, Code("\n".join(lines), "console"))
    return Section("appendix", words("formats.lab.appendix"), blocks)


def _command(arguments: Iterable[object]) -> str:
    """Return a command as it is typed: the program by its name, wherever it lies."""
    parts = [str(one) for one in arguments]
    return shlex.join([PurePath(parts[0]).name, *parts[1:]]) if parts else ""
