"""Judges pods that are meant to find no node."""

import re
from collections.abc import Sequence

from harness.expect import evidence
from harness.expect.base import Verdict, at, counted, limited, status_of
from harness.expect.matching import described, existing, matching_pods
from harness.record.model import PodHistory, Record
from harness.scenario.expectations import Pending, StaysPending


def pending(expectation: Pending, record: Record, peers: Sequence[Record] = ()) -> Verdict:
    """Judge that every matching pod still waits at the end, for the reason and with the message demanded."""
    pods = existing(
        matching_pods(record, selector=expectation.selector, namespace=expectation.namespace, names=expectation.pods)
    )
    waiting = [pod for pod in pods if pod.pending]
    lines = [f"{pod.name} is not pending: {_state(pod)}" for pod in pods if not pod.pending]
    lines += [line for pod in waiting for line in _misfits(expectation, pod)]
    demands = [f"{expectation.count} pending"]
    if expectation.reason is not None:
        demands.append(f"reason {expectation.reason}")
    if expectation.message is not None:
        demands.append(f'message matching "{expectation.message}"')
    return Verdict(
        kind=expectation.kind,
        title=described(expectation.selector, expectation.pods, expectation.namespace),
        status=status_of(not lines and expectation.count.holds(len(waiting))),
        expected=", ".join(demands),
        seen=f"{len(waiting)} of {counted(len(pods), 'pod')} pending",
        evidence=(*limited(lines), *evidence.waiting(record, waiting)),
    )


def stays_pending(expectation: StaysPending, record: Record, peers: Sequence[Record] = ()) -> Verdict:
    """Judge that no matching pod was ever bound and that each was watched waiting for long enough.

    A pod that was deleted sooner is a rejection, and so is the lack of any matching pod.
    """
    pods = matching_pods(record, selector=expectation.selector, namespace=expectation.namespace, names=expectation.pods)
    lines: list[str] = []
    for pod in pods:
        waited = evidence.waited_seconds(record, pod)
        if pod.nodes:
            lines.append(f"{pod.name} was bound to {pod.node} after {at(waited)}")
        elif waited < expectation.seconds:
            gone = "; then it was deleted" if pod.deleted_t is not None else "; then observing ended"
            lines.append(f"{pod.name} was watched for {at(waited)} only{gone}")
    shortest = min((evidence.waited_seconds(record, pod) for pod in pods if not pod.nodes), default=0.0)
    never = sum(not pod.nodes for pod in pods)
    return Verdict(
        kind=expectation.kind,
        title=described(expectation.selector, expectation.pods, expectation.namespace),
        status=status_of(bool(pods) and not lines),
        expected=f"never bound for {at(expectation.seconds)}",
        seen=f"{never} of {counted(len(pods), 'pod')} never bound" + (f", for {at(shortest)}" if never else ""),
        evidence=(*limited(lines), *evidence.waiting(record, (pod for pod in pods if pod.pending))),
    )


def _misfits(expectation: Pending, pod: PodHistory) -> list[str]:
    """Return what the pod's condition lacks."""
    condition = pod.condition
    reason = condition.reason if condition else ""
    message = condition.message if condition else ""
    lines = []
    if expectation.reason is not None and reason != expectation.reason:
        lines.append(f"{pod.name}: reason {expectation.reason} expected, {reason or 'no condition'} seen")
    if expectation.message is not None and not re.search(expectation.message, message):
        lines.append(f'{pod.name}: no "{expectation.message}" in its message: {message or "none"}')
    return lines


def _state(pod: PodHistory) -> str:
    if pod.terminating:
        return "terminating"
    return f"{pod.phase} on {pod.node}" if pod.node else pod.phase
