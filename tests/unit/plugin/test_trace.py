import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import RecordError
from harness.plugin.trace import Trace, read

STARTED = 1_700_000_000_000_000_000


def line(at: float, point: str, plugin: str = "Sample", **other: Any) -> dict[str, Any]:
    call = {"t_unix_ns": STARTED + round(at * 1e9), "pod": "default/web", "uid": "1", "point": point}
    return {**call, "plugin": plugin, "node": None, "code": "Success", "seconds": 0.001, **other}


def traced(tmp_path: Path, *lines: dict[str, Any], rest: str = "", ended: int | None = None) -> Trace:
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines) + rest)
    return read(path, STARTED, ended)


def test_calls_are_ordered_by_their_beginning_in_the_time_of_the_run(tmp_path: Path) -> None:
    trace = traced(
        tmp_path,
        line(0.5, "Filter", node="node-1", code="Unschedulable", text="too small"),
        line(0.25, "PostFilter", seconds=0.5),
    )
    assert [(call.t, call.point, call.seconds) for call in trace.calls] == [
        (0.25, "PostFilter", 0.5),
        (0.5, "Filter", 0.001),
    ]
    refused = trace.calls[1]
    assert (refused.pod, refused.uid, refused.node) == ("default/web", "1", "node-1")
    assert (refused.code, refused.text, refused.count, dict(refused.codes)) == (
        *("Unschedulable", "too small"),
        *(1, {"Unschedulable": 1}),
    )


def test_a_sum_of_calls_keeps_its_numbers(tmp_path: Path) -> None:
    codes = {"Success": 41, "Unschedulable": 10}
    (call,) = traced(tmp_path, line(1, "Filter", count=51, codes=codes)).calls
    assert (call.count, dict(call.codes), call.node) == (51, codes, None)


def test_a_run_gets_what_happened_in_it_and_all_arguments(tmp_path: Path) -> None:
    arguments = {
        "t_unix_ns": STARTED - 10,
        "point": "Arguments",
        "plugin": "Sample",
        "arguments": {"favoriteNumber": 7},
    }
    lines = [arguments, line(-0.1, "Bind"), line(0, "Bind", node="in"), line(2, "Bind")]
    trace = traced(tmp_path, *lines, ended=STARTED + 2_000_000_000)
    assert [call.node for call in trace.calls] == ["in"]
    assert trace.arguments == {"Sample": {"favoriteNumber": 7}}


def test_attempts_are_counted_by_what_begins_one(tmp_path: Path) -> None:
    lines = [line(0.1, "PreEnqueue"), line(0.2, "QueueSort"), line(0.3, "Sign"), line(0.31, "Sign", "Fit")]
    lines += [line(0.4, "PreFilter"), line(0.41, "PreFilter", "Fit"), line(0.5, "Filter", node="node-1")]
    lines += [line(1.1, "PreEnqueue"), line(1.4, "PreFilter"), line(1.5, "PreFilter", "Fit", code="Unschedulable")]
    # Refused before anything else, and tried again without passing the queue's plugins.
    lines += [line(2.4, "PreFilter"), line(2.5, "Reserve"), line(2.6, "Unreserve")]
    other = {"pod": "default/db", "uid": "2"}
    trace = traced(tmp_path, *lines, line(0.45, "PreFilter", **other), line(9, "Bind", **other))
    assert [call.attempt for call in trace.of("default/web")] == [1] * 7 + [2] * 3 + [3] * 3
    assert [call.attempt for call in trace.of("default/db")] == [1, 1]
    assert [call.point for call in trace.of("default/web", 3)] == ["PreFilter", "Reserve", "Unreserve"]
    assert trace.points("default/web", attempt=1) == ["PreEnqueue", "QueueSort", "Sign", "PreFilter", "Filter"]
    assert trace.points("default/web", plugin="Fit") == ["Sign", "PreFilter"]


def test_a_line_that_is_being_written_is_left_out(tmp_path: Path) -> None:
    assert len(traced(tmp_path, line(1, "Bind"), rest='{"t_unix_ns": 17').calls) == 1
    assert traced(tmp_path, rest='{"t_uni').calls == ()


@pytest.mark.parametrize(
    ("rest", "told"),
    [
        ("{half\n", "trace.jsonl:2: not JSON"),
        ("[]\n", "trace.jsonl:2: not a line of a trace"),
        ('{"t_unix_ns": 1}\n', "trace.jsonl:2: not a line of a trace: KeyError('point')"),
        (f'{{"t_unix_ns": {STARTED}, "point": "Bind"}}\n', "lacks what every call has: KeyError('uid')"),
    ],
)
def test_what_is_no_trace_is_refused_with_the_line(tmp_path: Path, rest: str, told: str) -> None:
    with pytest.raises(RecordError) as caught:
        traced(tmp_path, line(1, "Bind"), rest=rest)
    assert told in str(caught.value)


def test_a_missing_trace_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no trace there"):
        read(tmp_path / "none.jsonl", STARTED)
