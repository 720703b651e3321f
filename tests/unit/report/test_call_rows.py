import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from harness.record.metrics import AFTER, BEFORE
from harness.record.model import Record
from harness.record.read import read
from harness.report.calls import ATTEMPT_SECONDS, call_rows, share_of_attempts
from harness.report.text import calls_text, run_text
from tests.unit.expect.records import RecordBuilder
from tests.unit.report.given import judged


def made() -> RecordBuilder:
    """Two extenders; the first one that was called is the second of the configuration."""
    builder = RecordBuilder().extender("first").extender("second").node("n").pod("a", "n")
    builder.call("filter", "a", 1.0, seconds=0.25, extender="second", request_bytes=300, response_bytes=20)
    builder.call("filter", "a", 2.0, seconds=0.001, extender="first", nodes_in=4, nodes_out=2, request_bytes=1000)
    builder.call("filter", "a", 3.0, seconds=0.003, extender="first", nodes_in=4, nodes_out=1, request_bytes=500)
    builder.call("prioritize", "a", 4.0, seconds=0.002, extender="first", nodes_in=2, nodes_out=2)
    builder.call("filter", "a", 5.0, extender="first", ending="open", status=None, end_t=None)
    return builder.call("filter", "a", 6.0, seconds=0.002, extender="first", status=500, error="code 500")


def with_metrics(folder: Path, builder: RecordBuilder, before: str, after: str) -> Record:
    path = builder.write(folder)
    (path / BEFORE).write_text(before)
    (path / AFTER).write_text(after)
    return read(path)


def spent(seconds: float) -> str:
    """Return a page on which two series add up to so many seconds."""
    lines = [f'{ATTEMPT_SECONDS}{{result="{result}"}} {seconds / 2}\n' for result in ("scheduled", "error")]
    return "".join(["# scheduler: s\n", *lines])


def test_rows_stand_in_the_order_of_the_configuration_then_of_the_calls() -> None:
    rows = call_rows(made().build())
    assert [(row.extender, row.kind) for row in rows] == [
        ("first", "filter"),
        ("first", "prioritize"),
        ("second", "filter"),
    ]


def test_calls_nodes_and_bytes_are_added_up() -> None:
    row = call_rows(made().build())[0]
    assert (row.calls, row.nodes_in, row.nodes_out) == (4, 8, 3)
    assert (row.request_bytes, row.response_bytes) == (1500, 0)


def test_what_was_refused_or_never_answered_has_failed() -> None:
    assert [row.failed for row in call_rows(made().build())] == [2, 0, 0]
    builder = RecordBuilder().extender().call("filter", "a").call("filter", "a", ending="cut", status=200)
    assert call_rows(builder.build())[0].failed == 1


def test_times_are_those_of_calls_that_ended() -> None:
    row = call_rows(made().build())[0]
    assert [row.p50_ms, row.p95_ms, row.max_ms] == pytest.approx([2.0, 3.0, 3.0])
    waiting = RecordBuilder().extender().call("filter", "a", ending="open", end_t=None)
    row = call_rows(waiting.build())[0]
    assert (row.p50_ms, row.p95_ms, row.max_ms) == (None, None, None)


def test_a_path_that_is_not_configured_is_a_row_of_its_own() -> None:
    builder = made().call("filter", "a", 7.0, extender="first", path="/priority", status=404)
    builder.lines["calls"][-1]["kind"] = None
    assert ("first", "/priority") in [(row.extender, row.kind) for row in call_rows(builder.build())]


def test_an_extender_that_the_record_does_not_know_comes_last() -> None:
    rows = call_rows(made().call("filter", "a", 0.5, extender="unknown").build())
    assert rows[-1].extender == "unknown"


def test_a_program_can_read_a_row() -> None:
    row = call_rows(made().build())[0]
    value = json.loads(json.dumps(row.to_json()))
    assert (value["extender"], value["kind"], value["calls"], value["max_ms"]) == ("first", "filter", 4, row.max_ms)


def test_the_share_is_what_the_calls_took_of_the_growth_of_all_attempts(tmp_path: Path) -> None:
    builder = RecordBuilder().extender().call("filter", "a", seconds=0.25).call("filter", "a", 2.0, seconds=0.75)
    builder.call("filter", "a", 3.0, ending="open", end_t=None)
    record = with_metrics(tmp_path, builder, spent(10.0), spent(14.0))
    assert share_of_attempts(record) == pytest.approx(0.25)
    assert calls_text(record).endswith("\n(extenders took 25% of the time of all scheduling attempts)")


@pytest.mark.parametrize(("before", "after"), [("", ""), (spent(2), spent(2)), (spent(2), "")])
def test_a_share_of_nothing_is_not_told(tmp_path: Path, before: str, after: str) -> None:
    record = with_metrics(tmp_path, RecordBuilder().extender().call("filter", "a"), before, after)
    assert share_of_attempts(record) is None
    assert "extenders took" not in calls_text(record)


def test_without_metrics_or_calls_no_share_is_known(tmp_path: Path) -> None:
    assert share_of_attempts(read(made().write(tmp_path / "a"))) is None
    assert share_of_attempts(with_metrics(tmp_path / "b", RecordBuilder().extender(), spent(1), spent(2))) is None


def test_the_table_shows_every_row_and_a_dash_for_an_unknown_time() -> None:
    builder = RecordBuilder().extender().call("filter", "a", seconds=0.0015, request_bytes=2_000_000, nodes_in=4)
    builder.call("bind", "a", 2.0, ending="open", end_t=None, status=None)
    header, _, filtered, bound = calls_text(builder.build()).splitlines()
    assert header.split()[:4] == ["extender", "call", "calls", "failed"]
    assert filtered.split() == ["ext", "filter", "1", "0", "1.50", "1.50", "1.50", "2", "MB", "0", "B", "4", "0"]
    assert bound.split()[:7] == ["ext", "bind", "1", "1", "-", "-", "-"]


def test_a_run_shows_its_calls_and_one_without_shows_no_table() -> None:
    assert "p95 ms" in run_text(judged(made()))
    quiet = judged(RecordBuilder().extender(tapped=False).node("n").pod("a", "n"))
    assert calls_text(quiet.record) == ""
    assert "p95 ms" not in run_text(quiet)


def test_calls_stand_beside_findings_also_when_the_run_did_not_hold() -> None:
    run = judged(made())
    failed = replace(run, verdicts=tuple(replace(one, status="rejected") for one in run.verdicts))
    text = run_text(failed)
    assert text.startswith("FAIL")
    assert "p95 ms" in text


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (40_000_000, "40 MB"),
        (10**6, "1 MB"),
        (3 * 10**9, "3 GB"),
        (10**13, "10000 GB"),
    ],
)
def test_sizes_are_short(count: int, shown: str) -> None:
    row = calls_text(RecordBuilder().extender().call("filter", "a", request_bytes=count).build()).splitlines()[2]
    assert re.split(" {2,}", row)[7] == shown
