"""The chapter about comparisons of speed: the verdict, what it is made of, and how sure it is. Pure."""

import math
from collections.abc import Sequence
from typing import Literal

from harness.record.regress import Comparison, MetricResult, Regression
from harness.report.document import Block, Callout, Cell, Check, Column, Facts, Fold, Section, Table, Text
from harness.report.sections.load_names import size_text
from harness.report.sections.load_pictures import share
from harness.report.sections.regress_blocks import blocks
from harness.report.sections.regress_pictures import block_pictures, excluded, forest_pictures, tolerance_of
from harness.report.sources import Sources
from harness.report.words import Words

BRIEF_ROWS_MAX = 25
NAMED_MAX = 3
Outcome = Literal["passed", "failed", "unclear"]
Level = Literal["good", "bad", "warning"]
_LEVELS: dict[str, Level] = {"PASS": "good", "REGRESSION": "bad", "INCONCLUSIVE": "warning"}
_COLUMNS: tuple[tuple[str, int | None], ...] = (
    ("candidate", None),
    ("base", None),
    ("verb", None),
    ("nodes", None),
    ("wire", None),
    ("metric", None),
    ("base_ms", 3),
    ("candidate_ms", 3),
    ("ratio", 3),
    ("ratio_low", 3),
    ("ratio_high", 3),
    ("verdict", None),
    ("pairs", None),
    ("mde_percent", 1),
    ("record", None),
)


def section(sources: Sources, words: Words) -> Section | None:
    """Return the chapter, None without a comparison."""
    if not sources.regressions:
        return None
    regressions = sources.regressions
    several = len(regressions) > 1
    made: list[Block] = [_verdict(one, words) for one in regressions]
    made += [Callout("bad", words.phrase(text)) for one in regressions for text in one.failures]
    made.append(_table("regress", regressions, words, deciding=True))
    for place, one in enumerate(regressions, 1):
        prefix = f"regress-{place}-" if several else "regress-"
        if several:
            made.append(Text(words("regress.pair", candidate=one.candidate, base=one.base)))
        made += [*forest_pictures(f"{prefix}ratios", one, words), *_blocks(f"{prefix}blocks", one, words)]
    shown = _table("regress-shown", regressions, words, deciding=False)
    if shown.rows:
        made.append(Fold(shown.title, (shown,)))
    made += [Callout("info", text) for one in regressions for text in _notes(one, words)]
    made += [_method(one, words) for one in regressions]
    rows = sum(bool(each.verdict) for one in regressions for cell in one.comparisons for each in cell.metrics)
    return Section("regress", words("regress.title"), tuple(made), brief=rows <= BRIEF_ROWS_MAX)


def sentence(sources: Sources, words: Words) -> tuple[Outcome, str]:
    """Return how the comparisons went as a whole, and the same in a sentence."""
    outcomes = {check.outcome for check in checks(sources, words)}
    told = [_told(one, words) for one in sources.regressions[:NAMED_MAX]]
    if len(sources.regressions) > NAMED_MAX:
        told.append(words("regress.more", count=len(sources.regressions) - NAMED_MAX))
    outcome: Outcome = "failed" if "failed" in outcomes else "passed" if outcomes == {"passed"} else "unclear"
    return outcome, words("regress.sentence", text=words("regress.join").join(told))


def checks(sources: Sources, words: Words) -> tuple[Check, ...]:
    """Return a check for each comparison; one that is inconclusive is skipped, with the reason."""
    return tuple(_check(one, each, words) for one in sources.regressions for each in one.comparisons)


def _check(regression: Regression, one: Comparison, words: Words) -> Check:
    facts = {"pairs": str(one.pairs), "base": regression.base, "candidate": regression.candidate}
    for metric in one.metrics:
        values = {"ratio": metric.ratio, "low": metric.low, "high": metric.high, "mde": metric.mde}
        facts |= {f"{metric.metric} {name}": str(value) for name, value in values.items() if value is not None}
    if not one.ok:
        outcome: Literal["passed", "failed", "skipped"] = "failed"
        message = words.phrase(one.failure) if one.failure else _slower(one, words)
    elif one.verdict == "PASS":
        outcome, message = "passed", ""
    else:
        outcome, message = "skipped", _doubt(one, words)
    return Check(
        group=regression.path.name if regression.path else regression.candidate,
        name=_name(one, words),
        outcome=outcome,
        message=message,
        detail="\n".join(map(words.phrase, one.notes)),
        facts=facts,
    )


def _verdict(regression: Regression, words: Words) -> Callout:
    level: Level = "bad" if regression.failures else _LEVELS[regression.verdict]
    return Callout(level, words("regress.sentence", text=_told(regression, words)))


