"""Turns pairs of measurements into blocks, and blocks into logarithms of ratios.

A block is a stretch of pairs that follow each other: what disturbs the machine for a while disturbs both sides of it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PAIRS_MIN, PAIRS_MAX = 120, 3000
# Below so many pairs, fewer blocks: each has to hold enough pairs for a quantile.
PAIRS_FEW = 600
BLOCKS, BLOCKS_FEW = 30, 21
# A block of which less is usable says nothing.
USABLE_SHARE_MIN = 0.5


def blocks_for(pairs: int) -> int:
    """Return into how many blocks so many pairs are cut; both numbers can be shared by three restarts."""
    return BLOCKS if pairs >= PAIRS_FEW else BLOCKS_FEW


def plan(budget_seconds: float, seconds_per_pair: float, most: int = PAIRS_MAX) -> tuple[int, int]:
    """Return how many pairs fit into a budget, within bounds, and how many of them make a block."""
    fitting = int(budget_seconds / seconds_per_pair) if seconds_per_pair > 0 else most
    pairs = min(max(fitting, PAIRS_MIN), most)
    count = blocks_for(pairs)
    size = pairs // count
    return size * count, size


def log_ratios(base: Floats, candidate: Floats, size: int, quantile: float) -> Floats:
    """Return ln(quantile of candidate / quantile of base) of every block of `size` pairs.

    A pair of which one side is not a number counts for neither side. A block without enough pairs left, and the rest
    at the end that fills no block, are left out.

    Raises:
        ValueError: the sides are not pairs, or there is no size.
    """
    if base.shape != candidate.shape or base.ndim != 1:
        raise ValueError(f"{base.shape} against {candidate.shape}: as many of the one as of the other expected")
    if size < 1:
        raise ValueError(f"a block of {size} pairs: at least 1 expected")
    count = len(base) // size
    sides = np.stack([base[: count * size], candidate[: count * size]]).reshape(2, count, size)
    usable = np.asarray((np.isfinite(sides) & (sides > 0)).all(axis=0))
    if usable.all():
        values = np.quantile(sides, quantile, axis=2) if count else np.empty((2, 0))
        return np.asarray(np.log(values[1]) - np.log(values[0]))
    found = []
    for number in range(count):
        kept = usable[number]
        if kept.mean() >= USABLE_SHARE_MIN:
            low, high = np.quantile(sides[:, number, kept], quantile, axis=1)
            found.append(np.log(high / low))
    return np.array(found, dtype=np.float64)


def joined(parts: Sequence[Floats]) -> Floats:
    """Return several runs of blocks as one."""
    return np.concatenate(parts) if parts else np.empty(0)
