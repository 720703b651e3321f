from typing import Any

import numpy as np
import pytest

from harness.load import samples
from harness.load.measure import Case, Run, results
from harness.load.samples import Samples
from harness.load.schedule import Plan
from harness.record.load import LoadResult
from tests.unit.load import given
from tests.unit.load.given import IDLE, NOTHING, case


def made(latency_ms: Any, *, lag_ms: Any = 0.0, outcome: Any = samples.OK, status: int = 200) -> Samples:
    """Return samples of ten seconds at equal distances."""
    latency = np.asarray(latency_ms, dtype=float)
    intended = np.arange(len(latency)) * 10.0 / len(latency)
    return given.made(
        intended, latency / 1000, lag=np.asarray(lag_ms, dtype=float) / 1000, outcome=outcome, status=status
    )


def result(main: Samples, asked: Case | None = None, **run: Any) -> LoadResult:
    worker = {**IDLE, **run.pop("worker", {})}
    seen = Run(main, run.pop("floor", NOTHING), [worker], [], **{"ended": "complete", **run})
    (one,) = results(asked or case(), seen, [(0.0, 10.0, 200.0)])
    return one


def test_percentiles_are_values_that_were_seen() -> None:
    one = result(made(np.arange(1, 1001)))
    assert (one.p50_ms, one.p90_ms, one.p95_ms, one.p99_ms, one.max_ms) == pytest.approx((500, 900, 950, 990, 1000))
    assert (one.requests, one.errors) == (1000, 0)
    assert one.mean_ms == pytest.approx(500.5)


def test_latency_counts_from_the_intended_start_and_service_from_the_send() -> None:
    one = result(made([50.0] * 1000, lag_ms=40.0))
    assert one.p99_ms == pytest.approx(50)
    assert one.service_p99_ms == pytest.approx(10)
    assert one.lag_p99_ms == pytest.approx(40)


def test_the_warm_up_is_cut_off_and_counted() -> None:
    slow_first = np.where(np.arange(1000) < 200, 900.0, 1.0)
    one = result(made(slow_first), case(warmup_seconds=2.0))
    assert one.max_ms == pytest.approx(1.0)
    assert (one.requests, one.warmup_cut) == (800, 200)


def test_a_request_that_hangs_from_the_warm_up_on_is_not_cut_off_with_it() -> None:
    stuck = made([1.0, 5000.0], outcome=[samples.OK, samples.TIMEOUT])
    stuck.columns["intended"][:] = [0.1, 0.9]
    stuck.columns["done"][:] = [0.101, 5.9]
    one = result(stuck, case("closed", warmup_seconds=1.0))
    assert (one.requests, one.errors, one.error_kinds) == (1, 1, {"timeout": 1})


def test_quick_failures_make_no_percentile_better_and_slow_ones_are_in_it() -> None:
    outcome = np.array([samples.OK] * 900 + [samples.STATUS] * 50 + [samples.TIMEOUT] * 50)
    latency = np.array([10.0] * 900 + [0.1] * 50 + [5000.0] * 50)
    one = result(made(latency, outcome=outcome))
    assert one.errors == 100
    assert one.error_kinds == {"status": 50, "timeout": 50}
    assert one.p50_ms == pytest.approx(10)
    assert one.p99_ms == pytest.approx(5000)


@pytest.mark.parametrize(
    ("latency", "lag", "limited"),
    [(1.0, 1.9, False), (3.0, 2.1, True), (100.0, 9.0, False), (100.0, 11.0, True)],
)
def test_late_requests_are_the_generators_doing(latency: float, lag: float, limited: bool) -> None:
    one = result(made([latency] * 1000, lag_ms=lag))
    assert one.generator_limited is limited
    assert any("left late" in note for note in one.notes) is limited


@pytest.mark.parametrize(
    ("changes", "asked", "limited"),
    [
        ({"cpu_seconds": 0.6}, case(), True),
        ({"cpu_seconds": 0.4}, case(), False),
        ({"cpu_seconds": 0.9}, case("closed"), False),
        ({"cpu_seconds": 0.9}, case("closed", schedulers=2), True),
        ({"unsent": 1}, case(), True),
    ],
)
def test_a_busy_generator_is_told(changes: dict[str, Any], asked: Case, limited: bool) -> None:
    assert result(made([5.0] * 2000), asked, worker=changes).generator_limited is limited


