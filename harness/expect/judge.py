"""Judges a whole record: its scenario's expectations in their order, then the invariants."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from harness.expect import (
    attempts,
    calls,
    counts,
    findings,
    log,
    metric,
    pending,
    placement,
    same,
    scores,
    spread,
    timing,
    traced,
)
from harness.expect.base import Verdict, status_of
from harness.expect.invariants import INVARIANTS
from harness.record.model import Record
from harness.scenario.expectations_extender import InvariantViolated

# The first parameter is the kind's own model; the registry is what ties the two together.
Judge = Callable[[Any, Record, Sequence[Record]], Verdict]


def violation(expectation: InvariantViolated, record: Record, peers: Sequence[Record] = ()) -> Verdict:
    """Judge that an invariant is violated, as the scenario expects it to be."""
    broken = INVARIANTS[expectation.name](record)
    return replace(
        broken,
        kind=expectation.kind,
        title=f"invariant {expectation.name} ({broken.title})",
        status=status_of(not broken.ok),
        expected="violated",
        seen="not violated" if broken.ok else "violated",
        detail="" if broken.ok else broken.seen,
    )


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
    "sameAs": same.same_as,
    "calls": calls.calls,
    "highestScore": scores.highest_score,
    "attempts": attempts.attempts,
    "findings": findings.demanded,
    "metric": metric.metric,
    "trace": traced.traced,
    "log": log.log,
    "invariant": violation,
}


def judge(record: Record, peers: Sequence[Record] = ()) -> list[Verdict]:
    """Return one verdict per expectation, in order, and one per invariant.

    An invariant that the scenario expects to be violated is judged in the place of that expectation: its own verdict
    then holds either way, and says so.

    Args:
        record: What is judged.
        peers: Other records of the same session, to compare times with; those that do not fit are passed over.
    """
    verdicts = [
        replace(registry[expectation.kind](expectation, record, peers), index=index)
        for index, expectation in enumerate(record.scenario.expect)
    ]
    expected = {one.name for one in record.scenario.expect if isinstance(one, InvariantViolated)}
    for name, invariant in INVARIANTS.items():
        verdict = invariant(record)
        verdicts.append(_excused(verdict) if name in expected else verdict)
    doubt = _doubt(record)
    return [replace(verdict, note=verdict.note or doubt) for verdict in verdicts]


def _excused(verdict: Verdict) -> Verdict:
    title = f"{verdict.title} (its violation is expected)"
    return replace(verdict, title=title, status="held", expected="judged above")


def _doubt(record: Record) -> str | None:
    """Say why a verdict may not describe the cluster's final state."""
    if record.meta.status == "running":
        return "the run never finished; this is judged on what it had recorded"
    if record.meta.status == "failed":
        return f"the run failed ({record.meta.error}); this is judged on what it had recorded"
    return None if record.meta.settled else "the run had not settled; this is judged on its last state"
