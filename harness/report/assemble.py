"""Puts a report together: every chapter that has something to say, in the order in which people read. Pure."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType
from typing import Literal

from harness.expect.base import NAMES_SHOWN_MAX
from harness.report.document import Callout, Check, Document, Section
from harness.report.sections import (
    baseline,
    comparison,
    differences,
    environment,
    extenders,
    load,
    load_verdict,
    metrics,
    pending,
    placement,
    regress,
    timeline,
    trace,
    verdict,
    warnings,
)
from harness.report.sources import Sources
from harness.report.words import Words

Outcome = Literal["passed", "failed", "unclear"]

SECTIONS: tuple[ModuleType, ...] = (
    verdict,
    comparison,
    differences,
    placement,
    timeline,
    pending,
    extenders,
    load,
    regress,
    baseline,
    trace,
    metrics,
    warnings,
    environment,
)
"""The chapters; each has a function `section`, which returns None where it has nothing to say."""


def assemble(sources: Sources, words: Words) -> Document:
    """Return the report on records."""
    outcome, sentence = verdict_on(sources, words)
    made = [_section(module, sources, words) for module in SECTIONS]
    return Document(
        title=title(sources, words),
        sentence=sentence,
        outcome=outcome,
        language=words.language,
        sections=tuple(section for section in made if section is not None),
        sources=sources.ids,
        checks=tuple(_told_apart(_checks(sources, words))),
    )


def verdict_on(sources: Sources, words: Words) -> tuple[Outcome, str]:
    """Return how everything went as a whole, and the same in words.

    It failed if anything contradicts what was expected, else it is unclear if anything could not be judged.
    """
    kinds = (
        (sources.runs, verdict.sentence),
        (sources.loads, load_verdict.sentence),
        (sources.regressions, regress.sentence),
        (sources.checked, baseline.sentence),
    )
    told: list[tuple[Outcome, str]] = [sentence(sources, words) for records, sentence in kinds if records]
    if sources.broken:
        told.append(("unclear", words("formats.sentence.broken", count=len(sources.broken))))
    if not told:
        return "unclear", words("formats.sentence.nothing")
    outcomes = [outcome for outcome, _ in told]
    worst: Outcome = "failed" if "failed" in outcomes else "unclear" if "unclear" in outcomes else "passed"
    return worst, words("formats.sentence.join").join(sentence for _, sentence in told)


def title(sources: Sources, words: Words, key: str = "formats.title.runs") -> str:
    """Return what a report is about; `key` is that of the text around the names."""
    listed = words("run.list")
    subjects = (listed.join(dict.fromkeys(result.subject for result in one.results)) for one in sources.loads)
    names = [
        *dict.fromkeys(f"{run.record.meta.scenario}[{run.record.meta.size}]" for run in sources.runs),
        *(words("formats.title.load", subjects=named) for named in subjects),
        *(words("formats.title.regress", candidate=one.candidate, base=one.base) for one in sources.regressions),
        *(words("formats.title.baseline", subject=one.subject, file=one.file) for one in sources.checked),
    ]
    shown, rest = listed.join(names[:NAMES_SHOWN_MAX]), len(names) - NAMES_SHOWN_MAX
    told = words("formats.title.more", names=shown, count=rest) if rest > 0 else shown
    return words(key, names=told) if names else words("formats.title.empty")


def _section(module: ModuleType, sources: Sources, words: Words) -> Section | None:
    """Return a chapter, or a remark where it cannot be made: nobody can foresee every damage to a record."""
    try:
        made: Section | None = module.section(sources, words)
    except Exception as error:  # noqa: BLE001 - the other chapters are still worth reading, and the remark tells of it
        name = module.__name__.rpartition(".")[2]
        told = words("formats.chapter.broken", name=name, error=f"{type(error).__name__}: {error}")
        return Section(name, name, (Callout("warning", told),))
    return made


def _checks(sources: Sources, words: Words) -> Iterator[Check]:
    seconds = {run.record.meta.id: run.record.meta.duration_seconds for run in sources.runs}
    for check in verdict.checks(sources, words):
        # A run took its time once, not once for each of its verdicts.
        taken = seconds.pop(check.facts.get("record", ""), None)
        yield check if taken is None else replace(check, seconds=taken)
    yield from load_verdict.checks(sources, words)
    yield from regress.checks(sources, words)
    yield from baseline.checks(sources, words)


def _told_apart(checks: Iterator[Check]) -> Iterator[Check]:
    """Give checks of which no two of a group have the same name."""
    seen: Counter[tuple[str, str]] = Counter()
    for check in checks:
        key = (check.group, check.name)
        seen[key] += 1
        yield check if seen[key] == 1 else replace(check, name=f"{check.name} ({seen[key]})")
