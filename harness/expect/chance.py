"""Exact bounds for what is left to chance: how far a count may stray before luck is no explanation any more."""

from collections.abc import Iterator
from itertools import count
from math import exp, lgamma, log


def attempts_bounds(successes: int, chance: float, false_alarms: float) -> tuple[int, int]:
    """Return the fewest and most attempts that luck explains until so many have succeeded.

    The number of failures before the n-th success has the negative binomial distribution; its exact tails are cut so
    that at most `false_alarms` of all lucky runs fall outside.
    """

    def probabilities() -> Iterator[float]:
        for failures in count():
            ways = lgamma(failures + successes) - lgamma(successes) - lgamma(failures + 1)
            yield exp(ways + successes * log(chance) + (failures * log(1 - chance) if failures else 0.0))

    low, high = _cut(probabilities(), false_alarms)
    return successes + low, successes + high


def binomial_bounds(trials: int, chance: float, false_alarms: float) -> tuple[int, int]:
    """Return the fewest and most successes in so many trials that luck explains."""

    def probabilities() -> Iterator[float]:
        for successes in range(trials + 1):
            ways = lgamma(trials + 1) - lgamma(successes + 1) - lgamma(trials - successes + 1)
            yield exp(ways + successes * log(chance) + (trials - successes) * log(1 - chance))

    low, high = _cut(probabilities(), false_alarms)
    return low, min(high, trials)


def _cut(probabilities: Iterator[float], false_alarms: float) -> tuple[int, int]:
    """Return the first and last value that stay when at most half of the false alarms is cut off at either end."""
    tail = false_alarms / 2
    below = 0.0
    low = -1
    for value, probability in enumerate(probabilities):
        below += probability
        if low < 0 and below > tail:
            low = value
        if below >= 1 - tail:
            return low, value
    return max(low, 0), value
