"""Puts several runs into one table: per scenario, size and variant, how often it held and how long pods took."""

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from harness.errors import RecordError
from harness.expect.percentile import percentile
from harness.report.calls import share_of_attempts
from harness.report.summary import RunSummary
from harness.report.terminal import terminal_width, widest
from harness.report.text import fitted, table

PERCENTILES = (50, 90, 99)
HEADERS = ("scenario", "variant", "held", "run", "pend", "tries", "p50", "p90", "p99", "pods/s", "ext %", "cpu ms")
# What a narrow terminal goes without, the least important first.
SPARE = ("p90", "tries", "cpu ms", "ext %", "pods/s", "pend", "run")
LEGEND = """\
(run, pend: pods that run or are pending; tries: scheduling attempts; p50 to p99: ms from a pod's creation to its
binding; ext %: share of the attempts spent in extenders; cpu ms: of schedulers, extenders and taps per bound pod)"""
_MS = 1000

Value = TypeVar("Value")


@dataclass(frozen=True)
class Compared:
    """The runs of one scenario with one variant, together.

    Args:
        running: how many pods ran at the end, in each run.
        attempts: what the schedulers of each run counted, None where they did not tell.
        waits_ms: from creation to binding, as watched, of all pods of all runs; in order.
        pods_per_second: the middle of the runs; None if no run tells. So are `extender_share` and `cpu_ms_per_pod`.
    """

    scenario: str
    variant: str
    held: int
    running: tuple[int, ...]
    pending: tuple[int, ...]
    attempts: tuple[int | None, ...]
    waits_ms: tuple[float, ...]
    pods_per_second: float | None
    extender_share: float | None
    cpu_ms_per_pod: float | None

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self.running)

    def wait_ms(self, percent: float) -> float | None:
        """Return the time within which so many percent of the pods were bound, None if none was."""
        return percentile(self.waits_ms, percent)


def compared(runs: Iterable[tuple[str, str, RunSummary]]) -> list[Compared]:
    """Return one row per scenario and variant, repeats together; given with what each run is called."""
    groups: dict[tuple[str, str], list[RunSummary]] = {}
    for scenario, variant, run in runs:
        groups.setdefault((scenario, variant), []).append(run)
    return [_compared(*key, group) for key, group in groups.items()]


def comparison_text(runs: Sequence[RunSummary], unmade: Sequence[tuple[str, str]] = ()) -> str:
    """Return the table of all runs, repeats together; times are from a pod's creation to its binding, as watched.

    `unmade` are the runs that could not be made, by scenario and variant.
    """
    missing = Counter(unmade)
    named = ((f"{run.record.meta.scenario}[{run.record.meta.size}]", run.record.meta.variant, run) for run in runs)
    rows = [
        [
            row.scenario,
            row.variant,
            f"{row.held}/{row.runs + missing.pop((row.scenario, row.variant), 0)}",
            *(_span(counts) for counts in (row.running, row.pending, row.attempts)),
            *(_rounded(row.wait_ms(percent)) for percent in PERCENTILES),
            _rounded(row.pods_per_second),
            _rounded(None if row.extender_share is None else 100 * row.extender_share),
            _rounded(row.cpu_ms_per_pod),
        ]
        for row in compared(named)
    ]
    unknown = ["-"] * (len(HEADERS) - 3)
    return _shown([*rows, *([scenario, variant, "not made", *unknown] for scenario, variant in missing)])


def _shown(rows: Sequence[Sequence[str]]) -> str:
    """Return the table and what its columns mean, no wider than the terminal."""
    whole, width = f"{table(rows, HEADERS)}\n{LEGEND}", terminal_width()
    if width is None or widest(whole) <= width:
        return whole
    legend = textwrap.fill(" ".join(LEGEND.split()), width, break_on_hyphens=False)
    scenarios = {row[0] for row in rows}
    if len(scenarios) > 1 or widest(table(rows, HEADERS)) <= width:
        return f"{fitted(rows, HEADERS, SPARE)}\n{legend}"
    return f"{scenarios.pop()}:\n{fitted([row[1:] for row in rows], HEADERS[1:], SPARE)}\n{legend}"


def _compared(scenario: str, variant: str, runs: Sequence[RunSummary]) -> Compared:
    counts = [run.counts() for run in runs]
    return Compared(
        scenario=scenario,
        variant=variant,
        held=sum(run.ok for run in runs),
        running=tuple(one["running"] for one in counts),
        pending=tuple(one["pending"] for one in counts),
        attempts=tuple(_told(run, lambda run: run.attempts) for run in runs),
        waits_ms=tuple(sorted(wait for run in runs for wait in run.waits_ms)),
        pods_per_second=_middle(run.pods_per_second for run in runs),
        extender_share=_middle(_told(run, lambda run: share_of_attempts(run.record)) for run in runs),
        cpu_ms_per_pod=_middle(run.cpu_ms_per_pod for run in runs),
    )


def _told(run: RunSummary, ask: Callable[[RunSummary], Value]) -> Value | None:
    """Return what the metrics pages of a run tell; damaged pages tell nothing."""
    try:
        return ask(run)
    except RecordError:
        return None


def _middle(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _rounded(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def _span(values: Sequence[int | None]) -> str:
    """Return the least and the most of repeats; of some of them alone it would be a guess."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return "-"
    low, high = min(known), max(known)
    return str(low) if low == high else f"{low}-{high}"
