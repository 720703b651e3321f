"""Tables for a terminal."""

import shutil
from collections.abc import Sequence

from harness.expect.base import Verdict
from harness.report.summary import RunSummary

MARKS = {"held": "ok", "rejected": "REJECTED", "not-judged": "not judged"}
NODES_SHOWN_MAX = 12
COLUMN_MIN = 16


def run_text(run: RunSummary, *, verbose: bool = False) -> str:
    """Return what a person wants to know after a run: the verdict, where the pods are, what went wrong and why."""
    meta, counts = run.record.meta, run.counts()
    states = ", ".join(
        f"{counts[name]} {name}" for name in ("running", "pending", "succeeded", "failed") if counts[name]
    )
    mark = "PASS" if run.ok else "FAIL"
    lines = [
        f"{mark}  {run.title}: {states or 'no pods'} ({meta.duration_seconds or 0:.1f} s, seed {meta.seed})",
        f"      pods per node: {_per_node(run)}",
    ]
    lines += [f"      warning: {warning}" for warning in (*meta.warnings, *run.record.warnings)]
    rejected = [verdict for verdict in run.verdicts if not verdict.ok]
    if verbose or rejected:
        lines += ["", verdict_table(run.verdicts)]
    for verdict in rejected:
        lines += ["", f"{verdict.title}: {verdict.expected} expected, {verdict.seen} seen"]
        lines += [f"  {fact}" for fact in (verdict.detail, *verdict.evidence) if fact]
    lines.append(f"      record: {run.record.path}")
    return "\n".join(lines)


def verdict_table(verdicts: Sequence[Verdict]) -> str:
    """Return a table of verdicts that fits the terminal."""
    rows = [[MARKS[verdict.status], verdict.title, verdict.expected, verdict.seen] for verdict in verdicts]
    # The mark and the borders take about a fifth; the rest is shared by three columns of text.
    column = max(COLUMN_MIN, (_width() - 24) // 3)
    return table(rows, ["", "expectation", "expected", "seen"], widths=[10, column, column, column])


def table(rows: Sequence[Sequence[object]], headers: Sequence[str], widths: Sequence[int] | None = None) -> str:
    """Return a plain table; cells longer than their width are wrapped."""
    from tabulate import tabulate

    return tabulate(rows, headers=headers, tablefmt="simple", maxcolwidths=list(widths) if widths else None)


def _per_node(run: RunSummary) -> str:
    per_node = run.per_node()
    if not per_node:
        return "no nodes"
    if len(per_node) <= NODES_SHOWN_MAX:
        return ", ".join(f"{name} {count}" for name, count in per_node.items())
    counts = sorted(per_node.values())
    return f"{len(counts)} nodes hold {counts[0]} to {counts[-1]} pods, {counts[len(counts) // 2]} in the middle"


def _width() -> int:
    return min(shutil.get_terminal_size((100, 24)).columns, 140)
