from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.load import samples
from harness.load.measure import Case, Run, results
from harness.load.schedule import RATE_MAX
from harness.load.session import Shape
from harness.load.sweep import CLOSE, Measure, _Search, find_knee, judged, pods_per_second
from harness.record.load import Knee, LoadResult
from harness.report.load import knee_table
from tests.unit.load.given import IDLE, made, queued

GOOD = LoadResult(
    "s", "filter", 100, "names", "open", 100.0, 200, 0, 1, 2, 3, 40, 50, 40, 0.1, False, achieved_rate=100, seconds=2
)


def searched(capacity: float, start: float) -> tuple[_Search, int]:
    search, tries = _Search(start), 0
    while (rate := search.next()) is not None:
        search.tell(within=rate <= capacity)
        tries += 1
        assert tries < 40
    return search, tries


@pytest.mark.parametrize("capacity", [3.0, 150.0, 4321.0, 30_000.0])
@pytest.mark.parametrize("start", [1.0, 100.0, 20_000.0])
def test_the_knee_is_found_from_either_side(capacity: float, start: float) -> None:
    search, tries = searched(capacity, start)
    assert search.bad is not None
    assert search.good <= capacity < search.bad <= CLOSE * search.good
    assert tries <= 24


def test_a_search_ends_at_the_highest_and_the_lowest_rate() -> None:
    assert searched(1e9, 100.0)[0].good == 50_000
    assert searched(0.0, 100.0)[0].good == 0.0


@pytest.mark.parametrize(
    ("changes", "within"),
    [
        ({}, True),
        ({"p99_ms": 51.0}, False),
        ({"p99_ms": None}, False),
        ({"errors": 1}, False),
        ({"unsent": 1}, False),
        ({"falls_behind": "extender"}, False),
        ({"falls_behind": "generator"}, False),
        # Answers that come late, but no later than the others, stretch the time; the rate is reached all the same.
        ({"achieved_rate": 80.0}, True),
        # It was late, and within the budget all the same.
        ({"generator_limited": True}, True),
    ],
)
def test_a_rate_is_within_the_budget_or_not(changes: dict[str, object], within: bool) -> None:
    assert judged(100.0, [replace(GOOD, **changes)], 50.0).within is within  # type: ignore[arg-type]


def test_a_budget_that_only_the_generator_missed_is_told_apart() -> None:
    assert judged(100.0, [replace(GOOD, p99_ms=60.0, lag_p99_ms=40.0)], 50.0).limited
    assert judged(100.0, [replace(GOOD, falls_behind="generator")], 50.0).limited
    assert not judged(100.0, [replace(GOOD, falls_behind="extender")], 50.0).limited
    assert not judged(100.0, [replace(GOOD, p99_ms=60.0)], 50.0).limited


def test_a_step_counts_over_all_verbs_as_its_rate_does() -> None:
    fast = replace(GOOD, verb="prioritize", p99_ms=20.0, requests=190, errors=2, achieved_rate=94.0)
    slow = replace(GOOD, p99_ms=70.0, generator_limited=True)
    told = judged(200.0, [fast, slow], 50.0).to_json()
    assert told == {
        "rate": 200.0,
        "within": False,
        "p99_ms": 70.0,
        "worst_verb": "filter",
        "errors": 2,
        "requests": 390,
        "achieved_rate": 194.0,
        "generator_limited": True,
    }
    mute = replace(fast, p99_ms=None)
    assert judged(200.0, [mute, slow], 50.0).to_json()["worst_verb"] == "prioritize"


def simulated(latency: Callable[[Any], Any], tried: list[Shape]) -> Measure:
    """Return what measures an extender of which only the latency by moment of arrival is known."""

    def measure(corpus: Any, shape: Shape, floor: bool) -> tuple[Run, list[LoadResult]]:
        tried.append(shape)
        if shape.plan is None:
            return Run(samples.merged([]), samples.merged([]), [], [], "complete"), [replace(GOOD, mean_ms=300.0)]
        intended = shape.plan.offsets()
        run = Run(made(intended, latency(intended)), samples.merged([]), [IDLE], [], "complete")
        case = Case("s", 100, "names", "open", None, shape.warmup_seconds, shape.total_seconds, 5.0, 2, plan=shape.plan)
        return run, results(case, run, shape.plan.segments())

    return measure


def knee_of(latency: Callable[[Any], Any], tried: list[Shape] | None = None) -> Knee:
    loaded: Any = SimpleNamespace(subject=SimpleNamespace(text="s"), entry=SimpleNamespace(timeout_seconds=5.0))
    corpus: Any = SimpleNamespace(verbs=("filter",), nodes=100, wire="names", node_kib=None)
    measure = simulated(latency, [] if tried is None else tried)
    return find_knee(loaded, corpus, measure, budget_ms=None, seed=1, limit_seconds=600)


def test_a_slow_extender_that_keeps_up_has_no_knee() -> None:
    knee = knee_of(lambda intended: np.full(len(intended), 0.3))
    assert (knee.rate, knee.failed_rate, knee.limited_by) == (RATE_MAX, None, "bound")


def test_the_knee_of_one_answer_after_the_other_is_its_capacity() -> None:
    knee = knee_of(lambda intended: queued(intended, 0.01))
    assert 70 <= knee.rate <= 115
    assert knee.limited_by == "extender"


def test_steps_at_low_rates_are_longer_and_the_knee_says_what_its_p99_is_of() -> None:
    tried: list[Shape] = []
    knee = knee_of(lambda intended: queued(intended, 0.1), tried)
    seconds = {shape.plan.rates[0]: shape.seconds for shape in tried if shape.plan}
    assert all(found == pytest.approx(min(max(2.0, 100 / rate), 5.0)) for rate, found in seconds.items())
    assert max(seconds.values()) == 5.0
    assert knee.requests == next(step["requests"] for step in knee.steps if step["rate"] == knee.rate)
    text = knee_table([knee])
    assert f"{knee.rate:.0f} requests/s are {knee.rate:.0f} pods/s" in text
    assert f"p99 there is of {knee.requests} requests" in text


def test_a_pod_takes_a_request_of_each_verb() -> None:
    knee = Knee("s", "filter+prioritize", 1, "names", 50.0, 300.0, None, "bound", 3.0)
    assert (knee.rate_in_pods, knee.requests) == (150.0, None)
    assert "300 requests/s are 150 pods/s" in knee_table([knee])


def test_pods_per_second_leave_binds_out() -> None:
    cycle = [replace(GOOD, verb=verb, mean_ms=mean) for verb, mean in (("filter", 3), ("prioritize", 2), ("bind", 90))]
    assert pods_per_second(cycle) == pytest.approx(200)
    assert pods_per_second([replace(GOOD, mean_ms=None)]) is None
