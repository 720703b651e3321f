"""A comparison of two extenders as a person reads it."""

import math
from collections.abc import Iterator, Sequence

from harness.record.check import Checked
from harness.record.regress import Comparison, MetricResult, Regression
from harness.report.text import fitted

HEADERS = ("", "metric", "base ms", "cand. ms", "ratio [95 % CI]", "verdict", "n", "MDE")
UNKNOWN = "-"


def regression_text(result: Regression) -> str:
    """Return the verdict, the table that it is made of, and what there is to know."""
    lines = [f"{headline(result)}: {result.candidate} against {result.base}", "", comparison_table(result.comparisons)]
    lines += ["", *(f"FAILED {failure}" for failure in result.failures)] if result.failures else []
    lines += ["", *_explained(result)]
    for one in result.comparisons:
        lines += [f"{one.title}: {kind}: {count} times" for kind, count in one.error_kinds.items()]
        lines += [f"note: {one.title}: {note}" for note in one.notes]
    lines += [f"note: {note}" for note in result.notes]
    if result.path:
        lines.append(f"record: {result.path}")
    return "\n".join(lines)


def headline(result: Regression | Checked) -> str:
    """Return the verdict in a word or two."""
    return f"{result.verdict}, and it FAILS" if result.failures else result.verdict


def comparison_table(comparisons: Sequence[Comparison]) -> str:
    """Return a row per metric of every comparison."""
    rows = []
    for one in comparisons:
        for number, metric in enumerate(one.metrics):
            rows.append([one.title if number == 0 else "", *_cells(metric), one.pairs, _share(metric.mde)])
    return fitted(rows, HEADERS, ())


def _cells(metric: MetricResult) -> list[str]:
    times = [UNKNOWN if value is None else _milliseconds(value) for value in (metric.base_ms, metric.candidate_ms)]
    return [metric.metric, *times, ratio_text(metric.ratio, metric.low, metric.high), metric.verdict or "shown"]


def ratio_text(ratio: float | None, low: float | None, high: float | None) -> str:
    """Return a ratio with its interval."""
    if ratio is None or low is None or high is None:
        return UNKNOWN
    return f"{ratio:.3f} [{low:.3f}, {high:.3f}]"


def _ratio(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.3f}"


def _share(value: float | None) -> str:
    return UNKNOWN if value is None or not math.isfinite(value) else f"+{value:.0%}"


def _milliseconds(value: float) -> str:
    return f"{value:.3f}" if value < 100 else f"{value:.1f}"  # noqa: PLR2004 - so that columns stay narrow


def _explained(result: Regression) -> Iterator[str]:
    tolerance = float(result.options.get("tolerance", 0.0))
    yield f"A REGRESSION is slower by more than {tolerance:.0%} in two measurements with fresh processes;"
    yield "MDE is the smallest slowdown that this comparison would have found nine times of ten."
    for one in result.comparisons:
        if one.verdict == "INCONCLUSIVE" and not one.failure:
            worst = max((metric.high or 0.0 for metric in one.metrics if metric.verdict), default=0.0)
            more = f"{max(worst - 1, 0.0):.0%}"
            yield f"{one.title}: a slowdown of up to {more} could not be excluded; repeat it, or give it more --budget."


def checked_text(checked: Checked) -> str:
    """Return what a check against a baseline found."""
    rows = [
        [
            *(row.title, row.metric, _ratio(row.then[0]), _ratio(row.now[0])),
            *(ratio_text(*row.change), row.verdict, row.pairs, _share(row.mde)),
        ]
        for row in checked.rows
    ]
    headers = ("", "metric", "then", "now", "change [95 % CI]", "verdict", "n", "MDE")
    lines = [f"{headline(checked)}: {checked.subject} against {checked.file}", "", fitted(rows, headers, ()), ""]
    lines += [f"FAILED {failure}" for failure in checked.failures]
    lines.append(f"then, now: how many times what {checked.yardstick} costs; {checked.tolerance:.0%} more is accepted")
    lines += [f"note: {note}" for note in checked.notes]
    if checked.path:
        lines.append(f"record: {checked.path}")
    return "\n".join(lines)
