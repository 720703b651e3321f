"""What was said is read from a real cassette, written as a run writes it."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.expect.transcript import said_by_extenders
from harness.extender import requests
from harness.extender.cassette.file import CassetteCall, CassetteWriter
from harness.record.call import CASSETTE
from harness.record.read import read
from tests.unit.expect.records import NO_CPU, RecordBuilder

NODES = ("n1", "n2", "n3", "n4")


class Taped:
    """A record with a pod and a cassette, call by call."""

    def __init__(self, folder: Path, node: str | None = "n1", builder: RecordBuilder | None = None) -> None:
        self.folder = folder
        self.builder = (builder or RecordBuilder().extender()).pod("a", node, message=None if node else NO_CPU)
        self.calls: list[CassetteCall] = []

    def call(self, kind: str | None, response: Any = None, *, nodes: tuple[str, ...] = NODES, **more: Any) -> "Taped":
        pod = requests.pod("a", uid="uid-a")
        sent = requests.extender_args(pod, [requests.node(name) for name in nodes], names_only=True)
        seq = len(self.calls)
        values: dict[str, Any] = {
            "status": 200,
            "seconds": 0.0125,
            "attempt": 1,
            "request": json.loads(requests.encoded(sent)),
        } | more
        call: dict[str, Any] = {
            "extender": "ext",
            "seq": seq,
            "t": 1.0 + seq,
            "kind": kind,
            "path": f"/{kind}",
            "uid": "uid-a",
        }
        self.calls.append(CassetteCall(**(call | {"pod": "default/a", "response": response} | values)))
        return self

    def said(self, *, taped: bool = True) -> list[str]:
        for call in self.calls:
            self.builder.call(call.kind or "filter", "a", call.t, extender=call.extender)
        path = self.builder.write(self.folder)
        if taped:
            extenders = [one.to_json() for one in self.builder.extenders]
            with CassetteWriter(path / CASSETTE, {"made_by": "test", "extenders": extenders}) as cassette:
                # Ends come in any order, and so do the lines of two extenders.
                for call in reversed(self.calls):
                    cassette.append(call)
        record = read(path)
        return said_by_extenders(record, next(pod for pod in record.pods if pod.name == "a"))


def kept(*names: str, failed: dict[str, str] | None = None, hopeless: dict[str, str] | None = None) -> Any:
    return {"NodeNames": list(names), "FailedNodes": failed or {}, "FailedAndUnresolvableNodes": hopeless or {}}


def scores(**points: int) -> Any:
    return [{"Host": name, "Score": score} for name, score in points.items()]


def test_each_call_is_a_line_in_the_order_of_time(tmp_path: Path) -> None:
    taped = Taped(tmp_path).call("filter", kept("n1", "n2", failed={"n3": "full", "n4": "full"}))
    taped.call("prioritize", scores(n1=3, n2=1), nodes=("n1", "n2"))
    assert taped.said()[:2] == [
        "1.000 s  attempt 1, filter by ext (12.5 ms): 4 nodes sent, kept n1, n2; 2 rejected: 'full'",
        "2.000 s  attempt 1, prioritize by ext (12.5 ms): scores n1=3, n2=1",
    ]


def test_texts_of_refusal_are_counted_and_silence_is_told(tmp_path: Path) -> None:
    reply = kept(failed={"n1": "full"}, hopeless={"n2": "too old", "n3": "too old"})
    (line,) = Taped(tmp_path, None).call("filter", reply, attempt=None).said()
    assert line == (
        "1.000 s  filter by ext (12.5 ms): "
        "4 nodes sent, kept none; 2 rejected: 'too old'; 1 rejected: 'full'; 1 rejected without a reason"
    )


def test_one_node_is_one_node(tmp_path: Path) -> None:
    (line,) = Taped(tmp_path, None).call("filter", kept(failed={"n1": "full"}), nodes=("n1",)).said()
    assert "1 node sent, kept none" in line


def test_many_nodes_are_not_all_named(tmp_path: Path) -> None:
    many = tuple(f"n{number}" for number in range(9))
    taped = Taped(tmp_path, "n0").call("filter", kept(*many), nodes=many)
    taped.call("prioritize", scores(**{name: 10 - at for at, name in enumerate(many)}), nodes=many)
    filtered, scored, _ = taped.said()
    assert filtered.endswith("kept n0, n1, n2, n3, n4, n5 and 3 more")
    assert scored.endswith("scores n0=10, n1=9, n2=8, n3=7, n4=6, n5=5 and 3 more")


def test_the_best_scores_come_first_and_none_is_told(tmp_path: Path) -> None:
    first, second = Taped(tmp_path, None).call("prioritize", scores(n1=1, n2=9)).call("prioritize", []).said()
    assert first.endswith("scores n2=9, n1=1")
    assert second.endswith("scores nothing")


def test_preempting_and_binding_are_told(tmp_path: Path) -> None:
    victims = {"NodeNameToMetaVictims": {"n1": {"Pods": [{"UID": "u1"}, {"UID": "u2"}]}}}
    taped = Taped(tmp_path, None, RecordBuilder().extender(preemptVerb="preempt", bindVerb="bind"))
    taped.call("preempt", victims).call("preempt", {"NodeNameToMetaVictims": {}})
    binding = json.loads(requests.encoded(requests.binding_args(requests.pod("a", uid="uid-a"), "n2")))
    taped.call("bind", {"Error": ""}, request=binding)
    evicts, nobody, bound = taped.said()
    assert evicts.endswith("preempt by ext (12.5 ms): evicts 2 on n1")
    assert nobody.endswith("evicts nobody")
    assert bound.endswith("says it bound the pod to n2")


def test_a_failure_is_told_in_the_schedulers_words_and_whether_it_tells_anyone(tmp_path: Path) -> None:
    taped = Taped(tmp_path, None).call("filter", raw=b"boom", status=500, fault="status 500")
    taped.call("prioritize", raw=b"", status=500).call("filter", status=None, ending="unreachable", seconds=None)
    filtered, scored, unreachable = taped.said()
    assert filtered.startswith(
        "1.000 s  attempt 1, filter by ext (12.5 ms, broken on purpose: status 500): failed filter "
    )
    assert "code 500" in filtered
    assert "ignores" not in filtered
    assert scored.endswith("code 500; kube-scheduler ignores this without a word")
    assert "(no answer): failed: " in unreachable
    assert "connection refused" in unreachable


def test_calls_about_other_pods_and_unknown_paths_are_left_out(tmp_path: Path) -> None:
    taped = Taped(tmp_path, None).call("filter", kept("n1"))
    taped.call("filter", kept("n2"), uid="uid-b", pod="default/b").call(None, kept("n3"))
    taped.call("filter", kept("n4"), extender="stranger")
    (line,) = taped.said()
    assert "kept n1" in line


def test_of_very_many_calls_the_first_and_last_are_told(tmp_path: Path) -> None:
    taped = Taped(tmp_path, None)
    for number in range(47):
        taped.call("filter", kept(failed=dict.fromkeys(NODES, "unlucky")), attempt=number + 1)
    lines = taped.said()
    assert len(lines) == 41
    assert lines[20] == "… 7 calls more …"
    assert "attempt 20," in lines[19]
    assert "attempt 28," in lines[21]
    assert "attempt 47," in lines[-1]


def test_forty_calls_are_all_told(tmp_path: Path) -> None:
    taped = Taped(tmp_path, None)
    for _ in range(40):
        taped.call("filter", kept(failed=dict.fromkeys(NODES, "unlucky")))
    assert len(taped.said()) == 40


def chosen(folder: Path, node: str, *, weight: int = 1, **points: int) -> str:
    taped = Taped(folder, node, RecordBuilder().extender(weight=weight)).call("filter", kept(*points))
    return taped.call("prioritize", scores(**points), nodes=tuple(points)).said()[-1]


@pytest.mark.parametrize(
    ("node", "points", "told"),
    [
        ("n1", {"n1": 3, "n2": 1}, "n1, which got the most from extenders (60 points); the plugins' scores count too"),
        (
            "n1",
            {"n1": 3, "n2": 3},
            "n1, one of those that got the most from extenders (60 points); the plugins decided",
        ),
        ("n1", {"n1": 1, "n2": 3}, "n1 with 20 points of extenders, although n2 got 60: plugins outweighed that"),
        ("n4", {"n1": 3, "n2": 3}, "n4 with 0 points of extenders, although n1, n2 got 60: plugins outweighed that"),
    ],
)
def test_the_choice_is_explained_as_far_as_extenders_explain_it(
    tmp_path: Path, node: str, points: dict[str, int], told: str
) -> None:
    assert chosen(tmp_path, node, weight=2, **points) == f"chosen: {told}"


def test_the_only_node_that_was_left_needs_no_points(tmp_path: Path) -> None:
    taped = Taped(tmp_path).call("filter", kept("n1", failed=dict.fromkeys(NODES[1:], "full")))
    assert taped.said()[-1] == "chosen: n1, the only node that was left"


def test_points_of_several_extenders_are_added(tmp_path: Path) -> None:
    taped = Taped(tmp_path, "n2", RecordBuilder().extender().extender("other", weight=3))
    taped.call("filter", kept("n1", "n2")).call("filter", kept("n1", "n2"), extender="other")
    taped.call("prioritize", scores(n1=5, n2=0)).call("prioritize", scores(n1=0, n2=2), extender="other")
    assert taped.said()[-1].startswith("chosen: n2, which got the most from extenders (60 points)")


def test_only_the_last_attempt_explains_the_choice(tmp_path: Path) -> None:
    taped = Taped(tmp_path, "n2").call("filter", kept("n1", "n2")).call("prioritize", scores(n1=9, n2=0))
    taped.call("filter", kept("n2", "n3"), attempt=2).call("prioritize", scores(n2=4, n3=1), attempt=2)
    assert taped.said()[-1].startswith("chosen: n2, which got the most from extenders (40 points)")


def test_scores_of_an_earlier_attempt_explain_nothing(tmp_path: Path) -> None:
    taped = Taped(tmp_path, "n2").call("filter", kept("n1", "n2")).call("prioritize", scores(n1=9, n2=0))
    taped.call("filter", kept("n2", "n3"), attempt=2).call("prioritize", raw=b"", status=500, attempt=2)
    assert not taped.said()[-1].startswith("chosen")


def test_scores_that_were_not_accepted_explain_nothing(tmp_path: Path) -> None:
    taped = Taped(tmp_path).call("filter", kept("n1", "n2")).call("prioritize", raw=b"", status=500)
    assert not taped.said()[-1].startswith("chosen")


def test_a_pod_without_a_node_was_not_chosen_for(tmp_path: Path) -> None:
    taped = Taped(tmp_path, None).call("filter", kept("n1")).call("prioritize", scores(n1=1))
    assert not taped.said()[-1].startswith("chosen")


def test_without_a_cassette_or_a_call_nothing_was_said(tmp_path: Path) -> None:
    assert Taped(tmp_path / "a").call("filter", kept("n1")).said(taped=False) == []
    assert Taped(tmp_path / "b").said() == []


def test_a_damaged_cassette_is_told_instead_of_raised(tmp_path: Path) -> None:
    path = Taped(tmp_path).call("filter", kept("n1")).builder.call("filter", "a").write(tmp_path)
    (path / CASSETTE).write_bytes(b"no cassette at all")
    record = read(path)
    (line,) = said_by_extenders(record, record.pods[0])
    assert line.startswith("what was said cannot be read: ")
    assert CASSETTE in line


def test_nothing_is_made_up_about_an_answer_that_was_not_kept(tmp_path: Path) -> None:
    taped = Taped(tmp_path).call("filter", raw=b"", omitted="larger than 67108864 bytes")
    (line, *_) = taped.said()
    assert "failed" not in line
    assert "larger than 67108864 bytes" in line


def test_nothing_is_made_up_about_a_call_that_had_not_ended(tmp_path: Path) -> None:
    (line,) = Taped(tmp_path, None).call("filter", status=None, seconds=None, ending="open").said()
    assert "EOF" not in line
