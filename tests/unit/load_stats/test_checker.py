"""Checks the checker: how often it cries wolf, and how often it misses one. Every seed is fixed."""

from pathlib import Path

import numpy as np
import pytest

from harness.load.stats.blocks import PAIRS_MAX, Floats, log_ratios
from harness.load.stats.judge import ALPHA, TOLERANCE, is_too_noisy, judge, rejects, slower_p
from harness.load.stats.simulate import SHARED, Noise, pairs

NOISY = Path(__file__).parent / "noisy.npz"
CHECKS = 2000
# With a rate of 1 %, more than this many of 2000 have a chance of 0.8 %.
FALSE_ALARMS_MAX = 31
PAIRS = 1500
BLOCKS = 30


def rejected(base: Floats, candidate: Floats, tolerance: float) -> np.ndarray:
    """Tell for each row of pairs whether one stage rejects; as `slower_p` does, all rows at once."""
    from scipy.stats import wilcoxon

    size = base.shape[1] // BLOCKS
    middles = [np.median(side.reshape(len(side), BLOCKS, size), axis=2) for side in (base, candidate)]
    shifted = np.log(middles[1] / middles[0]) - np.log1p(tolerance)
    return np.asarray(wilcoxon(shifted, alternative="greater", axis=1).pvalue) < ALPHA


def is_rejected(base: Floats, candidate: Floats, tolerance: float) -> bool:
    """Tell the same of one row, by the functions that verdicts are made with."""
    return rejects(slower_p(log_ratios(base, candidate, len(base) // BLOCKS, 0.5), tolerance))


# Around the tolerance, so that both answers are among them.
@pytest.mark.parametrize("slower", [0.0, 0.05, 0.06, 0.10])
def test_what_is_counted_here_is_what_verdicts_are_made_with(slower: float) -> None:
    base, candidate = pairs(np.random.default_rng(10), 40, PAIRS, slower)
    at_once = rejected(base, candidate, TOLERANCE)
    one_by_one = [is_rejected(*both, TOLERANCE) for both in zip(base, candidate, strict=True)]
    assert at_once.tolist() == one_by_one
    assert slower in (0.0, 0.10) or 0 < at_once.sum() < len(at_once)
    assert not at_once.any() if slower == 0.0 else at_once.any()


def simulated(checks: int, slower: float, tolerance: float, seed: int, noise: Noise = SHARED) -> int:
    random = np.random.default_rng(seed)
    batches = [pairs(random, 100, PAIRS, slower, noise) for _ in range(checks // 100)]
    return int(sum(rejected(base, candidate, tolerance).sum() for base, candidate in batches))


def test_simulated_equals_raise_no_alarm() -> None:
    assert simulated(CHECKS, 0.0, TOLERANCE, seed=1) <= 5
    # Without a tolerance the test has to be wrong as often as it says: it is honest, not merely deaf.
    assert 6 <= simulated(CHECKS, 0.0, 0.0, seed=1) <= FALSE_ALARMS_MAX
    assert simulated(CHECKS, TOLERANCE, TOLERANCE, seed=2) <= FALSE_ALARMS_MAX


def test_a_simulated_tenth_is_found() -> None:
    once = simulated(400, 0.10, TOLERANCE, seed=3) / 400
    # Two stages have to agree.
    assert once**2 >= 0.95


def test_a_faster_candidate_raises_no_alarm() -> None:
    assert simulated(400, -0.10, TOLERANCE, seed=4) == 0


def test_a_machine_that_does_nothing_but_stumble_raises_no_alarm() -> None:
    wild = Noise(jitter=0.6, drift=0.5, interrupted=0.3, heavy=0.8)
    assert simulated(CHECKS, 0.0, TOLERANCE, seed=5, noise=wild) <= FALSE_ALARMS_MAX
    base, candidate = pairs(np.random.default_rng(6), 20, 240, 0.0, wild)
    verdicts = [judge([log_ratios(*both, 12, 0.5)]).verdict for both in zip(base, candidate, strict=True)]
    assert verdicts.count("INCONCLUSIVE") > 10
    assert "REGRESSION" not in verdicts


STUMBLING = Noise(jitter=0.45, drift=0.3, interrupted=0.15, heavy=1.0)


def prolonged(checks: int, slower: float, tolerance: float, seed: int, most: int) -> int:
    """Count stages that reject, of which each goes on while it is too noisy, up to so many helpings."""
    random = np.random.default_rng(seed)
    found = 0
    for _ in range(checks // 50):
        base, candidate = pairs(random, 50, most * PAIRS, slower, STUMBLING)
        blocks = [log_ratios(*both, PAIRS // BLOCKS, 0.5) for both in zip(base, candidate, strict=True)]
        for ratios in blocks:
            helpings = 1
            while helpings < most and is_too_noisy(ratios[: helpings * BLOCKS]):
                helpings += 1
            found += rejects(slower_p(ratios[: helpings * BLOCKS], tolerance))
    return found


def test_going_on_where_it_is_noisy_finds_more_and_raises_no_more_alarms() -> None:
    once, thrice = (prolonged(400, 0.10, TOLERANCE, seed=11, most=most) / 400 for most in (1, 3))
    assert once < 0.9
    assert thrice > 0.95
    # As often as it says without a tolerance, and no more: when it ends is not decided by what it is going to say.
    assert 2 <= prolonged(1000, 0.0, 0.0, seed=12, most=3) <= 20
    assert prolonged(1000, 0.0, TOLERANCE, seed=12, most=3) <= 2


@pytest.fixture(scope="module")
def trace() -> dict[str, Floats]:
    with np.load(NOISY) as found:
        return {name: found[name].astype(np.float64) for name in ("cpu", "wall")}


def windows(random: np.random.Generator, rounds: int, checks: int, length: int = PAIRS) -> np.ndarray:
    starts = random.integers(rounds - length, size=checks)
    return np.asarray(starts[:, None] + np.arange(length))


def relabelled(times: Floats, random: np.random.Generator, checks: int) -> tuple[Floats, Floats]:
    """Return checks of equals: in each round, a coin says which of two equal extenders is the base."""
    chosen = windows(random, len(times), checks)
    coin = random.random(chosen.shape) < 0.5
    one, two = times[:, 0][chosen], times[:, 1][chosen]
    return np.where(coin, one, two), np.where(coin, two, one)


@pytest.mark.parametrize("what", ["cpu", "wall"])
def test_real_noise_raises_alarms_as_rarely_as_promised(trace: dict[str, Floats], what: str) -> None:
    base, candidate = relabelled(trace[what], np.random.default_rng(7), CHECKS)
    assert 0.003 <= rejected(base, candidate, 0.0).mean() <= 0.025
    assert rejected(base, candidate, TOLERANCE).mean() <= 0.003


def test_a_tenth_more_work_is_found_in_real_noise(trace: dict[str, Floats]) -> None:
    times = trace["cpu"]
    chosen = windows(np.random.default_rng(8), len(times), 400, PAIRS_MAX)
    once = rejected(times[:, 0][chosen], times[:, 2][chosen], TOLERANCE).mean()
    assert once**2 >= 0.95


def test_the_tail_of_a_shared_machine_tells_nothing(trace: dict[str, Floats]) -> None:
    """The reason why wall p99 is shown and never gated: a tenth more work does not show in it."""
    times = trace["wall"]
    random = np.random.default_rng(9)
    found = 0
    for chosen in windows(random, len(times), 50):
        ratios = log_ratios(times[chosen, 0], times[chosen, 2], PAIRS // BLOCKS, 0.99)
        found += judge([ratios]).p_values[0] < ALPHA
    assert found < 25