def test_what_was_not_sent_to_a_dead_extender_is_not_the_generators_doing() -> None:
    one = result(made([5.0] * 2000), worker={"unsent": 7}, ended="died")
    assert (one.generator_limited, one.unsent, one.ended) == (False, 7, "died")


def test_missing_descriptors_are_the_generators_doing() -> None:
    one = result(made([1.0] * 100, outcome=[samples.OK] * 90 + [samples.NO_DESCRIPTORS] * 10))
    assert one.generator_limited
    assert one.errors == 10


def test_a_result_near_the_floor_says_so() -> None:
    assert any("near the floor" in note for note in result(made([1.5] * 1000), floor=made([1.0] * 100)).notes)
    assert not any("near the floor" in note for note in result(made([3.0] * 1000), floor=made([1.0] * 100)).notes)


def test_a_run_without_samples_is_a_result_too() -> None:
    one = result(NOTHING, ended="generator-failed", notes=("why",))
    assert (one.requests, one.p99_ms, one.ended) == (0, None, "generator-failed")
    assert "why" in one.notes
    assert LoadResult.from_json(one.to_json()) == one


def test_verbs_are_told_apart() -> None:
    main = made([1.0, 9.0] * 500)
    main.columns["verb"][1::2] = 1
    run = Run(main, NOTHING, [IDLE], [], "complete")
    both = results(case(verbs=("filter", "prioritize")), run, [(0.0, 10.0, 200.0)])
    assert [(one.verb, one.rate) for one in both] == [("filter", 100.0), ("prioritize", 100.0)]
    assert [one.p50_ms for one in both] == pytest.approx([1, 9])


@pytest.mark.parametrize(("ended", "rate", "requests"), [("complete", 200.0, 400), ("died", 150.0, 150)])
def test_the_rate_of_a_ramp_is_that_of_the_time_that_counts(ended: str, rate: float, requests: int) -> None:
    plan = Plan("ramp", (100.0, 300.0), 2.0, warmup_seconds=2.0)
    intended = plan.offsets()
    if ended == "died":
        intended = intended[intended < 3.0]
    run = Run(given.made(intended, np.full(len(intended), 0.001)), NOTHING, [IDLE], [], ended)
    (one,) = results(case(plan=plan, warmup_seconds=2.0), run, plan.segments())
    assert one.rate == pytest.approx(rate, rel=0.02)
    assert one.requests == pytest.approx(requests, abs=2)
    assert one.warmup_cut == 200


@pytest.mark.parametrize(
    ("latency_ms", "lag_ms", "who"),
    [
        (300.0, 0.0, ""),
        (np.linspace(0, 2000, 1000), 0.0, "extender"),
        (np.linspace(0, 2000, 1000), np.linspace(0, 2000, 1000), "generator"),
        # Below a twentieth.
        (np.linspace(0, 400, 1000), 0.0, ""),
        # One freeze at the end is no queue that grows.
        (np.where(np.arange(1000) < 800, 1.0, 1000.0), 0.0, ""),
        (np.random.default_rng(0).exponential(2000, 1000), 0.0, ""),
    ],
)
def test_answers_fall_behind_only_if_they_come_later_and_later(latency_ms: Any, lag_ms: Any, who: str) -> None:
    one = result(made(np.broadcast_to(latency_ms, 1000), lag_ms=lag_ms))
    assert one.falls_behind == who


def test_a_constant_latency_does_not_lower_the_rate_that_was_achieved() -> None:
    assert result(made([3000.0] * 2000)).achieved_rate == pytest.approx(200)


def test_answers_that_are_all_failures_are_no_silence() -> None:
    failed = result(made([5.0] * 60, outcome=samples.REPLY_ERROR))
    assert "every answer of the measured time was a failure; percentiles are of good answers only" in failed.notes
    silent = result(made([5.0] * 60, outcome=samples.RESET))
    assert "no request of the measured time was answered" in silent.notes


def test_a_backlog_lowers_the_rate_that_was_achieved() -> None:
    one = result(made(np.linspace(0, 10_000, 1000)))
    assert one.achieved_rate == pytest.approx(50, rel=0.02)
