import math

import pytest

from harness.expect.judge import judge
from harness.expect.percentile import percentile
from harness.record.model import Record
from tests.unit.expect.records import NO_CPU, RecordBuilder

EXPECT = {"kind": "timing", "measure": "createToBound", "atMost": 1.5, "relativeTo": "default"}


def run(variant: str, *seconds: float, waiting: int = 0, **changes: object) -> Record:
    builder = RecordBuilder({**EXPECT, **changes}, variant=variant).node("n")
    for index, bound in enumerate(seconds):
        builder.pod(f"p{index}", "n", bound_t=1.0 + bound)
    for index in range(waiting):
        builder.pod(f"w{index}", message=NO_CPU)
    return builder.build()


def test_a_ratio_within_bounds_holds_against_the_median_of_the_repeats() -> None:
    peers = [run("default", 1.0), run("default", 2.0), run("default", 9.0), run("controller", 0.1)]
    verdict = judge(run("extender", 2.5), peers)[0]
    assert (verdict.status, verdict.seen, verdict.detail) == ("held", "1.25", "2.5 s against 2 s")
    assert verdict.evidence == ("extender: 2.5 s over 1 pod", "default: 2 s, median of 3 runs")


def test_a_ratio_out_of_bounds_is_rejected() -> None:
    verdict = judge(run("extender", 4.0), [run("default", 2.0)])[0]
    assert (verdict.status, verdict.seen) == ("rejected", "2.00")


@pytest.mark.parametrize(("at_most", "status"), [(1.0, "held"), (0.5, "rejected")])
def test_a_run_of_the_reference_is_measured_by_itself(at_most: float, status: str) -> None:
    verdict = judge(run("default", 2.0, atMost=at_most), [run("default", 9.0)])[0]
    assert (verdict.status, verdict.seen) == (status, "1.00")
    assert "its own reference" in verdict.evidence[1]


def test_without_a_reference_it_is_not_judged_and_says_so() -> None:
    verdict = judge(run("extender", 4.0))[0]
    assert (verdict.status, verdict.ok) == ("not-judged", True)
    assert verdict.note == "not judged: no run of variant default in this session; add --variant default"


def test_pods_left_behind_count_as_infinitely_slow() -> None:
    slow = run("extender", 0.1, 0.1, waiting=3)
    verdict = judge(slow, [run("default", 2.0)])[0]
    assert (verdict.status, verdict.detail) == ("rejected", "never against 2 s")
    assert verdict.evidence[0] == "extender: never over 5 pods, 3 of them never got there"


@pytest.mark.parametrize("record", [run("default"), run("default", waiting=1)])
def test_without_a_time_there_is_no_ratio(record: Record) -> None:
    verdict = judge(record)[0]
    assert (verdict.status, verdict.seen) == ("rejected", "no ratio")


def test_a_percentile_is_a_value_that_was_seen() -> None:
    assert percentile([3.0, 1.0, 2.0], 50) == 2.0
    assert percentile([1.0, 2.0], 50) == 1.0
    assert percentile([1.0, 2.0], 75) == 2.0
    assert percentile(range(1, 101), 99) == 99
    assert percentile(range(1, 1001), 99.9) == 999
    assert percentile([1.0, 2.0], 100) == 2.0
    assert percentile([], 50) is None
    assert percentile([1.0, math.inf, math.inf], 100) == math.inf


@pytest.mark.parametrize(
    ("measure", "seconds"), [("createToScheduled", 2), ("createToBound", 2), ("createToRunning", 2.25)]
)
def test_each_measure_ends_where_it_says(measure: str, seconds: float) -> None:
    verdict = judge(run("default", 2.0, measure=measure))[0]
    assert verdict.detail == f"{seconds:g} s against {seconds:g} s"
