"""Tables for a terminal."""

import shutil
import textwrap
from collections.abc import Sequence

from harness.expect.base import Verdict
from harness.expect.waiting import starts
from harness.record.model import Record
from harness.report.calls import call_rows, share_of_attempts
from harness.report.sections.grouping import natural
from harness.report.summary import RunSummary
from harness.report.terminal import compact, is_figures, terminal_width, widest

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
# What a narrow terminal goes without, the least important first.
CALL_SPARE = ("received", "sent", "max ms", "kept", "nodes")
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
    return fitted(cells, CALL_HEADERS, CALL_SPARE) + told


def table(rows: Sequence[Sequence[object]], headers: Sequence[str], widths: Sequence[int] | None = None) -> str:
    """Return a plain table; cells longer than their width are wrapped."""
    from tabulate import tabulate

    return tabulate(rows, headers=headers, tablefmt="simple", maxcolwidths=list(widths) if widths else None)


def fitted(rows: Sequence[Sequence[object]], headers: Sequence[str], spare: Sequence[str]) -> str:
    """Return a table that fits the terminal: columns move closer, spare ones go, then names take several lines."""
    width, whole = terminal_width(), table(rows, headers)
    if width is None or widest(whole) <= width:
        return whole
    cells, kept = [[str(cell) for cell in row] for row in rows], list(headers)
    right = [is_figures(column) for column in zip(*cells, strict=True)]
    gone: list[str] = []
    for name in ("", *spare):
        if name:
            place = kept.index(name)
            gone.append(kept.pop(place))
            right.pop(place)
            cells = [[*row[:place], *row[place + 1 :]] for row in cells]
        text = compact(cells, kept, right)
        if widest(text) <= width:
            break
    names = [place for place, is_right in enumerate(right) if not is_right]
    for place in names if widest(text) > width else ():
        most = max(len(row[place]) for row in cells)
        room = max(COLUMN_MIN, most - widest(text) + width)
        cells = [[*row[:place], textwrap.fill(row[place], room), *row[place + 1 :]] for row in cells]
        text = compact(cells, kept, right)
    told = f"(left out, because the terminal has {width} columns: {', '.join(gone)}; `harness report` has them)"
    return f"{text}\n{textwrap.fill(told, width)}" if gone else text


def _per_node(run: RunSummary) -> str:
    per_node = run.per_node()
    if not per_node:
        return "no nodes"
    if len(per_node) <= NODES_SHOWN_MAX:
        # Records have nodes in the order in which the cluster told of them, which is chance.
        return ", ".join(f"{name} {per_node[name]}" for name in sorted(per_node, key=natural))
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
