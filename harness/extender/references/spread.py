"""spread: pods of one app go where the fewest of them are; see binpack for why it watches pods itself."""

from collections import Counter

from harness.extender.author import Node, Pod, Scores
from harness.extender.serving import cluster
from harness.kube import Kube

BEST = 10
LABELS = ("app.kubernetes.io/name", "app")


class Spread:
    """Scores 10 for nodes without a pod of the same app, 0 for those with the most of them."""

    def __init__(self, kube: Kube | None = None) -> None:
        self._pods = cluster.pods(kube)

    def prioritize(self, pod: Pod, nodes: list[Node]) -> Scores:
        """Score every node by how many pods of the app it has among those asked about; no app, no opinion."""
        app = _app(pod)
        others = [one for one in self._pods.now() if app and cluster.is_running(one) and _app(one) == app]
        count = Counter(one.node for one in others if one.namespace == pod.namespace)
        most = max((count[node.name] for node in nodes), default=0)
        return {node.name: BEST - count[node.name] * BEST // most if most else 0 for node in nodes}


def _app(pod: Pod) -> str:
    return next((pod.labels[label] for label in LABELS if label in pod.labels), "")
