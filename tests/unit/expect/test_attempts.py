from typing import Any

import pytest

from harness.expect.base import Verdict
from harness.expect.chance import attempts_bounds, binomial_bounds
from harness.expect.judge import judge
from tests.unit.expect.records import NO_CPU, RecordBuilder

PODS = 8
CHANCE = 0.875
LOW, HIGH = attempts_bounds(PODS, CHANCE, 1e-6)


def made(calls: int, kept: int = 2, **expect: Any) -> RecordBuilder:
    """Eight bound pods, and so many filter calls about the last of them, each with four nodes of which some stay."""
    builder = RecordBuilder({"kind": "attempts", "chance": CHANCE, **expect}).extender().node("n")
    for number in range(PODS):
        builder.pod(f"p{number}", "n", labels={"app": "web" if number else "db"})
        builder.call("filter", f"p{number}", 1.0 + number, nodes_in=4, nodes_out=kept)
    for number in range(calls - PODS):
        builder.call("filter", "p7", 20.0 + number, nodes_in=4, nodes_out=kept)
    return builder


def judged(builder: RecordBuilder) -> Verdict:
    return judge(builder.build())[0]


@pytest.mark.parametrize(("calls", "status"), [(PODS, "held"), (HIGH, "held"), (HIGH + 1, "rejected")])
def test_as_many_attempts_as_luck_explains_hold(calls: int, status: str) -> None:
    verdict = judged(made(calls))
    assert (verdict.status, verdict.seen) == (status, f"{calls} attempts")
    assert verdict.expected == f"{LOW} to {HIGH} attempts"
    assert verdict.evidence == (
        "8 pods, each attempt succeeds with 0.875",
        "luck alone leaves these bounds once in 1,000,000 runs",
    )


def test_too_few_attempts_are_rejected_too() -> None:
    """Who needs no second try where most should, does not decide by lot."""
    assert attempts_bounds(PODS, 0.05, 1e-6)[0] > PODS
    assert not judged(made(PODS, chance=0.05)).ok


def test_more_false_alarms_make_narrower_bounds() -> None:
    assert judged(made(HIGH)).ok
    verdict = judged(made(HIGH, falseAlarms=0.2))
    assert not verdict.ok
    assert "luck alone leaves these bounds once in 5 runs" in verdict.evidence


def test_only_filter_calls_about_the_chosen_pods_are_attempts() -> None:
    builder = made(PODS, selector="app=db")
    for number in range(HIGH):
        builder.call("prioritize", "p0", 30.0 + number).call("filter", "p3", 60.0 + number)
    verdict = judged(builder)
    assert (verdict.status, verdict.seen, verdict.title) == ("held", "1 attempt", "attempts of pods app=db")


def test_the_share_of_kept_nodes_is_judged_too() -> None:
    verdict = judged(made(PODS, nodeChance=0.5))
    least, most = binomial_bounds(4 * PODS, 0.5, 0.5e-6)
    assert (verdict.status, verdict.seen) == ("held", "8 attempts, 16 of 32 nodes kept")
    assert verdict.expected.endswith(f"attempts, {least} to {most} nodes kept")
    assert "each node is kept with 0.5" in verdict.evidence
    greedy = judged(made(PODS, kept=4, nodeChance=0.5))
    assert (greedy.status, greedy.seen) == ("rejected", "8 attempts, 32 of 32 nodes kept")


def test_a_good_share_of_nodes_does_not_excuse_too_many_attempts() -> None:
    calls = attempts_bounds(PODS, CHANCE, 0.5e-6)[1] + 1
    assert judged(made(calls - 1, nodeChance=0.5)).ok
    assert not judged(made(calls, nodeChance=0.5)).ok


def test_false_alarms_are_shared_between_attempts_and_nodes() -> None:
    low, high = attempts_bounds(PODS, CHANCE, 0.5e-6)
    assert judged(made(PODS, nodeChance=0.5)).expected.startswith(f"{low} to {high} attempts")
    assert (low, high) != (LOW, HIGH), "with these numbers the test could not tell"


def test_attempts_of_a_call_without_nodes_count_none() -> None:
    builder = made(PODS, nodeChance=0.5).call("filter", "p7", 50.0, status=500, error="code 500")
    assert judged(builder).seen == "9 attempts, 16 of 32 nodes kept"


def test_a_pod_that_waits_makes_every_number_meaningless() -> None:
    verdict = judged(made(PODS).pod("waits", message=NO_CPU))
    assert (verdict.status, verdict.expected, verdict.seen) == ("rejected", "every pod bound", "8 of 9 bound")


def test_a_pod_that_is_gone_is_not_missed() -> None:
    assert judged(made(PODS).pod("gone", deleted_t=5.0)).ok


def test_no_pod_at_all_proves_nothing() -> None:
    verdict = judged(RecordBuilder({"kind": "attempts", "chance": 0.5}).extender())
    assert (verdict.status, verdict.seen) == ("rejected", "0 of 0 bound")
