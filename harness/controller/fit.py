"""Says where a pod fits and why it does not fit elsewhere.

It looks at taints, node selectors, cordons and resources, and at nothing else; what a pod asks for beside these is in
`Pod.ignored`, so that the log can say so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.scenario.amounts import Amounts, amounts, pod_requests

Object = Mapping[str, Any]

# The words of kube-scheduler: whoever reads its messages can read ours.
CORDONED = "node(s) were unschedulable"
UNTOLERATED = "node(s) had untolerated taint(s)"
OTHER_LABELS = "node(s) didn't match Pod's node affinity/selector"
TOO_MANY_PODS = "Too many pods"
NO_NODES = "no nodes available to schedule pods"

PODS = "pods"
LOAD = ("cpu", "memory", PODS)
_CORDON: Object = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_KEEPS_AWAY = frozenset({"NoSchedule", "NoExecute"})
_ENDED = frozenset({"Succeeded", "Failed"})
_IGNORED = ("affinity", "resourceClaims", "topologySpreadConstraints")


@dataclass(frozen=True, slots=True)
class Pod:
    """What the controller knows of a pod; `refusal` is the reason and message of its PodScheduled condition."""

    uid: str
    name: str
    namespace: str
    version: str
    scheduler: str
    node: str
    priority: int
    requests: Amounts
    labels: Mapping[str, str]
    selector: Mapping[str, str]
    tolerations: Sequence[Object]
    gated: bool
    leaving: bool
    ended: bool
    refusal: tuple[str, str] | None
    ignored: tuple[str, ...]

    @classmethod
    def of(cls, item: Object) -> "Pod":
        """Read a pod of the API."""
        metadata, spec, status = item["metadata"], item.get("spec") or {}, item.get("status") or {}
        return cls(
            uid=metadata["uid"],
            name=metadata["name"],
            namespace=metadata["namespace"],
            version=metadata["resourceVersion"],
            scheduler=spec.get("schedulerName", ""),
            node=spec.get("nodeName") or "",
            priority=spec.get("priority") or 0,
            requests={**pod_requests(spec), PODS: 1},
            labels=metadata.get("labels") or {},
            selector=spec.get("nodeSelector") or {},
            tolerations=spec.get("tolerations") or (),
            gated=bool(spec.get("schedulingGates")),
            leaving="deletionTimestamp" in metadata,
            ended=status.get("phase") in _ENDED,
            refusal=_refusal(status),
            ignored=tuple(_ignored(spec)),
        )

    @property
    def wishes(self) -> tuple[Any, ...]:
        """Return what a decision depends on; a pod whose wishes change is worth another try."""
        return self.priority, self.requests, self.selector, self.tolerations, self.gated

    @property
    def path(self) -> str:
        """Return its path in the API."""
        return f"/api/v1/namespaces/{self.namespace}/pods/{self.name}"

    def tolerates(self, taint: Object) -> bool:
        """Return whether the pod may go to a node in spite of a taint."""
        return any(_tolerates(toleration, taint) for toleration in self.tolerations)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(slots=True)
class Room:
    """A node, and what its pods hold of it."""

    name: str
    labels: Mapping[str, str]
    taints: Sequence[Object]
    cordoned: bool
    allocatable: Amounts
    taken: Amounts = field(compare=False)
    """Shared with whoever counts; it outlives the node, whose pods may be told of before it."""

    @classmethod
    def of(cls, item: Object, taken: Amounts) -> "Room":
        """Read a node of the API; of two rooms, those are equal that every pod would find the same."""
        spec = item.get("spec") or {}
        return cls(
            name=item["metadata"]["name"],
            labels=item["metadata"].get("labels") or {},
            taints=[
                {"key": taint["key"], "value": taint.get("value", ""), "effect": taint["effect"]}
                for taint in spec.get("taints") or ()
                if taint["effect"] in _KEEPS_AWAY
            ],
            cordoned=bool(spec.get("unschedulable")),
            allocatable=amounts((item.get("status") or {}).get("allocatable") or {}),
            taken=taken,
        )

    @property
    def load(self) -> float:
        """Return the sum of the shares of cpu, memory and places for pods that are taken."""
        return sum(self.taken.get(name, 0) / size for name in LOAD if (size := self.allocatable.get(name, 0)) > 0)

    def refuses(self, pod: Pod) -> tuple[str, ...]:
        """Return why the pod cannot go here, empty if it can; in the order in which kube-scheduler looks."""
        if self.cordoned and not pod.tolerates(_CORDON):
            return (CORDONED,)
        if any(not pod.tolerates(taint) for taint in self.taints):
            return (UNTOLERATED,)
        if any(self.labels.get(key) != value for key, value in pod.selector.items()):
            return (OTHER_LABELS,)
        return tuple(
            TOO_MANY_PODS if name == PODS else f"Insufficient {name}"
            for name, asked in pod.requests.items()
            if asked and self.taken.get(name, 0) + asked > self.allocatable.get(name, 0)
        )


def refusal(nodes: int, reasons: Mapping[str, int]) -> str:
    """Return what kube-scheduler would say about a pod that fits nowhere."""
    if not nodes:
        return NO_NODES
    counted = sorted(f"{count} {reason}" for reason, count in reasons.items())
    return f"0/{nodes} nodes are available: {', '.join(counted)}."


def _tolerates(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    if toleration.get("operator") == "Exists":
        return True
    # Without a key only Exists is allowed, and comparing numbers is for kube-scheduler alone.
    equal = toleration.get("operator", "Equal") == "Equal" and toleration.get("value", "") == taint.get("value", "")
    return bool(toleration.get("key")) and equal


def _refusal(status: Object) -> tuple[str, str] | None:
    for condition in status.get("conditions") or ():
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return condition.get("reason", ""), condition.get("message", "")
    return None


def _ignored(spec: Object) -> Iterator[str]:
    yield from (name for name in _IGNORED if spec.get(name))
    if any("persistentVolumeClaim" in one or "ephemeral" in one for one in spec.get("volumes") or ()):
        yield "volumes"
    containers = spec.get("containers") or ()
    if any(port.get("hostPort") for container in containers for port in container.get("ports") or ()):
        yield "hostPort"
