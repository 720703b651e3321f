from typing import Any

from harness.expect.judge import judge
from harness.record.model import Record
from tests.unit.expect.records import NO_CPU, RecordBuilder

EXPECT = {"kind": "sameAs", "relativeTo": "default"}


def run(variant: str, *, seed: int = 0, expect: Any = None, **places: str | None) -> Record:
    builder = RecordBuilder({**EXPECT, **(expect or {})}, variant=variant).node("n1").node("n2")
    builder.seed = seed
    for name, node in places.items():
        builder.pod(name, node, message=None if node else NO_CPU, labels={"app": name})
    return builder.build()


def test_the_same_nodes_hold() -> None:
    verdict = judge(run("extender", a="n1", b="n2", c=None), [run("default", a="n1", b="n2", c=None)])[0]
    assert (verdict.status, verdict.seen, verdict.note) == ("held", "0 of 3 pods elsewhere", None)


def test_other_nodes_are_rejected_and_listed() -> None:
    verdict = judge(run("extender", a="n1", b="n2", c=None), [run("default", a="n1", b="n1", c="n2")])[0]
    assert (verdict.status, verdict.seen) == ("rejected", "2 of 3 pods elsewhere")
    assert verdict.detail == "b: here n2, there n1; c: here no node, there n2"


def test_only_the_chosen_pods_are_compared() -> None:
    here = run("extender", a="n1", b="n2", expect={"selector": "app=a"})
    assert judge(here, [run("default", a="n1", b="n1")])[0].status == "held"


def test_a_pod_that_is_in_one_run_only_differs() -> None:
    verdict = judge(run("extender", a="n1", x="n1"), [run("default", a="n1", y="n1")])[0]
    assert verdict.detail == "x: here n1, there no such pod; y: here no such pod, there n1"
    assert "createPods gives names that repeat" in (verdict.note or "")


def test_every_run_of_the_reference_counts() -> None:
    peers = [run("default", a="n1"), run("default", a="n2")]
    assert judge(run("extender", a="n1"), peers)[0].detail == "a: here n1, there n2"


def test_without_a_reference_of_the_same_seed_it_is_not_judged() -> None:
    verdict = judge(run("extender", seed=1, a="n1"), [run("default", a="n2"), run("controller", seed=1, a="n2")])[0]
    assert (verdict.status, verdict.ok) == ("not-judged", True)
    assert "no run of variant default with seed 1" in (verdict.note or "")


def test_a_run_of_the_reference_is_compared_with_itself_and_needs_a_bound_pod() -> None:
    assert judge(run("default", a="n1"))[0].status == "held"
    verdict = judge(run("default", a=None))[0]
    assert (verdict.status, verdict.seen) == ("rejected", "no bound pod")
    assert verdict.evidence[0] == "1 pod matched, none of them is bound"


def test_a_difference_names_the_known_bug_that_can_explain_it() -> None:
    builder = RecordBuilder(EXPECT, variant="extender").extender(nodeCacheCapable=False).node("n1").pod("a", "n1")
    builder.call("filter", "a", nodes_in=2, nodes_out=2)
    verdict = judge(builder.build(), [run("default", a="n2")])[0]
    assert verdict.status == "rejected"
    assert "kubernetes#141781" in (verdict.note or "")
    same = judge(builder.build(), [run("default", a="n1")])[0]
    assert (same.status, same.note) == ("held", None)


def blind(**expect: str) -> RecordBuilder:
    builder = RecordBuilder(EXPECT | expect, variant="extender").extender(nodeCacheCapable=False).node("n1")
    return builder.pod("a", "n1").call("filter", "a", nodes_in=2, nodes_out=2)


def test_a_finding_excuses_other_nodes_and_no_missing_pods() -> None:
    record = blind(unless="blind-scoring").build()
    assert judge(record, [run("default", a="n2")])[0].status == "held"
    assert judge(record, [run("default", a="n1")])[0].status == "held"
    missing = judge(record, [run("default", a="n2", b="n1")])[0]
    assert missing.status == "rejected"
    assert "kubernetes#141781" not in (missing.note or "")


def test_a_finding_that_has_to_show_demands_a_difference() -> None:
    record = blind(differs="blind-scoring").build()
    other = judge(record, [run("default", a="n2")])[0]
    assert (other.status, other.expected) == ("held", "on the same nodes as with default, elsewhere with blind-scoring")
    assert "kubernetes#141781" in (other.note or "")
    same = judge(record, [run("default", a="n1")])[0]
    assert same.status == "rejected"
    assert "blind-scoring was found and made no difference" in (same.note or "")
    assert judge(record, [run("default", a="n2", b="n1")])[0].status == "rejected"


def test_without_the_finding_or_as_its_own_reference_nothing_has_to_differ() -> None:
    differs = EXPECT | {"differs": "blind-scoring"}
    plain = RecordBuilder(differs, variant="extender").extender().node("n1").pod("a", "n1").build()
    assert judge(plain, [run("default", a="n1")])[0].status == "held"
    assert judge(plain, [run("default", a="n2")])[0].status == "rejected"
    own = blind(differs="blind-scoring")
    own.variant = "default"
    assert judge(own.build())[0].status == "held"
