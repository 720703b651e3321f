"""Tables for a terminal."""

import shutil
from collections.abc import Sequence

from harness.expect.base import Verdict
from harness.expect.waiting import starts
from harness.record.model import Record
from harness.report.calls import call_rows, share_of_attempts
from harness.report.summary import RunSummary

CALL_HEADERS = (
    "extender",
    "call",
    "calls",
    "failed",
    "p50 ms",
    "p95 ms",
    "max ms",
    "sent",
    "received",
    "nodes",
    "kept",
)
KILO = 1000
BYTE_UNITS = ("B", "kB", "MB", "GB")
MARKS = {"held": "ok", "rejected": "REJECTED", "not-judged": "not judged"}
NODES_SHOWN_MAX = 12
COLUMN_MIN = 16


def run_text(run: RunSummary, *, verbose: bool = False) -> str:
    """Return what a person wants to know after a run: the verdict, where the pods are, what went wrong and why."""
    meta, counts = run.record.meta, run.counts()
    states = [f"{counts[name]} {name}" for name in ("running", "pending", "succeeded", "failed") if counts[name]]
    if starting := sum(starts(pod) for pod in run.record.pods):
        states.append(f"{starting} bound and not running")
    mark = "PASS" if run.ok else "FAIL"
    lines = [
        f"{mark}  {run.title}: {', '.join(states) or 'no pods'} ({meta.duration_seconds or 0:.1f} s, seed {meta.seed})",
        f"      pods per node: {_per_node(run)}",
    ]
    if difference := run.record.scenario.on.get(meta.cluster):
        lines.append(f"      differs on {meta.cluster}: {difference.because}")
    lines += [f"      warning: {warning}" for warning in (*meta.warnings, *run.record.warnings)]
    lines += [f"      {finding.severity}: {finding.text}" for finding in run.findings]
    if calls := calls_text(run.record):
        lines += ["", calls]
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


def calls_text(record: Record) -> str:
    """Return the table of calls, empty if there were none."""
    rows = call_rows(record)
    if not rows:
        return ""
    cells = [
        [row.extender, row.kind, row.calls, row.failed]
        + [f"{value:.2f}" if value is not None else "-" for value in (row.p50_ms, row.p95_ms, row.max_ms)]
        + [_size(row.request_bytes), _size(row.response_bytes), row.nodes_in, row.nodes_out]
        for row in rows
    ]
    share = share_of_attempts(record)
    told = "" if share is None else f"\n(extenders took {share:.0%} of the time of all scheduling attempts)"
    return table(cells, CALL_HEADERS) + told


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


def _size(count: int) -> str:
    size, units = float(count), list(BYTE_UNITS)
    while round(size) >= KILO and units[1:]:
        size /= KILO
        units.pop(0)
    return f"{size:.0f} {units[0]}"
