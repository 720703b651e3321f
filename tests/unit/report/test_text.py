import os
import shutil
from dataclasses import replace

import pytest

from harness.report.text import NODES_SHOWN_MAX, run_text, table, verdict_table
from tests.unit.expect.records import NO_CPU, RecordBuilder
from tests.unit.report.given import judged, mixed


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "get_terminal_size", os.terminal_size)


def test_a_run_that_held_takes_few_lines() -> None:
    first, nodes, warning, record = run_text(mixed()).splitlines()
    assert first == "PASS  synthetic[default] default: 2 running, 1 pending, 1 succeeded, 1 failed (10.0 s, seed 3)"
    assert nodes.strip() == "pods per node: n1 2, n2 2"
    assert warning.strip() == "warning: something is odd"
    assert record.strip() == "record: synthetic"


def test_a_run_that_did_not_hold_shows_expected_seen_and_the_evidence() -> None:
    text = run_text(mixed({"kind": "count", "running": 20}))
    assert text.startswith("FAIL  synthetic[default] default")
    assert "REJECTED" in text
    assert "expected, " in text
    assert " seen" in text
    assert "waits" in text
    assert text.splitlines()[-1].strip() == "record: synthetic"


def test_what_is_declared_to_differ_is_shown_where_it_does() -> None:
    run = mixed()
    declared = {"on": {"kind": {"because": "nodes are real"}}}
    scenario = type(run.record.scenario).from_json(run.record.scenario.to_json() | declared)
    for cluster, shown in (("kind", True), ("embedded", False)):
        meta = replace(run.record.meta, cluster=cluster)
        text = run_text(replace(run, record=replace(run.record, scenario=scenario, meta=meta)))
        assert ("      differs on kind: nodes are real\n" in text) is shown


def test_every_verdict_is_shown_only_when_asked_for() -> None:
    assert "overcommitted nodes" not in run_text(mixed())
    assert "overcommitted nodes" in run_text(mixed(), verbose=True)


def test_a_run_without_pods_or_nodes_says_so() -> None:
    text = run_text(judged(RecordBuilder()))
    assert "no pods" in text
    assert "pods per node: no nodes" in text


def test_pods_that_have_a_node_and_do_not_run_are_told_apart_from_pending_ones() -> None:
    builder = RecordBuilder().node("n").pod("a", "n", phase="Pending").pod("b", "n").pod("c", message=NO_CPU)
    assert "1 running, 1 pending, 1 bound and not running (" in run_text(judged(builder))


def test_nodes_stand_in_the_order_of_their_names() -> None:
    builder = RecordBuilder().node("node-10").node("node-2").node("node-1").pod("p", "node-2")
    assert "pods per node: node-1 0, node-2 1, node-10 0" in run_text(judged(builder))


def test_many_nodes_are_summed_up() -> None:
    builder = RecordBuilder()
    for number in range(NODES_SHOWN_MAX + 1):
        builder.node(f"n{number}")
    builder.pod("p", "n0")
    assert "13 nodes hold 0 to 1 pods, 0 in the middle" in run_text(judged(builder))


def test_a_table_of_verdicts_fits_the_terminal() -> None:
    run = mixed({"kind": "count", "selector": "app in (web, a-very-long-name, another-one)", "running": {"min": 1}})
    for line in verdict_table(run.verdicts).splitlines():
        assert len(line) <= 100, line


def test_long_cells_are_wrapped() -> None:
    assert table([["one two three"]], ["h"], widths=[5]).count("\n") > 2
