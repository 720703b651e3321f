"""What a scheduler that draws lots would give: how unevenly it fills nodes, how far its runs are apart. Pure.

Such a scheduler gives every pod to a node at random, and takes another node where there is no room. Everything that is
drawn has a fixed seed: the same question always has the same answer.
"""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

SEED = 20261116
CONFIDENCE = 0.99
EXACT_WAYS_MAX = 20_000
DRAWS_MAX, DRAWS_MIN = 20_000, 1_000
# Draws times nodes: what keeps a thousand nodes below a second.
DRAWN_CELLS_MAX = 4_000_000
CHUNK_CELLS = 1_000_000
EXPECTED_MIN = 5.0
# With fewer nodes the index takes few values, and the table is wrong in the lower tail: [7, 7, 6] happens to 11 % of
# random runs, and the table says 5 %.
TABLE_NODES_MIN = 50
ROUNDED = 9

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Lots:
    """How lots are drawn.

    Args:
        pods: how many there are to place.
        shares: the chance of each node, which add up to 1.
        slots: how many pods each node has room for; empty where that never matters.
    """

    pods: int
    shares: tuple[float, ...]
    slots: tuple[int, ...] = ()

    @property
    def nodes(self) -> int:
        """Return how many nodes there are."""
        return len(self.shares)

    @classmethod
    def of(cls, pods: int, weights: Sequence[float], slots: Sequence[int] = ()) -> "Lots":
        """Return lots for nodes with these weights; room that is never used up is left out of the question."""
        total = float(sum(weights))
        shares = tuple(round(weight / total, 12) for weight in weights)
        tight = [slot < _most(pods * share, pods) for slot, share in zip(slots, shares, strict=False)]
        return cls(pods, shares, tuple(slots) if any(tight) and sum(slots) >= pods else ())


