"""The bounds are compared with sums of exact fractions, which know no rounding."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import accumulate, count
from math import comb

import pytest

from harness.expect.chance import attempts_bounds, binomial_bounds

# What rounding may add to a share that is cut off exactly.
ROUNDING = Fraction(1, 10**12)


def binomial(trials: int, chance: float) -> Iterator[Fraction]:
    hit = Fraction(chance)
    return (comb(trials, hits) * hit**hits * (1 - hit) ** (trials - hits) for hits in range(trials + 1))


def failures(successes: int, chance: float) -> Iterator[Fraction]:
    hit = Fraction(chance)
    return (comb(lost + successes - 1, lost) * hit**successes * (1 - hit) ** lost for lost in count())


def exact(probabilities: Iterator[Fraction], false_alarms: float) -> tuple[int, int]:
    """Return the tightest bounds that leave at most half of the false alarms on either side."""
    tail = Fraction(false_alarms) / 2
    low = -1
    for value, below in enumerate(accumulate(probabilities)):
        if low < 0 and below > tail:
            low = value
        if 1 - below <= tail:
            return low, value
    raise AssertionError("probabilities add up to one")


def outside(probabilities: Iterator[Fraction], low: int, high: int) -> Fraction:
    inside = sum((one for value, one in zip(range(high + 1), probabilities, strict=False) if value >= low), Fraction())
    return 1 - inside


SHARES = [0.3, 0.05, 1e-3, 1e-6, 1e-9]


@pytest.mark.parametrize("false_alarms", SHARES)
@pytest.mark.parametrize("chance", [0.1, 0.5, 0.875, 0.999])
@pytest.mark.parametrize("trials", [1, 7, 60, 300])
def test_bounds_of_a_share_are_exact(trials: int, chance: float, false_alarms: float) -> None:
    assert binomial_bounds(trials, chance, false_alarms) == exact(binomial(trials, chance), false_alarms)


@pytest.mark.parametrize("false_alarms", SHARES)
@pytest.mark.parametrize("chance", [0.25, 0.5, 0.875, 0.999])
@pytest.mark.parametrize("successes", [1, 3, 20])
def test_bounds_of_attempts_are_exact(successes: int, chance: float, false_alarms: float) -> None:
    low, high = exact(failures(successes, chance), false_alarms)
    assert attempts_bounds(successes, chance, false_alarms) == (successes + low, successes + high)


@pytest.mark.parametrize("false_alarms", [0.5, 0.05, 1e-6])
@pytest.mark.parametrize("number", [2, 16, 41])
def test_luck_leaves_the_bounds_no_more_often_than_was_asked(number: int, false_alarms: float) -> None:
    """One half as a chance makes tails that are as large as the share itself: rounding must not cut those off twice."""
    allowed = Fraction(false_alarms) + ROUNDING
    assert outside(binomial(number, 0.5), *binomial_bounds(number, 0.5, false_alarms)) <= allowed
    low, high = attempts_bounds(number, 0.5, false_alarms)
    assert outside(failures(number, 0.5), low - number, high - number) <= allowed


@pytest.mark.parametrize("bounds", [binomial_bounds, attempts_bounds])
def test_fewer_false_alarms_need_wider_bounds(bounds: Callable[..., tuple[int, int]]) -> None:
    widths = [high - low for low, high in (bounds(200, 0.5, share) for share in SHARES)]
    assert widths == sorted(set(widths))


def test_bounds_of_a_fair_coin_are_symmetric_however_often_it_is_thrown() -> None:
    for trials in (1_000, 100_000):
        low, high = binomial_bounds(trials, 0.5, 1e-6)
        assert low == trials - high
        assert low < trials / 2 < high


def test_what_is_certain_leaves_nothing_to_chance() -> None:
    assert binomial_bounds(0, 0.5, 1e-6) == (0, 0)
    assert attempts_bounds(1, 1.0, 1e-6) == (1, 1)
    assert attempts_bounds(20, 1 - 1e-12, 1e-6) == (20, 20)
    assert binomial_bounds(20, 1 - 1e-12, 1e-6) == (20, 20)
    assert binomial_bounds(20, 1e-12, 1e-6) == (0, 0)


def test_bounds_never_leave_what_is_possible() -> None:
    assert binomial_bounds(3, 0.5, 1e-6) == (0, 3)
    assert attempts_bounds(3, 0.5, 1e-6)[0] == 3
