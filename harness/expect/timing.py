"""Judges how long pods take, only ever as a ratio to another variant measured on the same machine in the same session.

A pod that never got there counts as infinitely slow: a scheduler must not look fast by leaving pods behind.
"""

import math
import statistics
from collections.abc import Sequence

from harness.expect.base import Verdict, counted, status_of
from harness.expect.matching import described, matching_pods
from harness.expect.percentile import percentile
from harness.record.model import PodHistory, Record
from harness.scenario.expectations import Timing

_ENDS = {"createToScheduled": "scheduled_t", "createToBound": "bound_t", "createToRunning": "running_t"}


def timing(expectation: Timing, record: Record, peers: Sequence[Record] = ()) -> Verdict:
    """Judge the ratio of this record's percentile to the median of the reference variant's repeats.

    The reference are the peers of the same scenario and size that ran the variant `relativeTo`; a record of that
    variant is its own reference. Without a reference the verdict is `not-judged`.
    """
    measured = percentile(_seconds(expectation, record), expectation.percentile)
    own = record.meta.variant == expectation.relative_to
    references = [record] if own else [peer for peer in peers if _comparable(expectation, record, peer)]
    title = f"{expectation.measure} p{expectation.percentile:g} of {described(expectation.selector)}"
    expected = f"at most {expectation.at_most:g} of {expectation.relative_to}"
    facts = [f"{record.meta.variant}: {_shown(measured)} over {_sample(expectation, record)}"]
    if not references:
        return Verdict(
            kind=expectation.kind,
            title=title,
            status="not-judged",
            expected=expected,
            seen="nothing to compare with",
            evidence=tuple(facts),
            note=f"not judged: no run of variant {expectation.relative_to} in this session; "
            f"add --variant {expectation.relative_to}",
        )
    repeats = [percentile(_seconds(expectation, one), expectation.percentile) for one in references]
    usable = [value for value in repeats if value is not None]
    reference = statistics.median(usable) if usable else None
    ratio = _ratio(measured, reference)
    if own:
        facts.append(
            f"this run is of variant {expectation.relative_to}: it is its own reference, ratio 1.0 by definition"
        )
    else:
        facts.append(f"{expectation.relative_to}: {_shown(reference)}, median of {counted(len(repeats), 'run')}")
    return Verdict(
        kind=expectation.kind,
        title=title,
        status=status_of(ratio is not None and ratio <= expectation.at_most),
        expected=expected,
        seen="no ratio" if ratio is None else f"{ratio:.2f}",
        detail=f"{_shown(measured)} against {_shown(reference)}",
        evidence=tuple(facts),
    )


def _seconds(expectation: Timing, record: Record) -> list[float]:
    pods = matching_pods(record, selector=expectation.selector, namespace=expectation.namespace)
    return [math.inf if (end := _end(expectation, pod)) is None else end - pod.created_t for pod in pods]


def _end(expectation: Timing, pod: PodHistory) -> float | None:
    end: float | None = getattr(pod, _ENDS[expectation.measure])
    return end


def _comparable(expectation: Timing, record: Record, peer: Record) -> bool:
    mine, theirs = record.meta, peer.meta
    return (theirs.scenario, theirs.size, theirs.variant) == (mine.scenario, mine.size, expectation.relative_to)


def _sample(expectation: Timing, record: Record) -> str:
    every = _seconds(expectation, record)
    missed = sum(math.isinf(value) for value in every)
    return counted(len(every), "pod") + (f", {missed} of them never got there" if missed else "")


def _ratio(measured: float | None, reference: float | None) -> float | None:
    """Return the ratio, None where there is none: no pods, or nobody got there."""
    if measured is None or reference is None or math.isinf(reference):
        return None
    if measured == reference:
        return 1.0
    return measured / reference if reference > 0 else math.inf


def _shown(seconds: float | None) -> str:
    if seconds is None:
        return "no pod"
    return "never" if math.isinf(seconds) else f"{seconds:.4g} s"
