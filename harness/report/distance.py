"""How far apart two placements are, and how far apart two runs of the same scheduler already are. Pure.

The distance is the total variation distance: which share of the pods would have to move.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import comb
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from harness.report.randomness import SEED, Lots, draws, draws_for

ALPHA = 0.01
RUNS_MIN = 5
"""Fewer repeats of each cannot give a p-value below ALPHA: two of 252 orders is 0.8 %."""
ORDERS_MAX = 10_000
FLOOR_QUANTILE = 0.99
PAIRS_MAX = 4_000

Word = Literal["same", "within", "beyond", "different", "not-significant"]


def distance(here: Mapping[str, int], there: Mapping[str, int]) -> float | None:
    """Return the share of pods on other nodes, by the names of nodes; None if one side has no pod."""
    names = sorted({*here, *there})
    return _variation([here.get(name, 0) for name in names], [there.get(name, 0) for name in names])


def nameless_distance(here: Mapping[str, int], there: Mapping[str, int]) -> float | None:
    """Return the distance of the sorted loads: 0 where the same loads are only on other nodes."""
    size = max(len(here), len(there))
    loads = [sorted([*one.values(), *[0] * (size - len(one))], reverse=True) for one in (here, there)]
    return _variation(*loads)


@dataclass(frozen=True)
class Floor:
    """How far apart runs of the same are: the mean, and the most, which for drawn ones is exceeded by 1 %.

    `runs` is how many repeats it was measured with; 0 says that it is drawn, for a scheduler that places at random.
    """

    mean: float
    most: float
    nameless_mean: float
    nameless_most: float
    runs: int

    @property
    def weak(self) -> bool:
        """Tell whether too few repeats stand behind it."""
        return 0 < self.runs < RUNS_MIN

    def to_json(self) -> dict[str, Any]:
        """Return it as a program reads it."""
        return {**asdict(self), "weak": self.weak}


def measured_floor(repeats: Sequence[Mapping[str, int]]) -> Floor | None:
    """Return how far apart repeats of the same are, every pair of them; None if there are no two."""
    pairs = list(combinations([one for one in repeats if sum(one.values())], 2))[:PAIRS_MAX]
    if not pairs:
        return None
    named = [distance(*pair) or 0.0 for pair in pairs]
    nameless = [nameless_distance(*pair) or 0.0 for pair in pairs]
    return Floor(_mean(named), max(named), _mean(nameless), max(nameless), len(repeats))


@functools.lru_cache(maxsize=256)
def drawn_floor(lots: Lots) -> Floor:
    """Return how far apart two runs of a random scheduler are."""
    count = min(PAIRS_MAX, draws_for(lots.nodes) // 4)
    named, nameless = [], []
    for one, other in zip(draws(lots, count, stream=1), draws(lots, count, stream=2), strict=True):
        named.append(np.abs(one - other).sum(axis=1))
        nameless.append(np.abs(np.sort(one, axis=1) - np.sort(other, axis=1)).sum(axis=1))
    parts = [np.concatenate(each) / (2 * max(lots.pods, 1)) for each in (named, nameless)]
    means = [float(part.mean()) for part in parts]
    most = [float(np.quantile(part, FLOOR_QUANTILE)) for part in parts]
    return Floor(means[0], most[0], means[1], most[1], 0)


def distance_p(base: Sequence[Mapping[str, int]], other: Sequence[Mapping[str, int]]) -> float | None:
    """Return how likely repeats are this far apart from the base's if all are of one kind: a permutation of runs.

    Both distances count, by name and of the sorted loads. None if either has fewer than five runs: nothing could be
    told then.
    """
    if min(len(base), len(other)) < RUNS_MIN:
        return None
    runs = [*base, *other]
    apart = np.array(
        [[(distance(one, two) or 0.0) + (nameless_distance(one, two) or 0.0) for two in runs] for one in runs]
    )

    def statistic(chosen: Sequence[int]) -> float:
        mine = np.zeros(len(runs), dtype=bool)
        mine[list(chosen)] = True
        between = apart[np.ix_(mine, ~mine)].mean()
        within = [apart[np.ix_(side, side)].sum() / (side.sum() * (side.sum() - 1)) for side in (mine, ~mine)]
        return float(between - np.mean(within))

    return _permuted(len(runs), len(base), statistic)


def figure_p(base: Sequence[float], other: Sequence[float]) -> float | None:
    """Return how likely two sets of runs differ this much in one figure by chance, either way: a permutation of runs.

    Ranks are compared, so that one run on a busy machine decides nothing. None if either has fewer than five.
    """
    if min(len(base), len(other)) < RUNS_MIN:
        return None
    values = _ranks([*base, *other])

    def statistic(chosen: Sequence[int]) -> float:
        mine = np.zeros(len(values), dtype=bool)
        mine[list(chosen)] = True
        return abs(float(values[mine].mean() - values[~mine].mean()))

    return _permuted(len(values), len(base), statistic)


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    """Return the place of each value among all; equal ones share the mean of their places."""
    _, place, often = np.unique(np.asarray(values, dtype=float), return_inverse=True, return_counts=True)
    ends = np.cumsum(often)
    shared: NDArray[np.float64] = (ends - (often - 1) / 2)[place]
    return shared


def _permuted(total: int, size: int, statistic: Callable[[Sequence[int]], float]) -> float:
    """Return the share of all orders, or of many, that give at least what the given one gives."""
    seen = statistic(range(size)) - 1e-12
    if comb(total, size) <= ORDERS_MAX:
        found = [statistic(chosen) >= seen for chosen in combinations(range(total), size)]
        return float(np.mean(found))
    random = np.random.default_rng(SEED)
    hits = sum(statistic(random.permutation(total)[:size].tolist()) >= seen for _ in range(ORDERS_MAX))
    return (hits + 1) / (ORDERS_MAX + 1)


def _variation(here: Sequence[int], there: Sequence[int]) -> float | None:
    one, two = np.asarray(here, dtype=float), np.asarray(there, dtype=float)
    if not one.sum() or not two.sum():
        return None
    return float(np.abs(one / one.sum() - two / two.sum()).sum() / 2)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))
