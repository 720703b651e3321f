from typing import Any

import pytest

from harness.expect.judge import judge
from tests.unit.expect.records import NO_CPU, RecordBuilder


def test_pending_for_the_reason_demanded_holds() -> None:
    expect = {
        "kind": "pending",
        "pods": ["big*"],
        "reason": "Unschedulable",
        "message": "Insufficient (cpu|memory)",
        "count": 2,
    }
    made = RecordBuilder(expect).node("n").pod("big-1", message=NO_CPU).pod("big-2", message=NO_CPU).pod("small", "n")
    verdict = judge(made.build())[0]
    assert (verdict.status, verdict.seen) == ("held", "2 of 2 pods pending")
    assert verdict.evidence[0].startswith("big-1, big-2 waiting for up to 9.00 s: Unschedulable: of 1 nodes")


@pytest.mark.parametrize(
    ("demand", "told"),
    [
        ({"reason": "SchedulingGated"}, "big: reason SchedulingGated expected, Unschedulable seen"),
        ({"message": "taint"}, f'big: no "taint" in its message: {NO_CPU}'),
        ({"count": 2}, "big waiting"),
    ],
)
def test_pending_otherwise_than_demanded_is_rejected(demand: dict[str, Any], told: str) -> None:
    verdict = judge(RecordBuilder({"kind": "pending", **demand}).pod("big", message=NO_CPU).build())[0]
    assert verdict.status == "rejected"
    assert verdict.evidence[0].startswith(told)


def test_a_matching_pod_that_is_bound_is_a_rejection() -> None:
    verdict = judge(RecordBuilder({"kind": "pending"}).node("n").pod("a", message=NO_CPU).pod("b", "n").build())[0]
    assert (verdict.status, verdict.evidence[0]) == ("rejected", "b is not pending: Running on n")


def test_no_matching_pod_is_a_rejection_unless_none_is_demanded() -> None:
    assert not judge(RecordBuilder({"kind": "pending"}).build())[0].ok
    assert judge(RecordBuilder({"kind": "pending", "count": 0}).build())[0].ok


def test_stays_pending_for_long_enough_holds() -> None:
    made = RecordBuilder({"kind": "staysPending", "seconds": 5}, end_t=7.0).pod("a", message=NO_CPU)
    verdict = judge(made.build())[0]
    assert (verdict.status, verdict.seen) == ("held", "1 of 1 pod never bound, for 6.00 s")


def test_stays_pending_is_rejected_when_bound_watched_too_short_deleted_or_absent() -> None:
    expect = {"kind": "staysPending", "seconds": 5}
    bound = judge(RecordBuilder(expect).node("n").pod("a", "n", bound_t=8.0).build())[0]
    assert (bound.status, bound.evidence) == ("rejected", ("a was bound to n after 7.00 s",))
    short = judge(RecordBuilder(expect, end_t=3.0).pod("a", message=NO_CPU).build())[0]
    assert (short.status, short.evidence[0]) == ("rejected", "a was watched for 2.00 s only; then observing ended")
    gone = judge(RecordBuilder(expect).pod("a", message=NO_CPU, deleted_t=3.0).build())[0]
    assert (gone.status, gone.evidence[0]) == ("rejected", "a was watched for 2.00 s only; then it was deleted")
    assert not judge(RecordBuilder(expect).build())[0].ok
