"""Decides by blocks of log-ratios: is the candidate slower by more than the tolerance, surely not, or is it unknown."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.load.stats.blocks import Floats, joined

Verdict = Literal["PASS", "REGRESSION", "INCONCLUSIVE"]

ALPHA = 0.01
TOLERANCE = 0.03
# What a PASS excludes; a wide tolerance widens it.
EXCLUDED = 0.10
CONFIDENCE = 0.95
POWER = 0.9
# Where a stage finds this nine times of ten, it finds a tenth nearly always.
WANTED = 0.09
RESAMPLES = 2000
# Fewer blocks cannot reject at this level, or not honestly.
BLOCKS_MIN = 8
# The Wilcoxon test needs about 5 % more blocks than a t test where noise is normal, and fewer where it is not.
EFFICIENCY = 3 / math.pi


@dataclass(frozen=True)
class Judged:
    """What the blocks of one metric say.

    `ratio`, `low` and `high` are candidate over base with its confidence interval; `p_values` has one per stage; `mde`
    is the smallest slowdown that a check with this noise finds nine times of ten, infinite if none.
    """

    verdict: Verdict
    ratio: float
    low: float
    high: float
    p_values: tuple[float, ...]
    mde: float
    blocks: int


def rejects(p_value: float) -> bool:
    """Tell whether a stage says that the candidate is slower."""
    return p_value < ALPHA


def slower_p(ratios: Floats, tolerance: float = TOLERANCE) -> float:
    """Return how likely such blocks are if the candidate is slower by the tolerance at most: one-sided Wilcoxon."""
    from scipy.stats import wilcoxon

    shifted = ratios - math.log1p(tolerance)
    shifted = shifted[shifted != 0]
    if len(shifted) < BLOCKS_MIN:
        return 1.0
    if np.ptp(np.abs(shifted)) == 0:
        # Without any spread there are no ranks: each block is a throw of a coin.
        return float(2.0 ** -len(shifted)) if (shifted > 0).all() else 1.0
    return float(wilcoxon(shifted, alternative="greater").pvalue)


def interval(ratios: Floats, seed: int = 0, confidence: float = CONFIDENCE) -> tuple[float, float, float]:
    """Return the middle ratio and its confidence interval, by drawing blocks again and again."""
    if not len(ratios):
        return math.nan, math.nan, math.nan
    random = np.random.default_rng(seed)
    drawn = ratios[random.integers(len(ratios), size=(RESAMPLES, len(ratios)))]
    edges = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.quantile(np.median(drawn, axis=1), edges)
    return math.exp(float(np.median(ratios))), math.exp(float(low)), math.exp(float(high))


def detectable(ratios: Floats, stage_blocks: int, tolerance: float = TOLERANCE, stages: int = 2) -> float:
    """Return the smallest slowdown that a check with so noisy blocks finds with a chance of nine in ten.

    Args:
        ratios: blocks of which the spread is taken.
        stage_blocks: how many of them a stage has.
        tolerance: what the test allows.
        stages: how many stages have to reject.
    """
    from scipy.stats import t

    if len(ratios) < BLOCKS_MIN or stage_blocks < BLOCKS_MIN:
        return math.inf
    error = spread(ratios) / math.sqrt(stage_blocks * EFFICIENCY)
    needed = t.ppf(1 - ALPHA, stage_blocks - 1) + t.ppf(POWER ** (1 / stages), stage_blocks - 1)
    return math.expm1(math.log1p(tolerance) + float(needed) * error)


def is_too_noisy(ratios: Floats, tolerance: float = TOLERANCE) -> bool:
    """Tell whether a stage should go on, because with such noise it would miss what matters.

    Only the spread of the blocks is asked, never where they lie: what a stage is going to say has no part in when it
    ends, so that going on makes no false alarm more likely.
    """
    return detectable(ratios, len(ratios), tolerance) > max(WANTED, 2 * tolerance)


def judge(stages: Sequence[Floats], tolerance: float = TOLERANCE, seed: int = 0) -> Judged:
    """Return the verdict over one metric.

    The second stage is there only if the first rejected. A REGRESSION is what both reject; a PASS is where the upper
    end of the interval over all blocks excludes what matters; what is neither is INCONCLUSIVE.
    """
    p_values = tuple(slower_p(one, tolerance) for one in stages)
    blocks = joined(stages)
    ratio, low, high = interval(blocks, seed)
    per_stage = len(blocks) // max(1, len(stages))
    mde = detectable(blocks, per_stage, tolerance)
    verdict: Verdict = "INCONCLUSIVE"
    if len(p_values) > 1 and all(map(rejects, p_values)):
        verdict = "REGRESSION"
    elif len(blocks) >= BLOCKS_MIN and high < 1 + excluded(tolerance):
        verdict = "PASS"
    return Judged(verdict, ratio, low, high, p_values, mde, len(blocks))


def excluded(tolerance: float) -> float:
    """Return the slowdown that a PASS excludes."""
    return max(EXCLUDED, 2 * tolerance)


def spread(ratios: Floats) -> float:
    """Return the standard deviation as the middle of the blocks shows it; a few wild ones do not count."""
    low, high = np.quantile(ratios, [0.25, 0.75], method="median_unbiased")
    return float((high - low) / 1.349) or float(np.std(ratios))


def more_errors_p(base_errors: int, base_total: int, candidate_errors: int, candidate_total: int) -> float:
    """Return how likely so many more errors are by chance: Fisher's exact test, one-sided."""
    from scipy.stats import fisher_exact

    if not candidate_total or not candidate_errors:
        return 1.0
    answered = [[candidate_errors, candidate_total - candidate_errors], [base_errors, base_total - base_errors]]
    return float(fisher_exact(answered, alternative="greater").pvalue)
