"""An extender in Python that costs as much as it is told to; the environment says how much."""

import os
import random
import zlib

from harness.extender.author import Node, Pod, Scores, Verdicts

BLOCK = bytes(512)


class WorkFactor:
    """Keeps every node, after WORK_ROUNDS times WORK_FACTOR rounds of a hash."""

    def __init__(self) -> None:
        self._rounds = float(os.environ.get("WORK_ROUNDS", "800")) * float(os.environ.get("WORK_FACTOR", "1"))
        self._jitter = float(os.environ.get("WORK_JITTER", "0.2"))
        # Without a seed: two servers that draw the same would differ less than two programs do.
        self._random = random.Random()  # noqa: S311 - nothing secret

    def filter(self, pod: Pod, nodes: list[Node]) -> Verdicts:
        self._burn()
        return nodes

    def prioritize(self, pod: Pod, nodes: list[Node]) -> Scores:
        self._burn()
        return {node.name: 0 for node in nodes}

    def _burn(self) -> None:
        value = 0
        for _ in range(int(self._rounds * self._random.lognormvariate(0, self._jitter))):
            value = zlib.crc32(BLOCK, value)
