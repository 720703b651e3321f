from typing import Any

import pytest

from harness.expect.judge import judge
from tests.unit.expect.records import NO_CPU, RecordBuilder


def made(*expect: dict[str, Any]) -> RecordBuilder:
    return RecordBuilder(*expect).node("n1", labels={"zone": "a"}).node("n2", labels={"zone": "b"})


def test_exact_placements_hold() -> None:
    record = (
        made({"kind": "placement", "on": {"a": "n1", "b-*": "n2"}}).pod("a", "n1").pod("b-1", "n2").pod("b-2", "n2")
    )
    verdict = judge(record.build())[0]
    assert (verdict.status, verdict.seen) == ("held", "all 3 so")


def test_wrong_waiting_and_absent_pods_are_rejected_by_name() -> None:
    expect = {"kind": "placement", "on": {"a": "n1", "b": "n2", "c": "n1"}}
    verdict = judge(made(expect).pod("a", "n2").pod("b", message=NO_CPU).build())[0]
    assert verdict.status == "rejected"
    assert verdict.detail == "a → n2, n1 expected; b → no node, n2 expected; c: no such pod"
    assert "Insufficient cpu" in verdict.evidence[0]


@pytest.mark.parametrize("where", [{"nodes": ["n1"]}, {"nodes": "n1*"}, {"nodeSelector": "zone=a"}])
def test_only_on(where: dict[str, Any]) -> None:
    expect = {"kind": "onlyOn", "selector": "app=web", **where}
    assert judge(made(expect).pod("a", "n1").pod("b", message=NO_CPU).build())[0].ok
    verdict = judge(made(expect).pod("a", "n1").pod("b", "n2").build())[0]
    assert (verdict.status, verdict.seen) == ("rejected", "1 of 2 bound pods elsewhere")
    assert verdict.detail == "n1 1, n2 1"
    assert verdict.evidence == ("b → n2 at 1.50 s",)


@pytest.mark.parametrize("where", [{"nodes": ["n1"]}, {"nodeSelector": "zone=a"}])
def test_never_on(where: dict[str, Any]) -> None:
    expect = {"kind": "neverOn", "pods": ["a*"], **where}
    assert judge(made(expect).pod("a", "n2").pod("b", "n1").build())[0].ok
    verdict = judge(made(expect).pod("a-1", "n1").pod("a-2", "n2").build())[0]
    assert (verdict.status, verdict.evidence) == ("rejected", ("a-1 → n1 at 1.50 s",))


@pytest.mark.parametrize("kind", ["onlyOn", "neverOn"])
def test_without_a_bound_pod_nothing_is_proven(kind: str) -> None:
    verdict = judge(made({"kind": kind, "nodes": ["n1"]}).pod("a", message=NO_CPU).build())[0]
    assert (verdict.status, verdict.seen) == ("rejected", "no bound pod")
    assert "Insufficient cpu" in verdict.evidence[1]


def test_a_pod_that_was_deleted_still_counts_against_never_on() -> None:
    assert not judge(made({"kind": "neverOn", "nodes": ["n1"]}).pod("a", "n1", deleted_t=3.0).build())[0].ok


def test_the_labels_a_node_had_at_the_binding_decide() -> None:
    expect = {"kind": "onlyOn", "nodeSelector": "zone=a"}
    record = made(expect).pod("a", "n1").node_changes("n1", 5.0, labels={"zone": "c"})
    assert judge(record.build())[0].ok
    late = made(expect).node_changes("n1", 0.5, labels={"zone": "c"}).pod("a", "n1")
    assert not judge(late.build())[0].ok
