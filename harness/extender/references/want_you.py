"""want-you: a label chooses the pods, an option the one node that they get; it needs to know no more than names."""

from harness.extender.author import Filtered, Node, Pod

OTHER_NODE = "not the wanted node"
OTHER_POD = "pod does not want you"


class WantYou:
    """Sends pods labelled want=you to one node and all others nowhere; want=panic shows what an exception does."""

    def __init__(self, node: str = "node-1") -> None:
        self._node = node

    def filter(self, pod: Pod, nodes: list[Node]) -> Filtered:
        """Keep the one node for pods that want it."""
        want = pod.labels.get("want")
        if want == "panic":
            raise RuntimeError("panic, as the pod wanted")
        if want != "you":
            return Filtered(unresolvable={node.name: OTHER_POD for node in nodes})
        return Filtered(
            kept=[node for node in nodes if node.name == self._node],
            unresolvable={node.name: OTHER_NODE for node in nodes if node.name != self._node},
        )
