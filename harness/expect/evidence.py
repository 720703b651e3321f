"""Collects what a record knows about pods that wait, so that a rejected verdict explains itself."""

from collections.abc import Collection, Iterable, Sequence

from harness.expect.base import NAMES_SHOWN_MAX, at, limited, listed
from harness.expect.explain import explain
from harness.expect.held_up import HeldUp
from harness.record.model import ClusterEvent, PodHistory, Record
from harness.record.pulling import trouble

_GROUP_NAMES_MAX = 3
_GROUP_EVENTS_MAX = 3


def waiting(record: Record, pods: Iterable[PodHistory]) -> tuple[str, ...]:
    """Say why pods wait: pods with the same cause share a line, followed by the events that add something."""
    causes: dict[tuple[str, str | None], list[PodHistory]] = {}
    heard = {pod.scheduler for pod in record.pods if pod.conditions or pod.nodes}
    held = HeldUp(record)
    for pod in pods:
        causes.setdefault(_cause(pod, heard, held), []).append(pod)
    lines = []
    for (cause, preemption), group in causes.items():
        waited = max(waited_seconds(record, pod) for pod in group)
        line = f"{listed((pod.name for pod in group), _GROUP_NAMES_MAX)} waiting for up to {at(waited)}: {cause}"
        lines.append(f"{line}; preemption: {preemption}" if preemption else line)
        lines.extend(_event_lines(record, group[0]))
    return limited(lines, 2 * NAMES_SHOWN_MAX)


def waited_seconds(record: Record, pod: PodHistory) -> float:
    """Return how long a pod was seen waiting for a node, in seconds."""
    ends = [t for t in (pod.bound_t, pod.finished_t, pod.deleted_t) if t is not None]
    return min([*ends, record.end_t]) - pod.created_t


def not_running(pods: Sequence[PodHistory]) -> tuple[str, ...]:
    """Name pods that are in between: bound but not running yet, or on their way out."""
    bound = [_stuck(pod) for pod in pods if pod.nodes and pod.phase == "Pending" and not pod.terminating]
    leaving = [pod.name for pod in pods if pod.terminating]
    lines = []
    if bound:
        lines.append(f"bound but not running yet: {listed(bound)}")
    if leaving:
        lines.append(f"terminating: {listed(leaving)}")
    return tuple(lines)


def event_line(event: ClusterEvent, *, message: bool = True) -> str:
    """Return an event as one line."""
    times = f" x{event.count}" if event.count > 1 else ""
    said = f": {event.message}" if message and event.message else ""
    return f"event {event.reason}{times} at {at(event.t)}{said}"


def latest_events(events: Iterable[ClusterEvent]) -> tuple[ClusterEvent, ...]:
    """Return each event once, in its last state: a repeated event arrives again with a higher count."""
    return tuple({event.uid: event for event in events}.values())


def _stuck(pod: PodHistory) -> str:
    waits = pod.observations[-1].waits
    if waits and (missing := trouble(waits)):
        # What is wrong with the image is said once for all pods.
        waits = f"waits for image {missing.image}"
    return f"{pod.name} on {pod.node} ({waits})" if waits else f"{pod.name} on {pod.node}"


def _cause(pod: PodHistory, heard: Collection[str], held: HeldUp) -> tuple[str, str | None]:
    condition = pod.condition
    if condition is None or condition.status != "False":
        if waited_for := held.by(pod):
            return waited_for, None
        hint = "" if pod.scheduler in heard else f"; is a scheduler named {pod.scheduler} running?"
        return f"no scheduler has said anything about it (schedulerName {pod.scheduler}){hint}", None
    taken_apart = explain(condition.message)
    return f"{condition.reason}: {taken_apart.summary()}", taken_apart.preemption


def _event_lines(record: Record, pod: PodHistory) -> tuple[str, ...]:
    """Return the pod's events, without the message where the condition has said the same."""
    said = pod.condition.message if pod.condition else ""
    lines = []
    for event in latest_events(record.events_by_uid.get(pod.uid, ())):
        # kube-scheduler cuts an event's message at 1024 bytes and ends it with dots.
        known = bool(said) and said.startswith(event.message.removesuffix(" ...").strip())
        lines.append(f"{pod.name}: {event_line(event, message=not known)}")
    return limited(lines, _GROUP_EVENTS_MAX)
