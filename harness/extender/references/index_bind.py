"""index-bind: the lab with all three verbs. Unlike the lab's own code, its bind does bind."""

from harness.extender.author import Binding, Node, Pod, Scores, Verdicts
from harness.extender.references import binding as binder
from harness.kube import Kube


class IndexBind:
    """Keeps every node, prefers those that stand late in the list, and binds pods itself."""

    def __init__(self, kube: Kube | None = None) -> None:
        self._kube = kube

    def filter(self, pod: Pod, nodes: list[Node]) -> Verdicts:
        """Keep all."""
        return nodes

    def prioritize(self, pod: Pod, nodes: list[Node]) -> Scores:
        """Score by place in the list, which kube-scheduler gives in no order; from the 12th node on it is above 10."""
        return {node.name: place for place, node in enumerate(nodes)}

    def bind(self, binding: Binding) -> None:
        """Bind through the API server."""
        binder.bind(self._kube, binding)
