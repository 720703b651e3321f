import numpy as np
import pytest

from harness.report.trend import Course, Point, beyond
from harness.report.trend_text import curve

STEADY = [10.0, 10.4, 9.7, 10.1, 9.9, 10.3, 9.8, 10.2]


def course(values: list[float | None], **versions: str) -> Course:
    points = tuple(
        Point(
            run=f"run-{place}",
            started_at=f"{place:04}",
            figures={"p50_ms": value},
            held=True,
            versions={"kubernetes": versions.get(f"run_{place}", "1.36")},
            load_per_core=0.1,
        )
        for place, value in enumerate(values)
    )
    return Course("s", "default", "default", "embedded", "here", "", "abcd", points)


def changes(values: list[float | None], **versions: str) -> list[tuple[str, bool]]:
    return [(change.run, change.lone) for change in course(values, **versions).changes(["p50_ms"])]


def test_three_runs_in_a_row_are_a_change() -> None:
    (change,) = course([*STEADY, 15.0, 15.2, 14.9]).changes(["p50_ms"])
    assert (change.run, change.lone) == ("run-8", False)
    assert (change.then, change.now) == pytest.approx((10.05, 15.0))
    assert change.share == pytest.approx(0.4925, abs=0.001)


def test_faster_is_a_change_too() -> None:
    assert changes([*STEADY, 5.0, 5.2, 4.9]) == [("run-8", False)]


def test_two_runs_are_not_yet_one() -> None:
    assert changes([*STEADY, 15.0, 15.2]) == []
    assert changes([*STEADY, 15.0, 10.0, 15.2, 10.1, 14.9]) == []


def test_what_is_small_or_usual_is_none() -> None:
    assert changes([*[10.0] * 8, 10.5, 10.5, 10.5]) == []
    assert changes([8.0, 14.0, 9.0, 13.0, 10.0, 12.0, 14.5, 14.4, 14.6]) == []


def test_fewer_than_five_before_say_nothing() -> None:
    assert changes([10.0, 10.1, 9.9, 10.0, 90.0, 90.0, 90.0]) == []


def test_one_last_run_only_stands_out_and_needs_ten_before() -> None:
    assert changes([*STEADY, *STEADY, 30.0]) == [("run-16", True)]
    assert changes([*STEADY, 30.0]) == []


def test_a_new_level_is_told_once() -> None:
    assert changes([*STEADY, *[15.0 + value / 100 for value in STEADY], 15.0, 15.1]) == [("run-8", False)]


def test_runs_without_the_figure_are_passed_over() -> None:
    assert changes([*STEADY, None, 15.0, 15.2, None, 14.9]) == [("run-9", False)]


def test_what_else_is_new_stands_beside_it() -> None:
    (change,) = course([*STEADY, 15.0, 15.2, 14.9], run_8="1.37").changes(["p50_ms"])
    assert change.also == ("kubernetes 1.36 → 1.37",)


def test_false_alarms_are_rare() -> None:
    """Thirty runs of the same, a tenth or a third of noise: a change in 3 of 100 series at most."""
    random = np.random.default_rng(5)
    for noise in (0.1, 0.3):
        told = [
            any(not change.lone for change in course(np.exp(random.normal(0, noise, 30)).tolist()).changes(["p50_ms"]))
            for _ in range(400)
        ]
        assert np.mean(told) <= 0.03


def test_doubling_is_found() -> None:
    random = np.random.default_rng(6)
    found = [
        bool(changes([*np.exp(random.normal(0, 0.1, 12)).tolist(), *(2 * np.exp(random.normal(0, 0.1, 6))).tolist()]))
        for _ in range(100)
    ]
    assert np.mean(found) >= 0.97


def test_beyond_is_on_one_side_of_everything() -> None:
    assert beyond(STEADY, [20.0, 21.0])
    assert not beyond(STEADY, [20.0, 1.0])
    assert not beyond([*STEADY, 40.0], [20.0, 21.0])


def test_a_curve_goes_from_least_to_most() -> None:
    assert curve([1.0, 2.0, 3.0]) == "▁▅█"
    assert curve([5.0, 5.0]) == "▅▅"
    assert curve([]) == ""
    many = curve([float(value) for value in range(100)])
    assert (len(many), many[0], many[-1]) == (12, "▁", "█")
