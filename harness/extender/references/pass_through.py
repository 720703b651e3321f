"""pass-through: an extender that changes nothing, to see what having one costs."""

from harness.extender.author import Node, Pod, Scores, Verdicts


class PassThrough:
    """Keeps every node, and likes them all the same."""

    def filter(self, pod: Pod, nodes: list[Node]) -> Verdicts:
        """Keep all."""
        return nodes

    def prioritize(self, pod: Pod, nodes: list[Node]) -> Scores:
        """Score all 0."""
        return {node.name: 0 for node in nodes}
