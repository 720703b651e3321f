from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from harness.load import samples
from harness.load.measure import Case, Run, results
from harness.load.samples import Samples
from harness.load.schedule import Plan
from harness.record.load import LoadResult
from tests.unit.load import given
from tests.unit.load.given import IDLE

NOTHING = samples.merged([])


def case(model: str = "open", **changes: Any) -> Case:
    values = {
        "subject": "s",
        "nodes": 100,
        "wire": "names",
        "model": model,
        "schedulers": 1 if model == "closed" else None,
        "warmup_seconds": 0.0,
        "seconds": 10.0,
        "timeout_seconds": 5.0,
        "body_bytes": 2000,
        "plan": Plan("constant", (200.0,), 10.0) if model == "open" else None,
        **changes,
    }
    return Case(**values)


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


def test_steps_are_results_of_their_own() -> None:
    both = stepped((100.0, 200.0), lambda intended: np.where(intended < 5.0, 0.001, 0.009))
    assert [(one.rate, one.requests) for one in both] == [(100.0, 500), (200.0, 1000)]
    assert [one.p50_ms for one in both] == pytest.approx([1, 9])
    assert not any("saturation" in note for one in both for note in one.notes)


def stepped(
    rates: tuple[float, ...],
    latency: Callable[[Any], Any],
    *,
    unsent: int = 0,
    cpu: Sequence[float] = (),
    **changes: Any,
) -> list[LoadResult]:
    """Return the results of a step schedule of 10 s; the generator used so much CPU in each step."""
    plan = Plan("step", rates, 10.0, warmup_seconds=changes.get("warmup_seconds", 0.0))
    each = 10.0 / len(rates)
    segments = [(used, each, 0.1) for used in cpu or [0.1] * len(rates)]
    intended = plan.offsets()[: len(plan.offsets()) - unsent]
    main = given.made(intended, latency(intended), outcome=changes.pop("outcome", samples.OK))
    run = Run(main, NOTHING, [{**IDLE, "unsent": unsent, "segments": segments}], [], changes.pop("ended", "complete"))
    return results(case(plan=plan, **changes), run, plan.segments())


def test_a_step_that_the_generator_did_not_manage_spoils_no_other() -> None:
    good, bad = stepped((50.0, 30_000.0), lambda intended: np.full(len(intended), 0.005), unsent=33_180)
    assert (good.unsent, good.generator_limited) == (0, False)
    assert (bad.unsent, bad.generator_limited) == (33_180, True)
    assert bad.requests + bad.unsent == 150_000
    assert (
        "generator-limited: step of 30000/s: 33180 requests of the schedule were not sent before time was up"
        in bad.notes
    )
    assert all("step of 50/s" in note for note in good.notes)


def test_every_step_has_its_own_share_of_the_processor() -> None:
    idle, busy = stepped((50.0, 100.0), lambda intended: np.full(len(intended), 0.005), cpu=(0.5, 4.0))
    assert (idle.generator_cpu, busy.generator_cpu) == pytest.approx((0.1, 0.8))
    assert (idle.generator_limited, busy.generator_limited) == (False, True)
    assert idle.cpu_ms_per_request == pytest.approx(100 / 250)
    assert busy.cpu_ms_per_request == pytest.approx(100 / 500)


def test_what_the_workers_left_unsent_is_counted_where_it_was_due() -> None:
    plan = Plan("step", (100.0, 200.0), 10.0)
    due = plan.offsets()
    workers = [
        {**IDLE, "index": index, "unsent": unsent, "segments": [(0.1, 5.0, 0.1)] * 2}
        for index, unsent in ((0, 10), (1, 600))
    ]
    sent = np.sort(np.concatenate([due[0::2][:-10], due[1::2][:-600]]))
    run = Run(given.made(sent, np.full(len(sent), 0.005)), NOTHING, workers, [], "complete")
    both = results(case(plan=plan, workers=2), run, plan.segments())
    assert [one.unsent for one in both] == [100, 510]
    assert [one.requests + one.unsent for one in both] == [500, 1000]


def test_the_step_that_is_too_much_is_named() -> None:
    """The extender takes 250/s; what is left behind at 300/s is in the next step, too."""
    low, fits, much, more = stepped((100.0, 200.0, 300.0, 400.0), lambda intended: given.queued(intended, 1 / 250))
    assert not any("saturation" in note for one in (low, fits) for note in one.notes)
    expected = "saturation point: at 300/s answers come later and later; the highest step below is 200/s"
    assert much.notes[-1] == expected
    assert more.notes[-1] == "after the saturation at 300/s: what was left behind there is in these figures"


def test_requests_that_time_out_are_a_saturation_and_those_of_a_busy_generator_none() -> None:
    outcome = [samples.OK] * 500 + [samples.OVERFLOW] * 1000
    wait = np.array([0.005] * 500 + [5.0] * 1000)
    good, bad = stepped((100.0, 200.0), lambda _: wait, outcome=outcome)
    assert "saturation" not in "".join(good.notes)
    assert (
        bad.notes[-1] == "saturation point: at 200/s requests are not answered in time; the highest step below is 100/s"
    )
    _, own = stepped((100.0, 200.0), lambda _: wait, outcome=outcome, cpu=(0.1, 4.0))
    assert "saturation" not in "".join(own.notes)


def test_a_warm_up_takes_nothing_from_the_steps() -> None:
    both = stepped((100.0, 200.0), lambda intended: np.full(len(intended), 0.005), warmup_seconds=2.0)
    assert [(one.requests, one.warmup_cut) for one in both] == [(500, 200), (1000, 0)]


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
