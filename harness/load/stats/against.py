"""Compares blocks of now with blocks of another time, both of which are ratios to the same yardstick."""

import math
from collections.abc import Sequence

import numpy as np

from harness.load.stats.blocks import Floats, joined
from harness.load.stats.judge import (
    ALPHA,
    BLOCKS_MIN,
    CONFIDENCE,
    EFFICIENCY,
    POWER,
    RESAMPLES,
    Judged,
    Verdict,
    excluded,
    rejects,
    spread,
)


def slower_than_p(now: Floats, then: Floats, tolerance: float) -> float:
    """Return how likely such blocks are if it got slower by the tolerance at most: one-sided Mann-Whitney."""
    from scipy.stats import mannwhitneyu

    if min(len(now), len(then)) < BLOCKS_MIN:
        return 1.0
    return float(mannwhitneyu(now - math.log1p(tolerance), then, alternative="greater").pvalue)


def judge_against(then: Floats, stages: Sequence[Floats], tolerance: float, seed: int = 0) -> Judged:
    """Return the verdict over one metric, by the same rules as between two that run side by side."""
    p_values = tuple(slower_than_p(one, then, tolerance) for one in stages)
    now = joined(stages)
    if min(len(now), len(then)) < BLOCKS_MIN:
        return Judged("INCONCLUSIVE", math.nan, math.nan, math.nan, p_values, math.inf, len(now))
    random = np.random.default_rng(seed)
    drawn = [np.median(one[random.integers(len(one), size=(RESAMPLES, len(one)))], axis=1) for one in (now, then)]
    edges = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    low, high = (math.exp(float(edge)) for edge in np.quantile(drawn[0] - drawn[1], edges))
    ratio = math.exp(float(np.median(now) - np.median(then)))
    verdict: Verdict = "INCONCLUSIVE"
    if len(p_values) > 1 and all(map(rejects, p_values)):
        verdict = "REGRESSION"
    elif high < 1 + excluded(tolerance):
        verdict = "PASS"
    mde = _detectable(now, then, len(now) // len(stages), tolerance)
    return Judged(verdict, ratio, low, high, p_values, mde, len(now))


def _detectable(now: Floats, then: Floats, stage_blocks: int, tolerance: float) -> float:
    from scipy.stats import norm

    error = math.sqrt((spread(now) ** 2 / stage_blocks + spread(then) ** 2 / len(then)) / EFFICIENCY)
    needed = float(norm.ppf(1 - ALPHA) + norm.ppf(math.sqrt(POWER)))
    return math.expm1(math.log1p(tolerance) + needed * error)
