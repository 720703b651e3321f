"""Finds kind clusters of killed runs by what their containers show, and deletes those that certainly nobody needs."""

from collections.abc import Sequence
from itertools import groupby

from harness.cluster.kind import tools
from harness.cluster.kind.containers import NodeContainer, nodes
from harness.cluster.kind.creation import remove_all
from harness.cluster.recovery import Swept


def sweep() -> Swept:
    """Delete them; say of others that the harness made, and that nobody is known to use, why they stay."""
    removed, doubts = [], []
    found = sorted(nodes(), key=lambda node: node.cluster)
    for name, group in groupby(found, key=lambda node: node.cluster):
        there = list(group)
        is_ours = any(node.owner or node.shared for node in there)
        is_used = any(node.owner.lives for node in there if node.owner)
        if is_used or not is_ours:
            continue
        if why := _doubt(there):
            doubts.append(f'kind cluster {name} is left alone: {why}; "kind delete cluster --name {name}" removes it')
        else:
            _remove(name)
            removed.append(f"kind cluster {name}")
    return Swept(removed, doubts)


def _doubt(there: Sequence[NodeContainer]) -> str | None:
    for node in there:
        if node.owner is None:
            return "it does not say whose it is"
        if why := node.owner.doubt():
            return why
    if not tools.is_local():
        return "it is on the container engine of another machine"
    return None


def _remove(name: str) -> None:
    """Remove each node whose owner is gone: by now, somebody may be making a new cluster of the same name."""

    def left() -> list[str]:
        return [node.id for node in nodes(name) if node.owner and node.owner.doubt() is None]

    remove_all(name, left)
