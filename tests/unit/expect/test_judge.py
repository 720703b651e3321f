import json
from typing import get_args

from harness.expect.base import Verdict, counted, limited, listed
from harness.expect.invariants import INVARIANTS
from harness.expect.judge import judge, registry
from harness.scenario.expectations import Expectation
from tests.unit.expect.records import RecordBuilder


def test_every_kind_of_expectation_has_a_judge() -> None:
    models = get_args(get_args(Expectation)[0])
    assert {model.model_fields["kind"].default for model in models} == set(registry)


def test_verdicts_come_in_the_order_of_the_scenario_and_then_the_invariants() -> None:
    made = RecordBuilder({"kind": "pending", "count": 0}, {"kind": "count", "total": 0})
    verdicts = judge(made.build())
    assert [(verdict.kind, verdict.index) for verdict in verdicts] == [
        ("pending", 0),
        ("count", 1),
        *((kind, None) for kind in INVARIANTS),
    ]
    assert all(verdict.ok for verdict in verdicts)


def test_a_verdict_survives_json() -> None:
    for verdict in judge(RecordBuilder().node("n", cpu=10).pod("a", "n").build()):
        value = json.loads(json.dumps(verdict.to_json()))
        assert value["ok"] == verdict.ok
        assert Verdict.from_json(value) == verdict


def test_a_verdict_on_an_unfinished_or_unsettled_run_says_so() -> None:
    made = RecordBuilder()
    made.settled = False
    assert all("had not settled" in (verdict.note or "") for verdict in judge(made.build()))
    made.status = "failed"
    assert "the run failed (None)" in (judge(made.build())[0].note or "")
    made.status = "running"
    verdict = judge(made.build())[0]
    assert "never finished" in (verdict.note or "")
    assert verdict.sentence().endswith("judged on what it had recorded")


def test_lists_stay_readable() -> None:
    assert listed("abcdefg") == "a, b, c, d, e and 2 more"
    assert limited(["a", "b", "c"], 2) == ("a", "b", "and 1 more like these")
    assert (counted(1, "pod"), counted(0, "pod")) == ("1 pod", "0 pods")
