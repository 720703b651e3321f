from typing import get_args

import pytest

from harness.expect.base import Verdict
from harness.expect.invariants import INVARIANTS
from harness.expect.judge import judge
from harness.scenario.expectations_extender import InvariantName
from tests.unit.expect.records import RecordBuilder

EXPECT = {"kind": "invariant", "name": "overcommit", "violated": True}


def by_kind(cpu: int) -> dict[str, Verdict]:
    made = RecordBuilder(EXPECT).node("n", cpu=cpu).pod("a", "n")
    return {verdict.kind: verdict for verdict in judge(made.build())}


def test_every_invariant_can_be_named() -> None:
    assert set(get_args(InvariantName)) == set(INVARIANTS)


def test_a_violation_that_is_expected_holds_and_keeps_its_evidence() -> None:
    verdicts = by_kind(cpu=10)
    assert all(verdict.ok for verdict in verdicts.values())
    told = verdicts["invariant"]
    assert (told.status, told.index) == ("held", 0)
    assert told.title == "invariant overcommit (overcommitted nodes)"
    assert (told.expected, told.seen, told.detail) == ("violated", "violated", "1")
    own = verdicts["overcommit"]
    assert (own.status, own.title) == ("held", "overcommitted nodes (its violation is expected)")
    assert own.evidence == told.evidence
    assert own.evidence


def test_an_invariant_that_holds_although_its_violation_is_expected_is_one_rejection() -> None:
    verdicts = by_kind(cpu=4000)
    assert [kind for kind, verdict in verdicts.items() if not verdict.ok] == ["invariant"]
    assert verdicts["invariant"].seen == "not violated"


@pytest.mark.parametrize("expect", [{"kind": "count", "total": 1}, {**EXPECT, "name": "missingPod"}])
def test_other_invariants_are_judged_as_always(expect: dict[str, object]) -> None:
    made = RecordBuilder(expect).node("n", cpu=10).pod("a", "n")
    assert "overcommit" in [verdict.kind for verdict in judge(made.build()) if not verdict.ok]
