"""Compares starts of now with starts of another time, both of which are ratios to the same yardstick.

What two programs cost beside each other differs more from start to start than from block to block: where their memory
lies, who else uses the machine. Two that run side by side share much of that; two of different times share nothing. So
a start counts once here, with the middle of its blocks, however many blocks it has. And what comes and goes more slowly
than starts follow each other, such as a neighbour who works for minutes, is the same in all starts of a run and shows
in none of its spread. On a shared machine, runs of the same programs differed by about three quarters of what starts
do; so all starts of a run together are worth no more than two.
"""

import math
from collections.abc import Sequence

import numpy as np

from harness.load.stats.blocks import Floats, joined
from harness.load.stats.judge import ALPHA, CONFIDENCE, POWER, Judged, Verdict, excluded, rejects

Starts = Sequence[Floats]
# Fewer starts tell nothing about how much starts differ.
STARTS_MIN = 3
# So many independent starts are worth as much as a run of infinitely many. Chosen from 22 runs of one machine; 30 later
# checks agree with it, machines of another sort were not tried.
RUN_WORTH = 2.0


def slower_than_p(now: Floats, then: Floats, tolerance: float) -> float:
    """Return how likely such starts are if it got slower by the tolerance at most: one-sided, Welch's t test.

    Args:
        now: what each start came to.
        then: the same, of the other time.
        tolerance: the slowdown that is accepted.
    """
    from scipy.special import stdtr

    if min(len(now), len(then)) < STARTS_MIN:
        return 1.0
    shift, error, freedom = _difference(now, then)
    over = shift - math.log1p(tolerance)
    if error == 0:
        # Without any spread, what is seen is so.
        return 0.0 if over > 0 else 1.0
    return float(stdtr(freedom, -over / error))


def judge_against(before: Starts, stages: Sequence[Starts], tolerance: float) -> Judged:
    """Return the verdict over one metric, by the same rules as between two that run side by side.

    Both stages are compared with the same starts of then, so that the second does not square the chance of an alarm: it
    is that of the first at most.
    """
    then, each = middles(before), [middles(one) for one in stages]
    p_values = tuple(slower_than_p(one, then, tolerance) for one in each)
    now = joined(each)
    blocks = sum(len(start) for one in stages for start in one)
    if min(len(now), len(then)) < STARTS_MIN:
        return Judged("INCONCLUSIVE", math.nan, math.nan, math.nan, p_values, math.inf, blocks)
    shift, error, freedom = _difference(now, then)
    low, high = _edges(shift, error, freedom)
    verdict: Verdict = "INCONCLUSIVE"
    if len(p_values) > 1 and all(map(rejects, p_values)):
        verdict = "REGRESSION"
    elif high < 1 + excluded(tolerance):
        verdict = "PASS"
    mde = _detectable(now, then, len(now) // len(stages), tolerance)
    return Judged(verdict, math.exp(shift), low, high, p_values, mde, blocks)


def interval_of(starts: Starts) -> tuple[float, float, float]:
    """Return the ratio over some starts with the confidence interval that their spread gives; no numbers if too few."""
    if len(starts) < STARTS_MIN:
        return math.nan, math.nan, math.nan
    each = middles(starts)
    low, high = _edges(float(np.mean(each)), math.sqrt(_doubt(each, len(each))), len(each) - 1)
    return math.exp(float(np.mean(each))), low, high


def middles(starts: Starts) -> Floats:
    """Return what each start came to."""
    return np.array([np.median(one) for one in starts], dtype=np.float64)


def _difference(now: Floats, then: Floats) -> tuple[float, float, float]:
    """Return the shift of the logarithms, its standard error, and the degrees of freedom by Welch and Satterthwaite."""
    parts = [_doubt(one, len(one)) for one in (now, then)]
    error = math.sqrt(sum(parts))
    spreads = sum(part**2 / (len(one) - 1) for part, one in zip(parts, (now, then), strict=True))
    freedom = sum(parts) ** 2 / spreads if spreads > 0 else 1.0
    return float(np.mean(now) - np.mean(then)), error, freedom


def _doubt(each: Floats, starts: int) -> float:
    """Return the variance of what a run of so many starts comes to, starts being as far from each other as these."""
    return float(np.var(each, ddof=1)) * (1 / starts + 1 / RUN_WORTH)


def _edges(middle: float, error: float, freedom: float) -> tuple[float, float]:
    from scipy.special import stdtrit

    reach = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * error
    return math.exp(middle - reach), math.exp(middle + reach)


def _detectable(now: Floats, then: Floats, stage_starts: int, tolerance: float) -> float:
    from scipy.special import stdtrit

    error = math.sqrt(_doubt(now, stage_starts) + _doubt(then, len(then)))
    freedom = stage_starts - 1
    needed = float(stdtrit(freedom, 1 - ALPHA) + stdtrit(freedom, math.sqrt(POWER)))
    return math.expm1(math.log1p(tolerance) + needed * error)
