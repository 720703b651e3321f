"""Judges a whole record: its scenario's expectations in their order, then the invariants."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from harness.expect import counts, pending, placement, spread, timing
from harness.expect.base import Verdict
from harness.expect.invariants import INVARIANTS
from harness.record.model import Record

# The first parameter is the kind's own model; the registry is what ties the two together.
Judge = Callable[[Any, Record, Sequence[Record]], Verdict]

registry: dict[str, Judge] = {
    "count": counts.count,
    "placement": placement.placement,
    "onlyOn": placement.only_on,
    "neverOn": placement.never_on,
    "distribution": spread.distribution,
    "spread": spread.spread,
    "pending": pending.pending,
    "staysPending": pending.stays_pending,
    "timing": timing.timing,
}


def judge(record: Record, peers: Sequence[Record] = ()) -> list[Verdict]:
    """Return one verdict per expectation, in order, and one per invariant.

    Args:
        record: What is judged.
        peers: Other records of the same session, to compare times with; those that do not fit are passed over.
    """
    verdicts = [
        replace(registry[expectation.kind](expectation, record, peers), index=index)
        for index, expectation in enumerate(record.scenario.expect)
    ]
    verdicts.extend(invariant(record) for invariant in INVARIANTS.values())
    doubt = _doubt(record)
    return [replace(verdict, note=verdict.note or doubt) for verdict in verdicts]


def _doubt(record: Record) -> str | None:
    """Say why a verdict may not describe the cluster's final state."""
    if record.meta.status == "running":
        return "the run never finished; this is judged on what it had recorded"
    if record.meta.status == "failed":
        return f"the run failed ({record.meta.error}); this is judged on what it had recorded"
    return None if record.meta.settled else "the run had not settled; this is judged on its last state"
