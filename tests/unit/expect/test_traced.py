import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from harness.errors import RecordError
from harness.expect.base import Verdict
from harness.expect.judge import judge
from harness.expect.traced import NO_TRACE, calls_of, done_by_plugins
from harness.plugin.trace import TraceCall
from harness.record.model import Record
from harness.record.read import read
from tests.unit.expect.records import RecordBuilder

ARGUMENTS = {"Sample": {"favoriteColor": "#326CE5", "favoriteNumber": 7}, "Silent": None}


def call(point: str, pod: str = "a", plugin: str = "Sample", **more: Any) -> dict[str, Any]:
    """Return a line of a record's trace."""
    facts = {"t": 1.5, "code": "Success", "seconds": 0.000_25, "attempt": 1, "uid": f"uid-{pod}"}
    return asdict(TraceCall(point=point, plugin=plugin, pod=f"default/{pod}", **{**facts, **more}))


def record(folder: Path, *lines: dict[str, Any] | str, told: Any = ARGUMENTS, **expect: Any) -> Record:
    """Return a record of two pods with this trace; `told` is what plugins said about their arguments."""
    demand = {"kind": "trace", "points": ["Filter"], **expect}
    path = RecordBuilder(demand).node("n").pod("a", "n").pod("b", "n", labels={"app": "db"}).write(folder)
    text = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (path / "trace.jsonl").write_text("".join(f"{line}\n" for line in text))
    if told is not None:
        (path / "plugin-arguments.json").write_text(json.dumps(told))
    return read(path)


def judged(folder: Path, *lines: dict[str, Any] | str, **expect: Any) -> Verdict:
    return judge(record(folder, *lines, **expect))[0]


WHOLE = [call(point) for point in ("PreFilter", "Filter", "Reserve", "PreBind", "Bind")]


@pytest.mark.parametrize(
    "demand",
    [
        {"points": ["Filter"]},
        {"points": ["PreFilter", "Filter", "Reserve", "PreBind", "Bind"]},
        {"points": ["PreFilter", "Bind"]},
        {"points": ["Filter"], "plugin": "Sample"},
        {"points": ["Filter"], "codes": {"Filter": "Success", "Bind": "Success"}},
        {"points": ["Filter"], "plugin": "Sample", "arguments": {"favoriteNumber": 7}},
    ],
)
def test_a_trace_as_demanded_holds(tmp_path: Path, demand: dict[str, Any]) -> None:
    verdict = judged(tmp_path, *WHOLE, pods=["a"], **demand)
    assert (verdict.kind, verdict.status, verdict.seen, verdict.evidence) == ("trace", "held", "1 of 1 pod so", ())


@pytest.mark.parametrize(
    ("demand", "told"),
    [
        ({"points": ["Bind", "Filter"]}, "a went through PreFilter, Filter, Reserve, PreBind, Bind"),
        ({"points": ["Filter", "Permit"]}, "a went through PreFilter, Filter, Reserve, PreBind, Bind"),
        ({"points": ["Filter"], "plugin": "Other"}, "a went through nothing"),
        ({"points": ["Filter"], "codes": {"Filter": "Wait"}}, "a: Filter answered Success"),
        ({"points": ["Filter"], "codes": {"Permit": "Wait"}}, "a: Permit answered nothing"),
    ],
)
def test_a_trace_otherwise_is_rejected_with_what_happened(tmp_path: Path, demand: dict[str, Any], told: str) -> None:
    verdict = judged(tmp_path, *WHOLE, pods=["a"], **demand)
    assert (verdict.status, verdict.seen, verdict.evidence) == ("rejected", "0 of 1 pod so", (told,))


def test_the_title_and_what_was_expected_say_it_all(tmp_path: Path) -> None:
    verdict = judged(tmp_path, *WHOLE, pods=["a"], points=["Filter", "Bind"], codes={"Bind": "Success"})
    assert (verdict.title, verdict.expected) == ("plugins at pods a", "Filter → Bind; Bind Success")


def test_points_count_from_when_they_were_first_reached(tmp_path: Path) -> None:
    again = [call("Reserve"), call("Filter", attempt=2), call("Unreserve", attempt=2)]
    lines = [call("Filter"), *again]
    assert judged(tmp_path / "1", *lines, pods=["a"], points=["Filter", "Reserve", "Unreserve"]).ok
    assert not judged(tmp_path / "2", *lines, pods=["a"], points=["Reserve", "Filter"]).ok


def test_one_answer_of_several_is_enough(tmp_path: Path) -> None:
    lines = [call("Filter", code="Unschedulable", node="n1"), call("Filter", node="n2")]
    assert judged(tmp_path / "1", *lines, pods=["a"], codes={"Filter": "Unschedulable"}).ok
    verdict = judged(tmp_path / "2", *lines, pods=["a"], codes={"Filter": "Error"})
    assert verdict.evidence == ("a: Filter answered Success, Unschedulable",)


def test_only_the_named_plugin_is_looked_at(tmp_path: Path) -> None:
    lines = [call("Bind", plugin="DefaultBinder"), call("Filter")]
    assert judged(tmp_path / "1", *lines, pods=["a"], points=["Bind", "Filter"]).ok
    assert not judged(tmp_path / "2", *lines, pods=["a"], points=["Bind"], plugin="Sample").ok


