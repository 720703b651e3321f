import numpy as np
import pytest

from harness.load.stats.blocks import BLOCKS, BLOCKS_FEW, PAIRS_MAX, PAIRS_MIN, Floats, joined, log_ratios, plan


def numbers(*values: float) -> Floats:
    return np.array(values, dtype=np.float64)


def test_a_block_is_compared_by_its_quantiles() -> None:
    base = numbers(1, 2, 3, 10, 20, 30)
    candidate = numbers(2, 4, 6, 5, 10, 15)
    assert np.exp(log_ratios(base, candidate, 3, 0.5)) == pytest.approx([2.0, 0.5])
    assert np.exp(log_ratios(base, candidate, 3, 1.0)) == pytest.approx([2.0, 0.5])


def test_what_fills_no_block_is_left_out() -> None:
    assert len(log_ratios(np.ones(7), np.ones(7), 3, 0.5)) == 2
    assert len(log_ratios(np.ones(2), np.ones(2), 3, 0.5)) == 0


def test_a_pair_with_a_failed_side_counts_for_neither() -> None:
    nothing = np.nan
    base, candidate = numbers(1, nothing, 1, 1), numbers(2, 9, 2, nothing)
    assert np.exp(log_ratios(base, candidate, 4, 0.5)) == pytest.approx([2.0])
    mostly_failed = numbers(1, nothing, nothing, nothing)
    assert len(log_ratios(mostly_failed, mostly_failed, 4, 0.5)) == 0


def test_a_clock_that_stands_still_is_no_measurement() -> None:
    assert np.isfinite(log_ratios(numbers(0, 1, 1, 1), numbers(1, 1, 1, 0), 4, 0.5)).all()
    assert len(log_ratios(np.zeros(4), np.zeros(4), 4, 0.5)) == 0


def test_unequal_sides_are_refused() -> None:
    with pytest.raises(ValueError, match="as many of the one as of the other"):
        log_ratios(np.ones(4), np.ones(3), 2, 0.5)
    with pytest.raises(ValueError, match="at least 1"):
        log_ratios(np.ones(4), np.ones(4), 0, 0.5)


@pytest.mark.parametrize(
    ("budget", "seconds", "pairs", "blocks"),
    [(15, 0.001, PAIRS_MAX, BLOCKS), (1.5, 0.001, 1500, BLOCKS), (15, 10, 105, BLOCKS_FEW), (15, 0, PAIRS_MAX, BLOCKS)],
)
def test_a_budget_is_kept_within_bounds(budget: float, seconds: float, pairs: int, blocks: int) -> None:
    total, size = plan(budget, seconds)
    assert (total, total // size) == (pairs, blocks)
    # Shared by three starts, no block reaches over one.
    assert total % (3 * size) == 0
    assert total > PAIRS_MIN - blocks


def test_blocks_of_no_stage_are_none() -> None:
    assert len(joined([])) == 0
