from dataclasses import replace
from typing import Any

import pytest

from harness.report.parity import Parity, parity, pods_per_node, running_seconds
from harness.report.parity_text import parity_markdown, parity_text
from harness.report.summary import RunSummary
from tests.unit.expect.records import NO_CPU, RecordBuilder
from tests.unit.report.given import judged

EXPECT = {"kind": "count", "running": 2}
WHY = "the control plane is one more node"
KEY = ("synthetic", "default", "default")


def run(
    cluster: str, running: int = 2, *, variant: str = "default", because: str | None = None, **meta: Any
) -> RunSummary:
    """A run of two pods on two nodes, of which so many run."""
    builder = RecordBuilder(EXPECT, variant=variant).node("a").node("b")
    for number in range(2):
        name = f"p{number}"
        if number < running:
            builder.pod(name, "a", created_t=1.0, bound_t=1.75 + number)
        else:
            builder.pod(name, created_t=1.0, message=NO_CPU)
    made = judged(builder, cluster=cluster, **{"started_at": "2026-01-01", **meta})
    if because is None:
        return made
    on: Any = type(made.record.scenario).model_validate(
        {**made.record.scenario.to_json(), "on": {cluster: {"because": because}}}
    )
    return RunSummary(replace(made.record, scenario=on), made.verdicts)


def compared(*runs: RunSummary, **more: Any) -> Parity:
    return parity(runs, **more)


def test_the_same_verdicts_are_the_same_however_the_pods_lie() -> None:
    made = compared(run("embedded"), run("kind", versions={"kubernetes": "1.34.4"}))
    (row,) = made.rows
    assert (made.same, made.compared, row.same, row.disagreements) == (True, 1, True, ())
    assert made.clusters == ("embedded", "kind")
    assert made.versions() == {"embedded": "1.36.3", "kind": "1.34.4"}


def test_a_verdict_that_differs_is_told_with_both_evidences() -> None:
    made = compared(run("embedded"), run("kind", running=1))
    (row,) = made.rows
    assert (made.same, row.same) == (False, False)
    (one,) = row.disagreements
    assert (one.index, one.kind, one.title) == (0, "count", "expectation 1 (count)")
    assert {name: verdict and verdict.status for name, verdict in one.verdicts.items()} == {
        "embedded": "held",
        "kind": "rejected",
    }
    text = parity_text(made)
    assert "synthetic[default] default: expectation 1 (count): ok on embedded, REJECTED on kind" in text
    assert "  embedded: " in text
    assert "exactly 2 running expected, 1 running seen" in text.partition("  kind: ")[2]
    assert text.endswith("0 of 1 compared gave the same verdicts")


def test_an_invariant_that_differs_is_told_by_its_name() -> None:
    (row,) = compared(run("embedded"), run("kind", node_deaths=("node a is gone",), settled=False)).rows
    assert [one.title for one in row.disagreements] == ["invariant nodesAlive"]


def test_both_rejected_is_the_same_verdict() -> None:
    made = compared(run("embedded", running=1), run("kind", running=1))
    assert made.same
    assert parity_text(made).count("REJECTED") == 2


def test_an_expectation_that_one_side_lacks_is_a_difference() -> None:
    there = run("kind")
    (row,) = compared(run("embedded"), RunSummary(there.record, there.verdicts[1:])).rows
    (one,) = row.disagreements
    assert one.verdicts["kind"] is None
    assert "expectation 1 (count): ok on embedded, not there on kind" in parity_text(compared_row(row))


def compared_row(row: Any) -> Parity:
    return Parity(("embedded", "kind"), (row,))


def test_rows_are_by_scenario_size_and_variant_and_the_newest_run_counts() -> None:
    old = run("kind", running=1, started_at="2025-01-01")
    made = compared(run("embedded"), run("kind"), old, run("embedded", variant="extender"))
    assert [(row.variant, sorted(row.runs), row.same) for row in made.rows] == [
        ("default", ["embedded", "kind"], True),
        ("extender", ["embedded"], None),
    ]
    assert made.compared == 1
    assert made.same, "what cannot be compared is no difference"


