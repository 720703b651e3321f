"""name-length: short names win. Its scores leave the range of 0 to 10 on purpose: kube-scheduler checks nothing."""

from harness.extender.author import Filtered, Node, Pod, Scores

LETTERS = 5
TOO_LONG = "pod name too long"
BASE_SCORE = 20


class NameLength:
    """Takes pods with names of less than 5 letters, and prefers nodes with short names."""

    def filter(self, pod: Pod, nodes: list[Node]) -> Filtered:
        """Keep all nodes or none; no eviction makes a name shorter, so the refusal is final."""
        if len(pod.name) < LETTERS:
            return Filtered(kept=nodes)
        return Filtered(unresolvable={node.name: TOO_LONG for node in nodes})

    def prioritize(self, pod: Pod, nodes: list[Node]) -> Scores:
        """Score 20 minus the length of the name: more than 10 for short names, negative for very long ones."""
        return {node.name: BASE_SCORE - len(node.name) for node in nodes}
