"""prefer-label: nodes whose label says the same as the pod's go first; see binpack for why it watches nodes itself."""

from harness.extender.author import Node, Pod, Scores
from harness.extender.serving import cluster
from harness.kube import Kube

BEST = 10


class PreferLabel:
    """Scores 10 for nodes that have the pod's own value of a label, 0 for all others."""

    def __init__(self, label: str = "group", kube: Kube | None = None) -> None:
        self._label = label
        self._nodes = cluster.nodes(kube)

    def prioritize(self, pod: Pod, nodes: list[Node]) -> Scores:
        """Score every node; a pod without the label has no opinion."""
        wanted = pod.labels.get(self._label)
        if wanted is None:
            return {node.name: 0 for node in nodes}
        fitting = {node.name for node in self._nodes.now() if node.labels.get(self._label) == wanted}
        return {node.name: BEST if node.name in fitting else 0 for node in nodes}
