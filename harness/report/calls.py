"""Counts what went over the wire to extenders: one row per extender and kind of call, and its share of scheduling."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harness.expect.percentile import percentile
from harness.record.call import Call
from harness.record.metrics import AFTER, BEFORE, Metrics, read_metrics
from harness.record.model import Record

ATTEMPTS = "scheduler_schedule_attempts_total"
ATTEMPT_SECONDS = "scheduler_scheduling_attempt_duration_seconds_sum"
_MS = 1000


@dataclass(frozen=True)
class CallRow:
    """The calls of one kind to one extender; times are what the scheduler waited, in milliseconds."""

    extender: str
    kind: str
    calls: int
    failed: int
    p50_ms: float | None
    p95_ms: float | None
    max_ms: float | None
    request_bytes: int
    response_bytes: int
    nodes_in: int
    nodes_out: int

    def to_json(self) -> dict[str, Any]:
        """Return the row as a program reads it."""
        return asdict(self)


def call_rows(record: Record) -> list[CallRow]:
    """Return one row per extender and kind, in the order of the configuration and of scheduling."""
    groups: dict[tuple[str, str], list[Call]] = {}
    for call in record.calls:
        groups.setdefault((call.extender, call.kind or call.path), []).append(call)
    order = {extender.name: index for index, extender in enumerate(record.extenders)}
    keys = sorted(groups, key=lambda key: order.get(key[0], len(order)))
    return [_row(extender, kind, groups[extender, kind]) for extender, kind in keys]


def attempts(record: Record) -> int | None:
    """Return how many scheduling attempts the schedulers counted during a run, None if they did not tell."""
    before, after = read_metrics(record.path, BEFORE), read_metrics(record.path, AFTER)
    if before is None or after is None or not before.schedulers <= after.schedulers or not after.pages:
        # One that died took its count along; the one of somebody's own cluster is not asked at all.
        return None
    return round(_total(after, ATTEMPTS) - _total(before, ATTEMPTS))


def share_of_attempts(record: Record) -> float | None:
    """Return which part of the time of all scheduling attempts was spent waiting for extenders, None if unknown."""
    before, after = read_metrics(record.path, BEFORE), read_metrics(record.path, AFTER)
    if not record.calls or before is None or after is None:
        return None
    spent = _total(after, ATTEMPT_SECONDS) - _total(before, ATTEMPT_SECONDS)
    waited = sum(call.seconds or 0.0 for call in record.calls)
    return waited / spent if spent > 0 else None


def _total(metrics: Metrics, name: str) -> float:
    return sum(sample.value for sample in metrics.matching(name, {}))


def _row(extender: str, kind: str, calls: Sequence[Call]) -> CallRow:
    times = [call.seconds * _MS for call in calls if call.seconds is not None]
    return CallRow(
        extender=extender,
        kind=kind,
        calls=len(calls),
        failed=sum(1 for call in calls if call.error or call.ending != "answered"),
        p50_ms=percentile(times, 50),
        p95_ms=percentile(times, 95),
        max_ms=max(times, default=None),
        request_bytes=sum(call.request_bytes for call in calls),
        response_bytes=sum(call.response_bytes for call in calls),
        nodes_in=sum(call.nodes_in or 0 for call in calls),
        nodes_out=sum(call.nodes_out or 0 for call in calls),
    )
