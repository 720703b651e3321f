"""Works out what nodes had to give at one moment of a run, to explain why a pod fitted or did not."""

from collections import defaultdict
from collections.abc import Mapping

from harness.record.model import NodeHistory, PodHistory, Record


def used_at(record: Record, t: float, *, but: PodHistory | None = None) -> Mapping[str, Mapping[str, int]]:
    """Return what pods took of each resource of each node at `t`, without one pod if told."""
    used: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for pod in record.pods:
        if pod.node is None or pod is but or not _held(pod, t):
            continue
        for resource, number in {**pod.requests, "pods": 1}.items():
            used[pod.node][resource] += number
    return used


def nodes_at(record: Record, t: float) -> list[NodeHistory]:
    """Return the nodes that existed at `t`, by name."""
    there = (node for node in record.nodes if node.added_t <= t and (node.removed_t is None or node.removed_t > t))
    return sorted(there, key=lambda node: node.name)


def most_free(record: Record, resource: str, t: float) -> tuple[str, int] | None:
    """Return the node with the most of a resource left at `t` and how much that is, None without nodes."""
    used = used_at(record, t)
    left = [
        (node.name, node.at(t).allocatable.get(resource, 0) - used.get(node.name, {}).get(resource, 0))
        for node in nodes_at(record, t)
    ]
    return max(left, key=lambda one: one[1], default=None)


def amount(resource: str, number: int) -> str:
    """Write an amount as Kubernetes does: millicores, mebibytes, pieces."""
    if resource == "cpu":
        return f"{number}m"
    if resource in {"memory", "ephemeral-storage"}:
        return f"{number / 2**20:.0f}Mi"
    return str(number)


def _held(pod: PodHistory, t: float) -> bool:
    ends = [end for end in (pod.finished_t, pod.deleted_t) if end is not None]
    return pod.bound_t is not None and pod.bound_t <= t and all(end > t for end in ends)
