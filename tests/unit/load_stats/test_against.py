"""Checks of a baseline, made up with what a shared machine does to them: runs, starts and blocks differ."""

import math

import numpy as np
import pytest

from harness.load.stats.against import STARTS_MIN, interval_of, judge_against, middles, slower_than_p
from harness.load.stats.blocks import Floats
from harness.load.stats.judge import Judged, rejects

TOLERANCE = 0.05
STARTS = 6
CHECKS = 1000
# With a rate of 1 %, more than this many of 1000 have a chance of 0.7 %.
FALSE_ALARMS_MAX = 18
# How far runs, starts and blocks lie apart, as standard deviations of logarithms; the first as measured live.
NOISY = (0.10, 0.14, 0.05)
CALM = (0.01, 0.015, 0.03)

Run = list[list[Floats]]


def run(random: np.random.Generator, noise: tuple[float, float, float], slower: float = 0.0) -> Run:
    """Return two stages of a run, each with its starts."""
    own = math.log1p(slower) + noise[0] * random.standard_normal()
    return [
        [own + noise[1] * random.standard_normal() + noise[2] * random.standard_normal(5) for _ in range(STARTS)]
        for _ in range(2)
    ]


def checked(then: Run, now: Run) -> Judged:
    """Return the verdict as a check comes to it: a second stage only if the first rejects."""
    starts = [start for stage in then for start in stage]
    first = judge_against(starts, now[:1], TOLERANCE)
    return judge_against(starts, now, TOLERANCE) if rejects(first.p_values[0]) else first


def checks(count: int, noise: tuple[float, float, float], slower: float, seed: int) -> list[Judged]:
    random = np.random.default_rng(seed)
    return [checked(run(random, noise), run(random, noise, slower)) for _ in range(count)]


def verdicts(count: int, noise: tuple[float, float, float], slower: float, seed: int) -> list[str]:
    return [one.verdict for one in checks(count, noise, slower, seed)]


@pytest.mark.parametrize("noise", [NOISY, CALM])
def test_equals_of_two_times_raise_no_alarm(noise: tuple[float, float, float]) -> None:
    assert verdicts(CHECKS, noise, 0.0, seed=1).count("REGRESSION") <= CHECKS // 100
    assert verdicts(CHECKS, noise, TOLERANCE, seed=2).count("REGRESSION") <= FALSE_ALARMS_MAX


@pytest.mark.parametrize("noise", [NOISY, CALM])
def test_the_interval_holds_what_is_true(noise: tuple[float, float, float]) -> None:
    held = [one.low <= 1.2 <= one.high for one in checks(200, noise, 0.2, seed=3)]
    assert sum(held) / len(held) >= 0.90


def test_a_large_slowdown_is_found_in_spite_of_the_noise() -> None:
    assert verdicts(200, NOISY, 1.5, seed=4).count("REGRESSION") >= 190
    assert verdicts(200, CALM, 0.2, seed=5).count("REGRESSION") >= 190


def test_a_calm_machine_decides_and_a_noisy_one_says_that_it_cannot() -> None:
    assert verdicts(200, CALM, 0.0, seed=6).count("PASS") >= 190
    noisy = checks(200, NOISY, 0.0, seed=6)
    assert [one.verdict for one in noisy].count("INCONCLUSIVE") >= 175
    assert np.median([one.mde for one in noisy]) > 0.5
    assert np.median([one.mde for one in checks(200, CALM, 0.0, seed=6)]) < 0.2


def test_what_is_said_to_be_found_is_found() -> None:
    said = float(np.median([one.mde for one in checks(100, CALM, 0.0, seed=7)]))
    assert verdicts(200, CALM, said, seed=8).count("REGRESSION") >= 180


def even(middle: float, starts: int = STARTS) -> list[Floats]:
    return [np.full(5, math.log(middle) + 0.001 * number) for number in range(starts)]


def test_blocks_of_one_start_count_once() -> None:
    """A start that is far off is one of twelve, however many blocks it has."""
    then, now = [*even(3.0), *even(3.0)], even(3.0)
    alone = judge_against(then, [now], TOLERANCE)
    now[0] = np.full(5000, math.log(9.0))
    far = judge_against(then, [now], TOLERANCE)
    assert (alone.verdict, far.verdict) == ("PASS", "INCONCLUSIVE")
    assert far.blocks == 5025


def test_both_stages_have_to_reject() -> None:
    then = [*even(3.0), *even(3.0)]
    assert judge_against(then, [even(3.45), even(3.45)], TOLERANCE).verdict == "REGRESSION"
    assert judge_against(then, [even(3.45), even(3.0)], TOLERANCE).verdict != "REGRESSION"
    assert judge_against(then, [even(3.45)], TOLERANCE).verdict == "INCONCLUSIVE"


def test_too_few_starts_decide_nothing() -> None:
    few = even(9.0, STARTS_MIN - 1)
    for then, now in ((few, even(9.0)), (even(1.0), few), (even(1.0), [])):
        found = judge_against(then, [now], TOLERANCE)
        assert (found.verdict, math.isinf(found.mde)) == ("INCONCLUSIVE", True)
        assert math.isnan(found.ratio)
    assert all(map(math.isnan, interval_of(few)))


def test_starts_without_any_spread_are_no_trouble() -> None:
    same = [np.zeros(5)] * STARTS
    assert slower_than_p(middles(same), middles(same), TOLERANCE) == 1.0
    assert slower_than_p(middles(same) + 1.0, middles(same), TOLERANCE) == 0.0
    found = judge_against(same, [same], TOLERANCE)
    assert (found.verdict, found.low, found.high) == ("PASS", 1.0, 1.0)
    assert interval_of(same) == (1.0, 1.0, 1.0)
