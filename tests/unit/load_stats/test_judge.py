import math

import numpy as np
import pytest

from harness.load.stats.judge import (
    BLOCKS_MIN,
    detectable,
    excluded,
    interval,
    judge,
    more_errors_p,
    rejects,
    slower_p,
)


def blocks(middle: float, spread: float = 0.02, count: int = 30, seed: int = 1) -> np.ndarray:
    noise = np.random.default_rng(seed).standard_normal(count)
    return np.asarray(math.log(middle) + spread * (noise - np.median(noise)))


def test_a_slower_candidate_is_a_regression_only_if_both_stages_say_so() -> None:
    slow, same = blocks(1.10), blocks(1.0)
    assert judge([slow, blocks(1.10, seed=2)]).verdict == "REGRESSION"
    assert judge([slow]).verdict == "INCONCLUSIVE"
    assert judge([slow, same]).verdict == "PASS"
    assert judge([same]).verdict == "PASS"


def test_a_faster_candidate_passes() -> None:
    found = judge([blocks(0.7)])
    assert (found.verdict, round(found.ratio, 2)) == ("PASS", 0.7)


def test_what_is_within_the_tolerance_passes() -> None:
    assert judge([blocks(1.02)]).verdict == "PASS"
    assert judge([blocks(1.10), blocks(1.10)], tolerance=0.15).verdict == "PASS"


def test_too_much_noise_is_inconclusive_and_says_what_it_could_have_found() -> None:
    found = judge([blocks(1.0, spread=0.5)])
    assert found.verdict == "INCONCLUSIVE"
    assert found.mde > 0.3


def test_identical_numbers_pass_without_a_word() -> None:
    found = judge([np.zeros(30)])
    assert (found.verdict, found.ratio, found.low, found.high) == ("PASS", 1.0, 1.0, 1.0)
    assert found.p_values == (1.0,)
    assert found.mde == pytest.approx(0.03)


def test_equal_blocks_that_are_slower_are_a_regression() -> None:
    equal = np.full(30, math.log(1.2))
    assert judge([equal, equal]).verdict == "REGRESSION"
    assert slower_p(np.full(30, math.log1p(0.03))) == 1.0


def test_ties_are_no_trouble() -> None:
    tied = np.repeat([math.log(1.09), math.log(1.10), math.log(1.11)], 10)
    assert rejects(slower_p(tied))
    assert not rejects(slower_p(np.repeat([-0.01, 0.0, 0.01], 10)))


def test_too_few_blocks_decide_nothing() -> None:
    few = np.full(BLOCKS_MIN - 1, math.log(2))
    found = judge([few, few[:0]])
    assert found.verdict != "REGRESSION"
    assert judge([np.empty(0)]).verdict == "INCONCLUSIVE"
    assert math.isnan(judge([np.empty(0)]).ratio)
    assert math.isinf(judge([few]).mde)


def test_stages_need_not_have_as_many_blocks() -> None:
    assert judge([blocks(1.1), blocks(1.1, count=17)]).verdict == "REGRESSION"


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    held = 0
    for seed in range(400):
        noise = np.random.default_rng(seed).standard_normal(30) * 0.05
        _, low, high = interval(noise + math.log(1.05), seed)
        held += low <= 1.05 <= high
    assert 0.90 <= held / 400 <= 0.99


def test_what_is_said_to_be_found_is_found_nine_times_of_ten() -> None:
    spread, count, checks = 0.05, 30, 400
    random = np.random.default_rng(5)
    said = float(np.median([detectable(random.standard_normal(count) * spread, count) for _ in range(50)]))
    found = 0
    for _ in range(checks):
        stages = [math.log1p(said) + random.standard_normal(count) * spread for _ in range(2)]
        found += all(rejects(slower_p(one)) for one in stages)
    assert 0.84 <= found / checks <= 0.96


def test_a_wide_tolerance_widens_what_a_pass_excludes() -> None:
    assert excluded(0.03) == 0.10
    assert excluded(0.2) == 0.4


def test_more_errors_are_told_from_chance() -> None:
    assert more_errors_p(0, 1500, 1, 1500) == pytest.approx(0.5)
    assert more_errors_p(0, 1500, 15, 1500) < 0.001
    assert more_errors_p(15, 1500, 15, 1500) > 0.4
    assert more_errors_p(30, 1500, 0, 1500) == 1.0
    assert more_errors_p(0, 0, 0, 0) == 1.0
