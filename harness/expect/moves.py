"""Proposes what a person could do about a pod that waits, from what the record shows about its nodes."""

from collections.abc import Iterator

from harness.expect.base import listed
from harness.expect.explain import Explanation, explain
from harness.expect.held_up import HeldUp
from harness.expect.room import amount, most_free, nodes_at
from harness.record.model import PodHistory, Record

_INSUFFICIENT = "Insufficient "
_GENERAL = {
    "NodeAffinity": "compare the pod's nodeSelector and node affinity with the labels of the nodes",
    "NodeName": "the pod asks for one node by name: that node has to exist and to accept it",
    "NodePorts": "another pod holds the host port: use another port or more nodes",
    "NodeDeclaredFeatures": "the pod needs a feature that no node declares",
    "PodTopologySpread": "raise maxSkew, use ScheduleAnyway, or add nodes in the emptier domains",
    "InterPodAffinity": "look at the affinity and anti-affinity of this pod and of the pods on the nodes",
    "NodeVolumeLimits": "the nodes cannot attach more volumes: add nodes or use fewer volumes",
    "VolumeBinding": "look at the pod's PersistentVolumeClaims: they have to exist, and be bound or bindable",
    "VolumeRestrictions": "another pod uses the volume in a mode that does not allow sharing",
    "VolumeZone": "the volume is in another zone than the nodes",
    "DynamicResources": "look at the pod's ResourceClaims and at the devices the nodes publish",
    "GangScheduling": "the pod waits for the rest of its group",
    "SchedulingGates": "remove the pod's scheduling gates when it may be scheduled",
}


def moves(record: Record, pod: PodHistory) -> tuple[str, ...]:
    """Return proposals for a pod that still waits at the end, none for any other."""
    if not pod.pending:
        return ()
    condition = pod.condition
    if condition is None or condition.status != "False":
        if HeldUp(record).by(pod):
            return ("let the extender answer sooner, or lower its httpTimeout so that others get their turn",)
        return (
            f"no scheduler has spoken about this pod: check that one named {pod.scheduler} runs and may update pods",
        )
    taken_apart = explain(condition.message)
    found = list(dict.fromkeys(_by_plugin(record, pod, taken_apart)))
    if taken_apart.total is None and "no nodes available" in condition.message:
        found.append("the cluster has no node: add some under nodes or with addNodes")
    if condition.reason == "SchedulerError":
        found.append("the scheduler itself failed: look at logs/ in the record and, with an extender, at its answers")
        found.append("it would be tried again, and the run did not wait for that: a step await with bound does")
    if any(reason.plugin is None for reason in taken_apart.reasons):
        found.append("a reason that no plugin of Kubernetes gives: ask the extender or plugin under test")
    if pod.nominated is not None:
        found.append(f"node {pod.nominated} is promised to it: it is waiting for the pods preempted there to go")
    return tuple(found) or ("nothing known helps with this reason: look at logs/ in the record",)


def _by_plugin(record: Record, pod: PodHistory, taken_apart: Explanation) -> Iterator[str]:
    for reason in taken_apart.reasons:
        if reason.text.startswith(_INSUFFICIENT):
            yield _short_of(record, pod, reason.text.removeprefix(_INSUFFICIENT))
        elif reason.text == "Too many pods":
            yield "the nodes are full by number of pods: raise `pods` of the nodes or add nodes"
    for plugin in taken_apart.plugins:
        if plugin == "TaintToleration":
            yield _tolerate(record)
        elif plugin == "NodeUnschedulable":
            cordoned = [node.name for node in nodes_at(record, record.end_t) if node.at(record.end_t).unschedulable]
            yield f"uncordon (updateNodes with cordon: false): {listed(cordoned) or 'the nodes'}"
        elif plugin in _GENERAL:
            yield _GENERAL[plugin]


def _short_of(record: Record, pod: PodHistory, resource: str) -> str:
    asked = amount(resource, pod.requests.get(resource, 0))
    best = most_free(record, resource, record.end_t)
    room = f"; the most that is free is {amount(resource, max(best[1], 0))} on {best[0]}" if best else ""
    return f"ask for less than {asked} {resource}, or add nodes{room}"


def _tolerate(record: Record) -> str:
    taints = {
        f"{taint.get('key')}={taint.get('value') or ''}:{taint.get('effect')}"
        for node in nodes_at(record, record.end_t)
        for taint in node.at(record.end_t).taints
        if taint.get("effect") != "PreferNoSchedule"
    }
    return f"give the pod a toleration, or remove a taint: {listed(sorted(taints)) or 'none is left now'}"
