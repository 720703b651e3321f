from pathlib import Path
from typing import Any

import pytest

from harness.expect.nodewise import NODES_PER_CALL_MAX, node_words
from harness.extender.cassette.file import CassetteCall, CassetteWriter
from harness.record.call import CASSETTE
from harness.record.model import Record
from harness.record.read import read
from tests.unit.expect.records import RecordBuilder

NAMES = ["n1", "n2", "n3", "n4"]


def spoken(folder: Path, *calls: dict[str, Any], **more: Any) -> Record:
    """A record whose cassette has these calls: kind, pod and response of each."""
    builder = RecordBuilder().extender(bindVerb="bind", preemptVerb="preempt")
    for pod in dict.fromkeys(call["pod"] for call in calls):
        builder.pod(pod, "n1")
    for seq, call in enumerate(calls):
        builder.call(call["kind"], call["pod"], 1.0 + seq, seq=seq, **more)
    path = builder.write(folder)
    entry = {"name": "ext", "subject": "ref:ext", "entry": builder.extenders[0].entry}
    with CassetteWriter(path / CASSETTE, {"extenders": [entry]}) as writer:
        for seq, call in enumerate(calls):
            request = call.get("request", {"NodeNames": NAMES})
            known: dict[str, Any] = {
                "kind": call["kind"],
                "path": "/",
                "response": call.get("response"),
                "request": request,
            }
            whom: dict[str, Any] = {"pod": f"default/{call['pod']}", "uid": f"uid-{call['pod']}", "attempt": 1}
            writer.append(CassetteCall("ext", seq, 1.0 + seq, status=call.get("status", 200), **known, **whom))
    return read(path)


def test_a_filter_says_something_about_every_node(tmp_path: Path) -> None:
    reply = {"NodeNames": ["n1"], "FailedNodes": {"n2": "full"}, "FailedAndUnresolvableNodes": {"n3": "never"}}
    found = node_words(spoken(tmp_path, {"kind": "filter", "pod": "a", "response": reply}), {"uid-a"})
    assert [(word.node, word.said, word.text) for word in found.words] == [
        ("n2", "rejected", "full"),
        ("n3", "unresolvable", "never"),
        ("n4", "dropped", ""),
        ("n1", "kept", ""),
    ]
    assert (found.unread, found.left_out, found.warnings) == (0, 0, [])


def test_scores_stand_with_the_highest_first(tmp_path: Path) -> None:
    reply = [{"Host": "n1", "Score": 3}, {"Host": "n2", "Score": 9}]
    found = node_words(spoken(tmp_path, {"kind": "prioritize", "pod": "a", "response": reply}), {"uid-a"})
    assert [(word.node, word.score) for word in found.words] == [("n2", 9), ("n1", 3)]


def test_a_call_that_failed_is_one_word_about_no_node(tmp_path: Path) -> None:
    found = node_words(spoken(tmp_path, {"kind": "filter", "pod": "a", "status": 500}), {"uid-a"})
    (word,) = found.words
    assert (word.node, word.said) == (None, "failed")
    assert "code 500" in word.text


def test_a_binding_names_its_node(tmp_path: Path) -> None:
    call = {"kind": "bind", "pod": "a", "request": {"Node": "n2"}, "response": {}}
    (word,) = node_words(spoken(tmp_path, call), {"uid-a"}).words
    assert (word.node, word.said) == ("n2", "bound")


def test_only_chosen_pods_are_told(tmp_path: Path) -> None:
    reply = {"NodeNames": NAMES}
    record = spoken(tmp_path, *({"kind": "filter", "pod": pod, "response": reply} for pod in "abc"))
    assert {word.pod for word in node_words(record, {"uid-b"}).words} == {"default/b"}


def test_reading_stops_at_the_limit_and_counts_what_it_did_not_read(tmp_path: Path) -> None:
    reply = {"NodeNames": NAMES}
    record = spoken(tmp_path, *({"kind": "filter", "pod": pod, "response": reply} for pod in "abcd"), request_bytes=100)
    found = node_words(record, {"uid-a", "uid-d"}, bytes_max=150)
    assert {word.pod for word in found.words} == {"default/a"}
    assert found.unread == 1


def test_calls_with_very_many_nodes_are_cut_and_counted(tmp_path: Path) -> None:
    names = [f"n{number}" for number in range(NODES_PER_CALL_MAX + 30)]
    call = {"kind": "filter", "pod": "a", "request": {"NodeNames": names}, "response": {"NodeNames": names}}
    found = node_words(spoken(tmp_path, call), {"uid-a"})
    assert (len(found.words), found.left_out) == (NODES_PER_CALL_MAX, 30)


def test_without_a_cassette_there_is_nothing_to_say() -> None:
    record = RecordBuilder().extender().pod("a").call("filter", "a").build()
    assert node_words(record, {"uid-a"}).words == []


@pytest.mark.parametrize("keep", [0, 10, 200])
def test_a_damaged_cassette_is_a_warning(tmp_path: Path, keep: int) -> None:
    record = spoken(tmp_path, {"kind": "filter", "pod": "a", "response": {"NodeNames": NAMES}})
    file = record.path / CASSETTE
    file.write_bytes(file.read_bytes()[:keep])
    found = node_words(record, {"uid-a"})
    assert found.words == []
    assert found.warnings
    assert found.unread == 1
