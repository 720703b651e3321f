from typing import Any

import pytest

from harness.expect.base import Verdict
from harness.expect.judge import judge
from tests.unit.expect.records import RecordBuilder


def made(**expect: Any) -> RecordBuilder:
    """Three pods: a with three filter calls, b with one that was not found, c without any."""
    builder = RecordBuilder({"kind": "calls", "verb": "filter", **expect}).extender().node("n")
    builder.pod("a", "n").pod("b", "n").pod("c", "n", labels={"app": "db"})
    for t in (1.0, 2.5, 5.0):
        builder.call("filter", "a", t)
    return builder.call("filter", "b", 1.5, status=404).call("prioritize", "a", 1.2)


def judged(**expect: Any) -> Verdict:
    return judge(made(**expect).build())[0]


@pytest.mark.parametrize(
    "demand",
    [
        {"count": 4},
        {"count": {"min": 4}, "pods": ["a", "b"]},
        {"pods": "a", "perPod": 3},
        {"selector": "app=db", "count": 0, "perPod": 0},
        {"status": 404, "count": 1},
        {"status": 200, "ending": "answered", "count": 3},
        {"ending": "aborted", "count": 0},
        {"pods": "a", "gapsAtLeast": [1.5, 2.5]},
        {"pods": "a", "gapsAtLeast": [1]},
        {"count": 4, "gapsAtLeast": []},
        {"verb": "prioritize", "extender": "ext", "count": 1},
        {"verb": "bind", "count": 0},
    ],
)
def test_calls_as_demanded_hold(demand: dict[str, Any]) -> None:
    assert judged(**demand).status == "held"


@pytest.mark.parametrize(
    ("demand", "seen", "told"),
    [
        ({"count": 5}, "4 calls about 2 pods", ()),
        ({"perPod": 1}, "4 calls about 2 pods", ("a: 3 calls at 1.00 s, 2.50 s, 5.00 s", "c: 0 calls")),
        ({"pods": "nobody", "perPod": 0}, "0 calls about 0 pods", ("no pod matched",)),
        ({"pods": "a", "gapsAtLeast": [1, 3]}, "3 calls", ("a: gap 2 is 2.50 s, at least 3.00 s expected",)),
        ({"pods": "a", "gapsAtLeast": [1, 1, 1]}, "3 calls", ("a: 3 calls, 4 needed for 3 gaps",)),
        ({"selector": "app=web", "gapsAtLeast": [1]}, "4 calls", ("b: 1 call, 2 needed for 1 gap",)),
        ({"verb": "bind", "count": 1}, "0 calls", ("all calls of the run: ext filter x4, ext prioritize x1",)),
    ],
)
def test_calls_otherwise_are_rejected(demand: dict[str, Any], seen: str, told: tuple[str, ...]) -> None:
    verdict = judged(**demand)
    assert verdict.status == "rejected"
    assert verdict.seen.startswith(seen)
    assert verdict.evidence[: len(told)] == told


def test_the_outcomes_are_told() -> None:
    verdict = judge(made(count=5).call("filter", "c", 6.0, status=None, ending="aborted").build())[0]
    assert (verdict.status, verdict.detail) == ("held", "200 x3, 404 x1, aborted x1")
    assert verdict.title == "filter calls about all pods"


def test_faulted_calls_can_be_left_out() -> None:
    builder = made(count=4, unfaulted=True).call("filter", "c", 6.0, fault="status 500")
    assert judge(builder.build())[0].ok
    builder.call("filter", "c", 7.0)
    verdict = judge(builder.build())[0]
    assert (verdict.status, verdict.expected) == ("rejected", "exactly 4 in all (unfaulted)")


def test_calls_about_other_pods_count_only_without_a_choice() -> None:
    assert judge(made(count=5).call("filter", "unseen", 6.0).build())[0].ok
    assert judge(made(count=4, selector="app in (web,db)").call("filter", "unseen", 6.0).build())[0].ok


def test_pods_of_the_cluster_itself_are_left_out() -> None:
    builder = made(count=4).pod("dns", "n", namespace="kube-system").call("filter", "dns", 6.0)
    assert judge(builder.build())[0].ok


def test_calls_of_one_extender() -> None:
    builder = made(extender="other", count=1).extender("other").call("filter", "a", 7.0, extender="other")
    assert judge(builder.build())[0].ok
    assert judge(made(count=5).extender("other").call("filter", "a", 7.0, extender="other").build())[0].ok


def test_a_run_without_a_tap_is_rejected_even_if_no_call_is_demanded() -> None:
    expect = {"kind": "calls", "verb": "filter", "count": 0}
    verdict = judge(RecordBuilder(expect).node("n").pod("a", "n").build())[0]
    assert (verdict.status, verdict.evidence) == ("rejected", ("no extender was tapped in this run",))
    assert not judge(RecordBuilder(expect).extender(tapped=False).build())[0].ok


def test_an_extender_that_is_not_there_or_not_tapped_is_rejected() -> None:
    verdict = judged(extender="exd", count=0)
    told = 'no extender is called exd; did you mean "ext"? extenders: ext'
    assert (verdict.status, verdict.evidence) == ("rejected", (told,))
    plain = made(extender="plain", count=0).extender("plain", tapped=False)
    assert judge(plain.build())[0].evidence == ("extender plain was not tapped in this run",)
