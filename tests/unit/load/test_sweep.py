from dataclasses import replace

import pytest

from harness.load.sweep import CLOSE, _Search, judged, pods_per_second
from harness.record.load import LoadResult

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
        ({"achieved_rate": 90.0}, False),
        # It was late, and within the budget all the same.
        ({"generator_limited": True}, True),
    ],
)
def test_a_rate_is_within_the_budget_or_not(changes: dict[str, object], within: bool) -> None:
    assert judged(100.0, [replace(GOOD, **changes)], 50.0).within is within  # type: ignore[arg-type]


def test_a_budget_that_only_the_generator_missed_is_told_apart() -> None:
    assert judged(100.0, [replace(GOOD, p99_ms=60.0, lag_p99_ms=40.0)], 50.0).limited
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


def test_pods_per_second_leave_binds_out() -> None:
    cycle = [replace(GOOD, verb=verb, mean_ms=mean) for verb, mean in (("filter", 3), ("prioritize", 2), ("bind", 90))]
    assert pods_per_second(cycle) == pytest.approx(200)
    assert pods_per_second([replace(GOOD, mean_ms=None)]) is None