def _told(regression: Regression, words: Words) -> str:
    both = {"candidate": regression.candidate, "base": regression.base}
    tolerance = tolerance_of(regression)
    if regression.failures:
        return words("regress.told.failure", failure=words.phrase(regression.failures[0]), **both)
    if regression.verdict == "PASS":
        return words("regress.told.PASS", excluded=share(excluded(tolerance)), **both)
    deciding = [one for one in regression.comparisons if one.verdict == regression.verdict]
    tell = _slower if regression.verdict == "REGRESSION" else _doubt
    why = words("regress.join").join(f"{_name(one, words)}: {tell(one, words)}" for one in deciding[:NAMED_MAX])
    return words(f"regress.told.{regression.verdict}", why=why or "-", tolerance=share(tolerance), **both)


def _slower(one: Comparison, words: Words) -> str:
    slow = [metric for metric in one.metrics if metric.verdict == "REGRESSION"]
    return words("regress.comma").join(f"{metric.metric} {_ratio(metric)}" for metric in slow)


def _doubt(one: Comparison, words: Words) -> str:
    """Say which slowdown could not be excluded."""
    high = max((metric.high or 0.0 for metric in one.metrics if metric.verdict), default=0.0)
    if not high or not math.isfinite(high):
        return words("regress.doubt.nothing")
    return words("regress.doubt", more=share(max(high - 1, 0.0)))


def _table(name: str, regressions: Sequence[Regression], words: Words, *, deciding: bool) -> Table:
    """Return a row per metric: of those that decide, or of those that are only shown."""
    rows: list[tuple[Cell, ...]] = []
    marks: dict[int, str] = {}
    for regression in regressions:
        for one in regression.comparisons:
            for metric in (each for each in one.metrics if bool(each.verdict) is deciding):
                if metric.verdict in _LEVELS:
                    marks[len(rows)] = _LEVELS[metric.verdict]
                rows.append(
                    (
                        *(regression.candidate, regression.base, one.verb, one.nodes, one.wire, metric.metric),
                        *(metric.base_ms, metric.candidate_ms, metric.ratio, metric.low, metric.high),
                        *(metric.verdict or "shown", one.pairs, _percent(metric.mde)),
                        regression.path.name if regression.path else None,
                    )
                )
    # Of a single comparison, everything before the table says whom it compares.
    first = 0 if len(regressions) > 1 else _COLUMNS.index(("verb", None))
    return Table(
        name,
        words("regress.table" if deciding else "regress.table.shown"),
        tuple(Column(key, words(f"regress.column.{key}"), digits) for key, digits in _COLUMNS[first:]),
        tuple(row[first:] for row in rows),
        note=words("regress.note" if deciding else "regress.note.shown"),
        marks=marks,
        filters=("verb", "metric"),
    )


def _blocks(name: str, regression: Regression, words: Words) -> list[Block]:
    found = [(one, blocks(regression, one)) for one in regression.comparisons]
    lost = [one for one, made in found if made is None]
    drawn = block_pictures(name, regression, [(one, made or []) for one, made in found], words)
    if not lost:
        return list(drawn)
    files = ", ".join(file for one in lost for file in one.samples)
    record = regression.path.name if regression.path else "-"
    return [*drawn, Callout("warning", words("regress.unread", record=record, files=files))]


def _notes(regression: Regression, words: Words) -> list[str]:
    told = [words.phrase(note) for note in regression.notes]
    for one in regression.comparisons:
        told += [words("regress.said", name=_name(one, words), text=words.phrase(note)) for note in one.notes]
        told += [
            words("regress.errors", name=_name(one, words), kind=words.phrase(kind), count=count)
            for kind, count in one.error_kinds.items()
        ]
    return list(dict.fromkeys(told))


def _method(regression: Regression, words: Words) -> Fold:
    tolerance = tolerance_of(regression)
    texts = words("regress.method", tolerance=share(tolerance), excluded=share(excluded(tolerance)))
    sizes = [
        words("regress.sizes", name=_name(one, words), pairs=one.pairs, size=one.block_size, bytes=one.body_bytes)
        for one in regression.comparisons
    ]
    options = [(key, str(value)) for key, value in regression.options.items() if value not in (None, "", [], {})]
    record = regression.path.name if regression.path else "-"
    files = ", ".join(dict.fromkeys(file for one in regression.comparisons for file in one.samples)) or "-"
    facts = Facts(
        (*options, (words("regress.raw"), f"{record}: {files}"), *((words("regress.measured"), size) for size in sizes))
    )
    return Fold(
        words("regress.method.title", candidate=regression.candidate, base=regression.base), (Text(texts), facts)
    )


def _name(one: Comparison, words: Words) -> str:
    return words("regress.cell", verb=one.verb, size=size_text(one, words))


def _ratio(metric: MetricResult) -> str:
    if metric.ratio is None or metric.low is None or metric.high is None:
        return "-"
    return f"{metric.ratio:.3f} [{metric.low:.3f}, {metric.high:.3f}]"


def _percent(share: float | None) -> float | None:
    return None if share is None or not math.isfinite(share) else 100 * share
