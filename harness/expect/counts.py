"""Judges how many pods ended in which state."""

from collections.abc import Callable, Sequence

from harness.expect import evidence
from harness.expect import waiting as starting
from harness.expect.base import Verdict, counted, status_of
from harness.expect.matching import described, existing, matching_pods
from harness.record.model import PodHistory, Record
from harness.scenario.expectations import CountOf

# `pending` means waiting for a node, as everywhere in the harness: kubectl also says so of pods that are bound and
# have not started. Those are named in the evidence.
STATES: dict[str, Callable[[PodHistory], bool]] = {
    "running": lambda pod: pod.phase == "Running" and not pod.terminating,
    "pending": lambda pod: pod.pending,
    "succeeded": lambda pod: pod.phase == "Succeeded",
    "failed": lambda pod: pod.phase == "Failed",
    "total": lambda pod: True,
    "bound": lambda pod: bool(pod.nodes),
}


def count(expectation: CountOf, record: Record, peers: Sequence[Record] = ()) -> Verdict:
    """Judge the number of pods per state among the pods that exist at the end."""
    pods = existing(matching_pods(record, selector=expectation.selector, namespace=expectation.namespace))
    seen = {state: sum(STATES[state](pod) for pod in pods) for state in expectation.demands}
    held = all(wanted.holds(seen[state]) for state, wanted in expectation.demands.items())
    return Verdict(
        kind=expectation.kind,
        title=f"count of {described(expectation.selector, namespace=expectation.namespace)}",
        status=status_of(held),
        expected=", ".join(f"{wanted} {state}" for state, wanted in expectation.demands.items()),
        seen=", ".join(f"{number} {state}" for state, number in seen.items()),
        evidence=_evidence(record, pods),
    )


def _evidence(record: Record, pods: Sequence[PodHistory]) -> tuple[str, ...]:
    found = f"{counted(len(pods), 'pod')} matched, {sum(bool(pod.nodes) for pod in pods)} bound"
    waiting = evidence.waiting(record, (pod for pod in pods if pod.pending))
    return (found, *starting.images(record, pods), *waiting, *evidence.not_running(pods))
