"""What a scheduler waited for its extenders in a real run, by the same percentiles as those of a load. Pure."""

from collections.abc import Sequence
from typing import Any

from harness.load.measure import MILLISECONDS, percentiles
from harness.record.call import Call
from harness.record.model import Record

POINTS = ("p50", "p90", "p95", "p99", "max")


def rows(record: Record) -> list[dict[str, Any]]:
    """Return one row per extender and verb: how often it was called, and how long the scheduler waited."""
    import numpy as np  # noqa: PLC0415 - only those who measure need it

    subjects = {extender.name: extender.subject for extender in record.extenders}
    groups: dict[tuple[str, str], list[Call]] = {}
    for call in record.calls:
        if call.kind is not None:
            groups.setdefault((call.extender, call.kind), []).append(call)
    made = []
    for (extender, verb), calls in groups.items():
        waited = percentiles(np.array([call.seconds for call in calls if call.seconds is not None]) * MILLISECONDS)
        sizes = sorted(call.nodes_in for call in calls if call.nodes_in is not None)
        made.append(
            {
                "record": record.meta.id,
                "extender": extender,
                "subject": subjects.get(extender, extender),
                "verb": verb,
                "nodes": sizes[len(sizes) // 2] if sizes else None,
                "calls": len(calls),
                "failed": sum(1 for call in calls if call.error or call.ending != "answered"),
                **{f"{point}_ms": waited[point] for point in POINTS},
            }
        )
    return made


def doubts(record: Record, subjects: Sequence[str]) -> list[str]:
    """Return why a run may not stand beside a load of these subjects."""
    if not record.calls:
        return [f"{record.meta.id}: no call to an extender was seen in it, so nothing stands beside the load"]
    others = sorted({extender.subject for extender in record.extenders} - set(subjects))
    told = [f"{record.meta.id}: it ran {', '.join(others)}, which is no subject of this load"] if others else []
    if any(call.fault for call in record.calls):
        told.append(f"{record.meta.id}: faults were put into its calls, and their times are among the others")
    return told