@dataclass(frozen=True)
class Chances:
    """The distribution of the dispersion index among random placements: values in order, and their chances.

    `how` is `exact`, `drawn` or `table`; `draws` is how many were drawn.
    """

    values: Floats
    chances: Floats
    how: str
    draws: int = 0

    def band(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """Return the smallest and largest index that are not among the rarest at either end."""
        tail = (1 - confidence) / 2
        below = np.cumsum(self.chances)
        low = int(np.searchsorted(below, tail, side="right"))
        high = int(np.searchsorted(below, 1 - tail, side="left"))
        last = len(self.values) - 1
        return float(self.values[min(low, last)]), float(self.values[min(high, last)])

    def at_most(self, index: float) -> float:
        """Return how often a random placement is as even as this, or more so."""
        return float(self.chances[self.values <= index + 10.0**-ROUNDED].sum())

    def at_least(self, index: float) -> float:
        """Return how often a random placement is as uneven as this, or more so."""
        return float(self.chances[self.values >= index - 10.0**-ROUNDED].sum())

    def of_mean(self, runs: int) -> "Chances":
        """Return the distribution of the mean of so many independent runs."""
        if runs <= 1:
            return self
        random = np.random.default_rng([SEED, runs])
        picked = random.choice(self.values, size=(DRAWS_MAX, runs), p=self.chances / self.chances.sum())
        return _gathered(picked.mean(axis=1), None, "drawn", DRAWS_MAX)


def dispersion(counts: Sequence[int] | Counts, shares: Sequence[float]) -> float:
    """Return the dispersion index: chi-square over its degrees of freedom, 1 on average for random placements."""
    seen = np.asarray(counts, dtype=float)
    return float(_indices(seen[None, :], np.asarray(shares) * seen.sum())[0])


@functools.lru_cache(maxsize=256)
def chances(lots: Lots) -> Chances:
    """Return how the dispersion index of random placements is distributed."""
    expected = lots.pods * np.asarray(lots.shares)
    if not lots.slots and comb(lots.pods + lots.nodes - 1, lots.nodes - 1) <= EXACT_WAYS_MAX:
        ways = np.array(list(_ways(lots.pods, lots.nodes)), dtype=np.int64)
        return _gathered(_indices(ways, expected), _probabilities(ways, lots), "exact")
    if not lots.slots and lots.nodes >= TABLE_NODES_MIN and expected.min() >= EXPECTED_MIN:
        return _table(lots.nodes - 1)
    count = draws_for(lots.nodes)
    indices = np.concatenate([_indices(part, expected) for part in draws(lots, count)])
    return _gathered(indices, None, "drawn", count)


def draws_for(nodes: int) -> int:
    """Return how many placements are drawn for so many nodes."""
    return int(min(DRAWS_MAX, max(DRAWS_MIN, DRAWN_CELLS_MAX // max(nodes, 1))))


def draws(lots: Lots, count: int, stream: int = 0) -> Iterator[Counts]:
    """Give random placements, a row each, in parts of bounded size; another `stream` gives others."""
    random = np.random.default_rng([SEED, lots.pods, lots.nodes, stream])
    rows = max(1, CHUNK_CELLS // max(lots.nodes, 1))
    for start in range(0, count, rows):
        yield _drawn(lots, min(rows, count - start), random)


def _drawn(lots: Lots, count: int, random: np.random.Generator) -> Counts:
    shares = np.asarray(lots.shares) / sum(lots.shares)
    if not lots.slots:
        plain: Counts = random.multinomial(lots.pods, shares, size=count)
        return plain
    slots = np.asarray(lots.slots)
    placed: Counts = np.minimum(random.multinomial(lots.pods, shares, size=count), slots)
    left = lots.pods - placed.sum(axis=1)
    # To turn pods away after a whole round of lots gives what turning away one by one gives: which pod draws next
    # makes no difference to a node.
    while (rows := np.flatnonzero(left)).size:
        open_shares = np.where(placed[rows] < slots, shares, 0.0)
        thrown = random.multinomial(left[rows], open_shares / open_shares.sum(axis=1, keepdims=True))
        placed[rows] = np.minimum(placed[rows] + thrown, slots)
        left = lots.pods - placed.sum(axis=1)
    return placed


def _indices(counts: Any, expected: Floats) -> Floats:
    """Return the index of every row; one node, or none, has none to be uneven with."""
    if counts.shape[1] < 2 or not expected.sum():  # noqa: PLR2004 - that is what being uneven takes
        return np.zeros(len(counts))
    squares: Floats = ((counts - expected) ** 2 / expected).sum(axis=1) / (counts.shape[1] - 1)
    return squares


def _gathered(indices: Floats, weights: Floats | None, how: str, count: int = 0) -> Chances:
    values, place = np.unique(indices.round(ROUNDED), return_inverse=True)
    return Chances(values, np.bincount(place, weights) / (1 if weights is not None else len(indices)), how, count)


def _table(freedom: int) -> Chances:
    """Return the chi-square distribution as steps of a ten-thousandth."""
    # Not scipy.stats, which takes longer to import than everything here takes to compute.
    from scipy.special import chdtri

    steps = (np.arange(10_000) + 0.5) / 10_000
    return Chances(chdtri(freedom, 1 - steps) / freedom, np.full(len(steps), 1 / len(steps)), "table")


def _ways(pods: int, nodes: int) -> Iterator[tuple[int, ...]]:
    if nodes == 1:
        yield (pods,)
        return
    for first in range(pods + 1):
        for rest in _ways(pods - first, nodes - 1):
            yield (first, *rest)


def _probabilities(ways: Counts, lots: Lots) -> Floats:
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, lots.pods + 1)))])
    logs = factorials[lots.pods] - factorials[ways].sum(axis=1) + ways @ np.log(np.asarray(lots.shares))
    probabilities: Floats = np.exp(logs) / np.exp(logs).sum()
    return probabilities


def _most(expected: float, pods: int) -> float:
    """Return what a node gets at most, but for chances that need not be counted."""
    return float(min(pods, expected + 4 * expected**0.5 + 2))
