"""binpack: the fullest node that still fits wins.

A request of kube-scheduler tells what nodes have, never what is used of it. So this extender watches nodes and pods
itself, and names are all it needs. Bindings reach it a moment after they were made: pods that come in a burst are
scored by a slightly older picture, which never makes them fit where they do not, for it only scores.
"""

from collections import defaultdict

from harness.extender.author import Node, Pod, Scores
from harness.extender.serving import cluster
from harness.kube import Kube

BEST = 10
RESOURCES = ("cpu", "memory")


class Binpack:
    """Scores nodes from 0 (empty) to 10 (full), by the fuller one of CPU and memory after the pod has come."""

    def __init__(self, kube: Kube | None = None) -> None:
        self._pods = cluster.pods(kube)
        self._nodes = cluster.nodes(kube)

    def prioritize(self, pod: Pod, nodes: list[Node]) -> Scores:
        """Score every node; one that is not known yet gets 0."""
        used: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(RESOURCES, 0))
        for running in filter(cluster.is_running, self._pods.now()):
            for resource in RESOURCES:
                used[running.node][resource] += running.requests.get(resource, 0)
        known = {node.name: node for node in self._nodes.now()}
        return {node.name: _fullness(pod, known.get(node.name), used[node.name]) for node in nodes}


def _fullness(pod: Pod, node: Node | None, used: dict[str, int]) -> int:
    if node is None:
        return 0
    shares = [
        (used[resource] + pod.requests.get(resource, 0)) * BEST // node.allocatable[resource]
        for resource in RESOURCES
        if node.allocatable.get(resource)
    ]
    return min(BEST, max(shares, default=0))
