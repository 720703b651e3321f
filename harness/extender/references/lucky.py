"""lucky: the lots of the well-known lab, but drawn so that a run can be repeated.

A draw depends on the seed, the pod's namespace and name, how many attempts the pod has had, and the node: on nothing
else, such as the order of calls. UIDs are not used, because every run gives out new ones.
"""

import hashlib
import threading
from collections import OrderedDict

from harness.extender.author import Filtered, Node, Pod, Scores

UNLUCKY = "unlucky"
SCORES = 11
PODS_MAX = 10_000
_SHOWN = 3


class Lucky:
    """Keeps each node with probability 1/2, and gives it a score from 0 to 10."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._attempts: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()

    def filter(self, pod: Pod, nodes: list[Node]) -> Filtered:
        """Draw for every node; each call for a pod is a new attempt with new luck."""
        attempt = self._attempt(pod, new=True)
        kept = [node.name for node in nodes if self._draw("filter", pod, attempt, node) % 2]
        shown = " ".join([*kept[:_SHOWN], *(["…"] if kept[_SHOWN:] else [])]) or "nowhere"
        return Filtered(
            kept=kept,
            rejected={node.name: UNLUCKY for node in nodes if node.name not in set(kept)},
            note=f"lucky {shown} for {pod.name}",
        )

    def prioritize(self, pod: Pod, nodes: list[Node]) -> Scores:
        """Draw a score for every node."""
        attempt = self._attempt(pod, new=False)
        return {node.name: self._draw("prioritize", pod, attempt, node) % SCORES for node in nodes}

    def _attempt(self, pod: Pod, *, new: bool) -> int:
        key = pod.uid or str(pod)
        with self._lock:
            attempt = self._attempts.pop(key, 0) + new
            self._attempts[key] = attempt
            # Pods come and go, and nobody tells when one is gone.
            if len(self._attempts) > PODS_MAX:
                self._attempts.popitem(last=False)
        return attempt

    def _draw(self, what: str, pod: Pod, attempt: int, node: Node) -> int:
        lot = f"{self._seed}\n{what}\n{pod}\n{attempt}\n{node}"
        return int.from_bytes(hashlib.blake2b(lot.encode(), digest_size=8).digest())
