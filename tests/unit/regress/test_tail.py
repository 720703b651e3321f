"""The gate of the tail: what only a few requests cost shows in cpu p99 and nowhere else."""

import numpy as np

from harness.load.regress.corpus import Cell
from harness.load.regress.decide import TAIL_PAIRS_MIN, decide, gated, is_suspect
from harness.load.regress.pairs import Draft, Pairs
from harness.load.stats.blocks import PAIRS_MAX, plan
from harness.load.stats.simulate import Noise, pairs

CELL = Cell("filter", 3, "names", (b"{}",))
# Processor time as it is read from a process's clock: work differs, and hardly anybody interrupts.
READ = Noise(jitter=0.2, drift=0.05, interrupted=0.002, pause=0.2)
STARTS = 3


def measured(seed: int, tail: float, count: int = PAIRS_MAX) -> Pairs:
    """Pairs of two that do the same, but for a share of the candidate's requests with three times the work."""
    random = np.random.default_rng(seed)
    (base,), (candidate,) = pairs(random, 1, count, noise=READ)
    candidate = np.where(random.random(count) < tail, 3 * candidate, candidate)
    _, size = plan(1.0, 1.0 / count)
    draft = Draft()
    for number, (one, other) in enumerate(zip(base, candidate, strict=True)):
        restart = number * STARTS // count
        draft.rows.append((one, one, 0, 0.0, other, other, 0, 0.0, restart, True, 0, float(number)))
    return draft.finished(size)


def test_a_tail_is_rejected_by_the_tail_alone() -> None:
    found = decide(CELL, [measured(1, 0.02), measured(2, 0.02)])
    assert {one.metric: one.verdict for one in found.metrics if one.verdict} == {
        "cpu p50": "PASS",
        "cpu p99": "REGRESSION",
        "wall p50": "PASS",
    }
    assert found.verdict == "REGRESSION"
    assert not found.ok


def test_a_tail_calls_for_a_second_stage_and_equals_do_not() -> None:
    assert sum(is_suspect(measured(seed, 0.02)) for seed in range(20)) >= 18
    assert not any(is_suspect(measured(seed, 0.0)) for seed in range(20))


def test_a_tail_that_one_stage_alone_saw_is_no_regression() -> None:
    assert decide(CELL, [measured(1, 0.02), measured(2, 0.0)]).verdict == "PASS"


def test_too_few_pairs_have_no_tail() -> None:
    few = measured(1, 0.02, TAIL_PAIRS_MIN - 30)
    assert "cpu p99" not in gated(few)
    assert "cpu p99" in gated(measured(1, 0.02, TAIL_PAIRS_MIN))
    assert not is_suspect(few)