def test_what_was_not_run_and_what_could_not_be_is_told() -> None:
    other = ("synthetic", "default", "extender")
    made = compared(
        run("embedded"),
        clusters=["embedded", "kind"],
        absent={(KEY, "kind"): "not for it"},
        failed={(other, "kind"): "docker is gone"},
    )
    assert not made.same
    first, second = made.rows
    assert (first.absent, second.failed) == ({"kind": "not for it"}, {"kind": "docker is gone"})
    text = parity_text(made)
    assert "not for it" in text
    assert "synthetic[default] extender on kind: docker is gone" in text
    assert "1 could not be made everywhere" in text


def test_providers_stand_in_their_usual_order_and_strangers_last() -> None:
    made = compared(run("stranger"), run("existing"), run("kind", started_at="2025"), run("embedded"))
    assert made.clusters == ("embedded", "kind", "existing", "stranger")


def test_a_run_that_was_cut_short_is_not_compared_but_told() -> None:
    made = compared(run("embedded"), run("kind", status="failed", error="docker went away"))
    (row,) = made.rows
    assert (row.same, row.disagreements, made.same) == (None, (), False)
    assert row.failed == {"kind": "docker went away (record: synthetic)"}
    newer = run("kind", started_at="2027-01-01")
    assert compared(run("embedded"), run("kind", status="failed"), newer).same


def test_what_is_declared_to_differ_is_a_numbered_note_once() -> None:
    made = compared(
        run("embedded"),
        run("kind", because=WHY),
        run("embedded", variant="extender"),
        run("kind", because=WHY, variant="extender"),
    )
    assert [row.differs for row in made.rows] == [{"kind": WHY}] * 2
    for text in (parity_text(made), parity_markdown(made)):
        assert text.count(WHY) == 1
        assert f"[1] differs on kind: {WHY}" in text
        assert text.count("[1]") == 3


def test_markdown_is_a_table_that_documents_can_carry() -> None:
    header, line, row, blank, total = parity_markdown(compared(run("embedded"), run("kind"))).splitlines()
    assert header.split(" | ")[2:5] == ["embedded", "pods per node", "s"]
    assert set(line) == set("|- ")
    assert row == "| synthetic[default] | default | held | 2 0 | 2.0 | held | 2 0 | 2.0 | same |  |"
    assert blank == ""
    assert total == ("embedded: Kubernetes 1.36.3; kind: Kubernetes 1.36.3. 1 of 1 compared gave the same verdicts.")


def test_json_has_what_a_program_wants() -> None:
    made = compared(run("embedded"), run("kind", running=1, because=WHY)).to_json()
    assert (made["same"], made["clusters"]) == (False, ["embedded", "kind"])
    (row,) = made["rows"]
    assert (row["scenario"], row["size"], row["variant"], row["same"]) == ("synthetic", "default", "default", False)
    assert row["differs"] == {"kind": WHY}
    there = row["runs"]["kind"]
    assert (there["ok"], there["per_node"], there["running_seconds"]) == (False, {"a": 1, "b": 0}, 1.0)
    assert there["pods"]["pending"] == 1
    (one,) = row["disagreements"]
    assert (one["index"], one["kind"]) == (0, "count")
    assert one["verdicts"]["kind"]["status"] == "rejected"


def test_pods_are_counted_from_the_fullest_node() -> None:
    assert pods_per_node(run("kind", running=1)) == "1 0, 1 pending"
    many = RecordBuilder(EXPECT)
    for number in range(20):
        many.node(f"n{number}")
    many.pod("one", "n3").pod("two", "n3")
    assert pods_per_node(judged(many)) == "2 to 0 on 20 nodes"
    assert pods_per_node(judged(RecordBuilder(EXPECT))) == "no nodes"


def test_time_is_from_the_first_creation_to_the_last_that_runs() -> None:
    assert running_seconds(run("kind")) == pytest.approx(2.0)
    assert running_seconds(run("kind", running=0)) is None
