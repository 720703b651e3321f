"""Puts several runs into one table: per scenario, size and variant, how often it held and how long pods took."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from harness.report.calls import share_of_attempts
from harness.report.summary import RunSummary
from harness.report.text import table

if TYPE_CHECKING:
    import pandas as pd

PERCENTILES = (50, 90, 99)
HEADERS = ("scenario", "variant", "held", "run", "pend", "tries", "p50", "p90", "p99", "pods/s", "ext %", "cpu ms")
LEGEND = """\
(run, pend: pods that run or are pending; tries: scheduling attempts; p50 to p99: ms from a pod's creation to its
binding; ext %: share of the attempts spent in extenders; cpu ms: of schedulers, extenders and taps per bound pod)"""


def comparison_text(runs: Sequence[RunSummary]) -> str:
    """Return the table of all runs, repeats together; times are from a pod's creation to its binding, as watched."""
    # Here and not above: it takes longer to import than a small run takes to judge.
    import pandas as pd

    keys = ["scenario", "variant"]
    frame = pd.DataFrame(
        [
            {
                "scenario": f"{run.record.meta.scenario}[{run.record.meta.size}]",
                "variant": run.record.meta.variant,
                "ok": run.ok,
                **{name: run.counts()[name] for name in ("running", "pending")},
                "attempts": run.attempts or 0,
                "speed": run.pods_per_second,
                "share": share_of_attempts(run.record),
                "cpu": _cpu_ms_per_pod(run),
                "waits": [pod.bound_t - pod.created_t for pod in run.record.pods if pod.bound_t is not None],
            }
            for run in runs
        ]
    )
    rows = []
    for key, group in frame.groupby(keys, sort=False):
        waits = group["waits"].explode().dropna().astype(float) * 1000
        times = [f"{waits.quantile(p / 100):.0f}" if len(waits) else "-" for p in PERCENTILES]
        counts = [_span(group[name]) for name in ("running", "pending", "attempts")]
        rows.append([*key, f"{group['ok'].sum()}/{len(group)}", *counts, *times, *_medians(group)])
    return f"{table(rows, HEADERS)}\n{LEGEND}"


def _medians(group: "pd.DataFrame") -> list[str]:
    """Return the middle speed, share and cost of repeated runs, a dash for what is not known."""
    shown = []
    for name, scale in (("speed", 1), ("share", 100), ("cpu", 1)):
        value = group[name].astype(float).median()
        shown.append("-" if value != value else f"{value * scale:.0f}")  # noqa: PLR0124 - only NaN differs from itself
    return shown


def _cpu_ms_per_pod(run: RunSummary) -> float | None:
    bound = sum(pod.bound_t is not None for pod in run.record.pods)
    used = run.record.meta.cpu_seconds
    return 1000 * sum(used.values()) / bound if used and bound else None


def _span(values: Iterable[int]) -> str:
    ordered = sorted(values)
    low, high = ordered[0], ordered[-1]
    return str(low) if low == high else f"{low}-{high}"
