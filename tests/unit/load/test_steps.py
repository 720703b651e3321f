"""Steps of a load: each is judged by itself, and the one that is too much for the extender ends them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from harness.load import samples
from harness.load.measure import Run, results
from harness.load.saturation import is_too_much
from harness.load.schedule import Plan
from harness.record.load import LoadResult
from tests.unit.load import given
from tests.unit.load.given import IDLE, NOTHING, case


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


def test_steps_are_results_of_their_own() -> None:
    both = stepped((100.0, 200.0), lambda intended: np.where(intended < 5.0, 0.001, 0.009))
    assert [(one.rate, one.requests) for one in both] == [(100.0, 500), (200.0, 1000)]
    assert [one.p50_ms for one in both] == pytest.approx([1, 9])
    assert not any("saturation" in note for one in both for note in one.notes)


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


def test_what_was_left_unsent_is_counted_for_the_verb_that_it_was() -> None:
    plan = Plan("constant", (100.0,), 1.0)
    verbs = ("filter", "prioritize", "bind")
    run = Run(NOTHING, NOTHING, [{**IDLE, "unsent": 4}], [], "complete")
    made = results(case(plan=plan, verbs=verbs, turns=verbs), run, plan.segments())
    # The last four of a hundred, of which the first is a filter.
    assert [(one.verb, one.unsent) for one in made] == [("filter", 2), ("prioritize", 1), ("bind", 1)]


def test_a_load_that_a_worker_ended_has_no_results_of_the_steps_after_it() -> None:
    plan = Plan("step", (100.0, 300.0, 900.0), 9.0)
    intended = plan.offsets()[:1250]
    workers = [{**IDLE, "segments": [(0.1, 3.0, 0.1)] * 2, "saturated": saturated} for saturated in (1, None)]
    run = Run(given.made(intended, given.queued(intended, 1 / 250)), NOTHING, workers, [], "complete")
    low, last = results(case(plan=plan, workers=2), run, plan.segments())
    assert not any("not made" in note for note in low.notes)
    assert last.requests == 900
    assert last.notes[-1] == "the load ended after this step: 1 higher steps were not made"
    assert last.notes[-2].startswith("saturation point: at 300/s")


def test_a_worker_finds_a_step_too_much_only_if_it_was_so_for_the_extender() -> None:
    intended = np.arange(0.0, 2.0, 1 / 300)
    late, steady = given.queued(intended, 1 / 250), np.full(len(intended), 0.3)
    assert is_too_much(given.made(intended, late), 0.0, 2.0, cpu_share=0.1)
    assert not is_too_much(given.made(intended, late), 0.0, 2.0, cpu_share=0.9)
    assert not is_too_much(given.made(intended, steady), 0.0, 2.0, cpu_share=0.1)
    assert not is_too_much(given.made(intended, late, lag=late - 0.005), 0.0, 2.0, cpu_share=0.1)
    assert is_too_much(given.made(intended, steady, outcome=samples.TIMEOUT), 0.0, 2.0, cpu_share=0.1)


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
