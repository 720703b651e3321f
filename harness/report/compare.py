"""Puts several runs into one table: per scenario, size and variant, how often it held and how long pods took."""

from collections.abc import Iterable, Sequence

from harness.report.summary import RunSummary
from harness.report.text import table

PERCENTILES = (50, 90, 99)


def comparison_text(runs: Sequence[RunSummary]) -> str:
    """Return the table of all runs, repeats together; times are from a pod's creation to its binding, as watched."""
    # Here and not above: it takes longer to import than a small run takes to judge.
    import pandas as pd

    keys = ["scenario", "size", "variant"]
    frame = pd.DataFrame(
        [
            {
                "scenario": run.record.meta.scenario,
                "size": run.record.meta.size,
                "variant": run.record.meta.variant,
                "ok": run.ok,
                **{name: run.counts()[name] for name in ("running", "pending")},
                "waits": [pod.bound_t - pod.created_t for pod in run.record.pods if pod.bound_t is not None],
            }
            for run in runs
        ]
    )
    rows = []
    for key, group in frame.groupby(keys, sort=False):
        waits = group["waits"].explode().dropna().astype(float) * 1000
        times = [f"{waits.quantile(p / 100):.0f}" if len(waits) else "-" for p in PERCENTILES]
        rows.append(
            [*key, f"{group['ok'].sum()}/{len(group)}", _span(group["running"]), _span(group["pending"]), *times]
        )
    headers = [*keys, "held", "running", "pending", *(f"p{p} ms" for p in PERCENTILES)]
    return f"{table(rows, headers)}\n(p50 to p99: from a pod's creation to its binding)"


def _span(values: Iterable[int]) -> str:
    ordered = sorted(values)
    low, high = ordered[0], ordered[-1]
    return str(low) if low == high else f"{low}-{high}"