def test_every_chosen_pod_counts_and_no_other(tmp_path: Path) -> None:
    verdict = judged(tmp_path / "1", *WHOLE)
    assert (verdict.status, verdict.seen) == ("rejected", "1 of 2 pods so")
    assert verdict.evidence == ("b went through nothing",)
    assert judged(tmp_path / "2", *WHOLE, selector="app=web").ok


def test_no_pod_is_no_proof(tmp_path: Path) -> None:
    verdict = judged(tmp_path, *WHOLE, pods=["nobody"])
    assert (verdict.status, verdict.seen) == ("rejected", "0 of 0 pods so")


def test_a_run_without_a_trace_is_rejected() -> None:
    verdict = judge(RecordBuilder({"kind": "trace", "points": ["Filter"]}).node("n").pod("a", "n").build())[0]
    assert (verdict.status, verdict.seen, verdict.evidence) == ("rejected", "no trace", (NO_TRACE,))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"favoriteNumber": 8}, "argument favoriteNumber: 8 expected, 7 seen"),
        ({"favoriteNumber": "7"}, "argument favoriteNumber: '7' expected, 7 seen"),
        ({"thanksTo": "thockin"}, "argument thanksTo: 'thockin' expected, None seen"),
    ],
)
def test_arguments_that_were_understood_otherwise_are_told(
    tmp_path: Path, arguments: dict[str, Any], told: str
) -> None:
    verdict = judged(tmp_path, *WHOLE, pods=["a"], plugin="Sample", arguments=arguments)
    assert (verdict.status, verdict.evidence) == ("rejected", (told,))


@pytest.mark.parametrize("seen", [None, {}, {"Sample": None}, {"Other": {"favoriteNumber": 7}}])
def test_arguments_that_nobody_told_are_missing(tmp_path: Path, seen: Any) -> None:
    verdict = judged(tmp_path, *WHOLE, told=seen, pods=["a"], plugin="Sample", arguments={"favoriteNumber": 7})
    assert verdict.evidence == ("argument favoriteNumber: 7 expected, None seen",)


@pytest.mark.parametrize("line", ["{half", "[]", '"text"', '{"t": 1.0}', json.dumps({**WHOLE[0], "more": 1})])
def test_a_damaged_trace_is_told_with_its_line_and_what_to_do(tmp_path: Path, line: str) -> None:
    damaged = record(tmp_path, WHOLE[0], line, WHOLE[1])
    with pytest.raises(RecordError, match=r"trace\.jsonl:2: .*; the record is damaged, run the scenario again"):
        judge(damaged)


def test_calls_are_those_of_the_pod_with_this_uid_in_their_order(tmp_path: Path) -> None:
    made = record(tmp_path, call("Filter", "b"), call("PreFilter"), call("Filter"), call("Bind", "a", uid="uid-old"))
    pods = {pod.name: pod for pod in made.pods}
    assert [one.point for one in calls_of(made, pods["a"])] == ["PreFilter", "Filter"]
    assert [one.point for one in calls_of(made, pods["b"])] == ["Filter"]


def test_a_trace_that_has_changed_is_read_again(tmp_path: Path) -> None:
    made = record(tmp_path, call("Filter"))
    (pod,) = [one for one in made.pods if one.name == "a"]
    assert len(calls_of(made, pod)) == 1
    file = made.path / "trace.jsonl"
    before = file.stat()
    file.write_text(file.read_text() * 2)
    later = before.st_mtime_ns + 1_000_000
    os.utime(file, ns=(later, later))
    assert len(calls_of(made, pod)) == 2


def plugins_did(folder: Path, *lines: dict[str, Any]) -> list[str]:
    made = record(folder, *lines)
    return done_by_plugins(made, next(pod for pod in made.pods if pod.name == "a"))


def test_what_plugins_did_is_told_line_by_line(tmp_path: Path) -> None:
    refusal = call("Filter", plugin="Fit", node="n1", code="Unschedulable", text="too small", t=2.0)
    many = call("Score", count=51, codes={"Success": 51}, seconds=0.003)
    assert plugins_did(tmp_path, call("PreFilter"), refusal, many, call("Filter", "b")) == [
        "1.500 s  PreFilter by Sample: Success (250 µs)",
        "2.000 s  Filter by Fit on n1: Unschedulable (250 µs): too small",
        "1.500 s  Score by Sample on 51 nodes: Success (3000 µs)",
    ]


def test_of_several_attempts_the_last_is_told(tmp_path: Path) -> None:
    lines = plugins_did(tmp_path, call("PreFilter"), call("PreFilter", attempt=2), call("Filter", attempt=2))
    assert lines[0] == "attempt 2 of 2:"
    assert [line.split()[2] for line in lines[1:]] == ["PreFilter", "Filter"]


def test_many_calls_are_cut_and_that_is_told(tmp_path: Path) -> None:
    lines = plugins_did(tmp_path, *(call("Filter", node=f"n{number}") for number in range(110)))
    assert len(lines) == 101
    assert lines[-1] == "and 10 more like these"


def test_nothing_is_told_of_a_pod_that_no_plugin_saw(tmp_path: Path) -> None:
    assert plugins_did(tmp_path / "1", call("Filter", "b")) == []
    untraced = RecordBuilder().node("n").pod("a", "n").build()
    assert done_by_plugins(untraced, untraced.pods[0]) == []
