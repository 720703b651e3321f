"""Finds pods that ought to be there and are not: never made, never seen, or gone without anyone having taken them.

A workload misses pods when its controller wants more active ones than exist. A bare pod is missed when it vanished and
no step, preemption, eviction or removed node accounts for it.
"""

from collections.abc import Iterator

from harness.expect.base import WATCH_SKEW_SECONDS, at
from harness.expect.evidence import event_line, latest_events
from harness.expect.matching import SYSTEM_NAMESPACES, by_creation
from harness.record.model import PodHistory, Record, WorkloadHistory
from harness.scenario import selector as selectors
from harness.scenario.steps import Churn, Create, CreatePods, Delete, Drain, RemoveNodes, Step, UpdateNodes

# Controllers that own pods themselves; a Deployment owns ReplicaSets.
OWNING_KINDS = frozenset({"ReplicaSet", "ReplicationController", "StatefulSet", "Job", "DaemonSet"})
TAKING_REASONS = frozenset({"Preempted", "Evicted", "TaintManagerEviction"})


def missing(record: Record) -> list[tuple[str, ...]]:
    """Return one group of lines per workload or pod that misses something."""
    workloads = sorted(record.workloads, key=lambda one: (one.namespace, one.kind, one.name, one.uid))
    found = [lines for workload in workloads if (lines := _short(record, workload))]
    found.extend((line,) for line in _never_seen(record))
    found.extend((line,) for line in _vanished(record))
    return found


def _short(record: Record, workload: WorkloadHistory) -> tuple[str, ...]:
    judged = workload.kind in OWNING_KINDS and workload.namespace not in SYSTEM_NAMESPACES
    if not judged or workload.deleted_t is not None or workload.finished or not workload.desired:
        return ()
    owned = record.pods_by_owner.get(workload.uid, ())
    alive = [pod for pod in owned if pod.exists and not pod.finished and not pod.terminating]
    if workload.kind == "StatefulSet" and not all(pod.observations[-1].ready for pod in alive):
        # An ordered StatefulSet makes no further pod before the last one is ready.
        return ()
    # What a Job still wants shrinks only after it has taken note of the pods that succeeded.
    unnoted = sum(_unnoted(workload, pod) for pod in owned) if workload.kind == "Job" else 0
    if len(alive) + unnoted >= workload.desired:
        return ()
    said = [
        event_line(event)
        for event in latest_events(record.events_by_uid.get(workload.uid, ()))
        if event.type == "Warning"
    ]
    return (f"{workload.kind} {workload.name}: {workload.desired} pods wanted, {len(alive)} exist", *said[-2:])


def _unnoted(workload: WorkloadHistory, pod: PodHistory) -> bool:
    return pod.finished_t is not None and pod.finished_t > workload.changed_t - WATCH_SKEW_SECONDS


def _never_seen(record: Record) -> Iterator[str]:
    """Name pods that a finished step created and no watch ever showed."""
    seen = {pod.name for pod in record.pods}
    for mark in record.steps:
        step = _step(record, mark.index)
        if mark.phase != "end" or not isinstance(step, Create | CreatePods):
            continue
        for name in _created(record, step):
            if name not in seen:
                yield f"pod {name} was created by step {mark.index + 1} ({step.op}) and never seen"


def _created(record: Record, step: Create | CreatePods) -> list[str]:
    if isinstance(step, CreatePods):
        return step.pod_names()
    pods = [one for one in record.scenario.objects_of(step) if one.get("kind") == "Pod"]
    return [one["metadata"]["name"] for one in pods if "name" in one["metadata"]]


def _vanished(record: Record) -> Iterator[str]:
    taking = [
        (mark.t, step)
        for mark in record.steps
        if mark.phase == "start" and (step := _step(record, mark.index)) is not None
    ]
    promised = _promised(record)
    for pod in sorted(record.pods, key=by_creation):
        if pod.owner is not None or pod.exists or pod.namespace in SYSTEM_NAMESPACES:
            continue
        left_t = pod.terminating_t if pod.terminating_t is not None else pod.deleted_t
        t = (left_t or 0.0) + WATCH_SKEW_SECONDS
        by_step = any(start_t <= t and _takes(record, step, pod, t) for start_t, step in taking)
        by_event = any(event.reason in TAKING_REASONS for event in record.events_by_uid.get(pod.uid, ()))
        # The event of a preemption is sent in the background and may be lost; the promise to the preemptor is not.
        by_promise = any(start_t <= t and priority > pod.priority for start_t, priority in promised.get(pod.node, ()))
        if not (by_step or by_event or by_promise or _node_gone(record, pod, t)):
            yield f"pod {pod.name} vanished at {at(pod.deleted_t or 0.0)} and nothing in the record took it"


def _promised(record: Record) -> dict[str | None, list[tuple[float, int]]]:
    """Return when each node was promised to a preemptor, and of which priority."""
    promised: dict[str | None, list[tuple[float, int]]] = {}
    for pod in record.pods:
        first = next((seen for seen in pod.observations if seen.nominated), None)
        if first is not None:
            promised.setdefault(first.nominated, []).append((first.t, pod.priority))
    return promised


def _takes(record: Record, step: Step, pod: PodHistory, t: float) -> bool:
    """Tell whether a step can be what removed the pod."""
    if isinstance(step, Delete):
        return _deletes(step, pod)
    if isinstance(step, Churn):
        return step.namespace == pod.namespace and selectors.parse(step.selector).matches(pod.labels)
    if isinstance(step, UpdateNodes) and not any(taint.effect == "NoExecute" for taint in step.add_taints or ()):
        return False
    if isinstance(step, Drain | RemoveNodes | UpdateNodes) and pod.node is not None:
        if step.names is not None:
            return pod.node in step.names
        node = record.node_at(pod.node, t)
        return node is not None and selectors.parse(step.selector or "").matches(node.at(t).labels)
    return False


def _deletes(step: Delete, pod: PodHistory) -> bool:
    if step.kind == "Namespace":
        return step.name in {None, pod.namespace}
    if step.kind == "Node":
        return step.name in {None, pod.node}
    if step.kind != "Pod" or step.namespace != pod.namespace:
        return False
    return step.name == pod.name if step.name else selectors.parse(step.selector or "").matches(pod.labels)


def _node_gone(record: Record, pod: PodHistory, t: float) -> bool:
    """Tell whether the pod's node was removed before it: garbage collection follows."""
    node = record.node_at(pod.node, pod.bound_t or 0.0) if pod.node else None
    return node is not None and node.removed_t is not None and node.removed_t <= t


def _step(record: Record, index: int) -> Step | None:
    """Return the step of a mark; the settle that is implied at the end stands in no scenario."""
    steps = record.scenario.steps
    return steps[index] if 0 <= index < len(steps) else None
