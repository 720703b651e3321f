"""`replies.json` is what the HTTPExtender of kube-scheduler 1.36.4 itself made of each body, bytes as Latin-1."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from harness.extender.entry import VERBS, Entry
from harness.extender.reply import notices
from harness.extender.reply.effect import PANIC, Effect, effect, sent_nodes, sent_victims
from harness.extender.requests import binding_args, extender_args, node, pod, preemption_args

REPLIES = json.loads((Path(__file__).parent / "replies.json").read_text(encoding="utf-8"))
NAMES = ["a", "b", "c"]
VICTIMS = {"a": [pod("v1", uid="u1"), pod("v2", uid="u2")], "b": [pod("v3", uid="u3")]}
URL = "http://x:8888/s"


def entry(**values: Any) -> Entry:
    verbs = {f"{kind}_verb": kind for kind in VERBS}
    return Entry(**{"url_prefix": URL, "weight": 1, "node_cache_capable": True, **verbs, **values})


def request(kind: str, *, names_only: bool = True) -> Any:
    if kind == "bind":
        return binding_args(pod(), "a")
    if kind == "preempt":
        return preemption_args(pod(), VICTIMS, meta=names_only)
    return extender_args(pod(), [node(name) for name in NAMES], names_only)


def made(kind: str, body: Any, *, status: int | None = 200, names_only: bool = True, **values: Any) -> Effect:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    own = {key: values.pop(key) for key in ("ending", "location") if key in values}
    sent = request(kind, names_only=names_only)
    return effect(kind, entry(node_cache_capable=names_only, **values), sent, status, data, **own)


def codes(seen: Effect) -> list[str]:
    return [notice.code for notice in seen.notices]


def text(seen: Effect, code: str) -> str:
    return next(notice.text for notice in seen.notices if notice.code == code)


@pytest.mark.parametrize("reply", REPLIES, ids=[f"{reply['kind']}-{line}" for line, reply in enumerate(REPLIES, 2)])
def test_as_kube_scheduler_itself(reply: dict[str, Any]) -> None:
    cached = reply["nodeCacheCapable"]
    seen = made(reply["kind"], reply["body"].encode("latin-1"), names_only=cached)
    assert seen.error == reply["error"]
    assert seen.silent == (reply["kind"] == "prioritize" and seen.error is not None)
    assert list(seen.feasible) == reply.get("feasible", [])
    failed, unresolvable = reply.get("failed", {}), reply.get("unresolvable", {})
    refused = {name: said for name, said in {**failed, **unresolvable}.items() if name not in seen.feasible}
    assert {**seen.rejected, **seen.unresolvable} == refused
    scores: dict[str, int] = {}
    for host, score in reply.get("scores", ()):
        scores[host] = scores.get(host, 0) + score
    assert seen.scores == scores
    assert {name: list(uids) for name, uids in seen.victims.items()} == reply.get("victims", {})


@pytest.mark.parametrize(("depth", "error"), [(5000, "deep"), (10_001, "invalid character '[' exceeded max depth")])
def test_depth(depth: int, error: str) -> None:
    assert made("filter", b'{"x":' + b"[" * depth + b"]" * depth + b',"Error":"deep"}').error == error


@pytest.mark.parametrize("kind", VERBS)
@pytest.mark.parametrize(("status", "code"), [(404, "not-found"), (500, "bad-status"), (201, "bad-status")])
def test_other_statuses(kind: str, status: int, code: str) -> None:
    seen = made(kind, b"{}", status=status)
    assert seen.error == f"failed {kind} with extender at URL {URL}/{kind}, code {status}"
    assert codes(seen) == [code]
    assert ("silently" in text(seen, code)) == (kind == "prioritize")


@pytest.mark.parametrize(
    ("ending", "error"),
    [
        ("unreachable", f'Post "{URL}/filter": dial tcp x:8888: connect: connection refused'),
        (
            "aborted",
            f'Post "{URL}/filter": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
        ),
        ("cut", f'Post "{URL}/filter": EOF'),
    ],
)
def test_no_reply(ending: str, error: str) -> None:
    assert made("filter", b"", status=None, ending=ending).error == error


def test_half_a_reply() -> None:
    slow = "context deadline exceeded (Client.Timeout or context cancellation while reading body)"
    assert made("filter", b'{"Err', ending="aborted").error == slow
    assert made("filter", b'{"Err', ending="cut").error == "unexpected EOF"
    assert made("filter", b"", ending="cut").error == "unexpected EOF"
    # What was whole before the connection broke is taken.
    assert made("filter", b'{"Error":"whole"}', ending="cut").error == "whole"


@pytest.mark.parametrize(("status", "does"), [(302, "GET"), (307, "whole request again")])
def test_redirect(status: int, does: str) -> None:
    seen = made("filter", b"", status=status, location="/filter/")
    assert codes(seen) == ["redirect"]
    assert does in text(seen, "redirect")
    assert made("filter", b"", status=status).error == f"failed filter with extender at URL {URL}/filter, code {status}"


def test_a_clean_filter_reply() -> None:
    body = {"NodeNames": ["a"], "FailedNodes": {"b": "full"}, "FailedAndUnresolvableNodes": {"c": "no gpu"}}
    seen = made("filter", body)
    assert seen == Effect("filter", feasible=("a",), rejected={"b": "full"}, unresolvable={"c": "no gpu"})


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, ["nothing-kept-without-reason"]),
        ({"node_names": NAMES}, ["unknown-key", "nothing-kept-without-reason"]),
        ({"result": {"NodeNames": NAMES}}, ["unknown-key", "nothing-kept-without-reason"]),
        ({"FailedNodes": dict.fromkeys(NAMES, "full")}, []),
        ({"NodeNames": []}, ["dropped-without-reason"]),
        ({"NodeNames": ["a", "b"]}, ["dropped-without-reason"]),
        ({"NodeNames": [*NAMES, "a"]}, ["duplicate-node"]),
        ({"NodeNames": [*NAMES, "ghost"]}, ["ghost-node"]),
        ({"NodeNames": NAMES, "FailedNodes": {"a": "full"}}, ["kept-and-failed"]),
        ({"NodeNames": NAMES, "FailedNodes": {"z": "full"}}, ["foreign-node-failed"]),
        ({"NodeNames": ["a", "b"], "FailedNodes": {"c": ""}}, ["empty-text"]),
        ({"NodeNames": ["a", "b"], "FailedNodes": {"c": "90% full"}}, ["percent-in-text"]),
        ({"Error": "90% full"}, ["percent-in-text"]),
        ({"NodeNames": 5}, ["bad-reply"]),
        ({"Nodes": {"items": [node(name) for name in NAMES]}}, ["unexpected-mode"]),
    ],
)
def test_notices_about_filter_by_name(body: Any, expected: list[str]) -> None:
    assert codes(made("filter", body)) == expected


def test_notices_name_what_they_are_about() -> None:
    assert '"node_names"' in text(made("filter", {"node_names": []}), "unknown-key")
    assert '"NodeNames" expected' in text(made("filter", {"node_names": []}), "unknown-key")
    assert "holds NodeNames" in text(made("filter", {"result": {"NodeNames": []}}), "unknown-key")
    assert "b, c neither" in text(made("filter", {"NodeNames": ["a"]}), "dropped-without-reason")
    many = made("filter", {"NodeNames": [*NAMES, *(f"g{number}" for number in range(9))]})
    assert "g4 and 4 more kept" in text(many, "ghost-node")


def test_names_are_ignored_where_whole_nodes_are_wanted() -> None:
    seen = made("filter", {"NodeNames": NAMES}, names_only=False)
    assert (seen.feasible, seen.dropped) == ((), tuple(NAMES))
    assert codes(seen) == ["reply-ignored"]


def test_a_ghost_among_whole_nodes_is_accepted() -> None:
    seen = made("filter", {"Nodes": {"items": [node("ghost"), *(node(name) for name in NAMES)]}}, names_only=False)
    assert (seen.error, seen.feasible) == (None, ("ghost", *NAMES))
    assert "may bind" in text(seen, "ghost-node")


def test_a_changed_node_is_told() -> None:
    same = [node(name) for name in NAMES]
    assert made("filter", {"Nodes": {"items": same}}, names_only=False).notices == ()
    # What Go writes or leaves out as it likes is no change.
    metadata = {**same[0]["metadata"], "annotations": {}}
    same[0] = {**same[0], "metadata": metadata, "spec": {"taints": None}, "kind": "Node"}
    assert made("filter", {"Nodes": {"items": same}}, names_only=False).notices == ()
    same[1] = {**same[1], "status": {}}
    seen = made("filter", {"Nodes": {"items": same}}, names_only=False)
    assert codes(seen) == ["changed-node"]
    assert text(seen, "changed-node").startswith("b came back with another status.capacity, status.allocatable")


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ({"a": 0, "b": 10, "c": 5}, []),
        ({"a": -1, "b": 10, "c": 5}, ["score-out-of-range"]),
        ({"a": 0, "b": 11, "c": 5}, ["score-out-of-range"]),
        ({"a": 1, "b": 1}, ["score-missing-node"]),
        ({"a": 1, "b": 1, "c": 1, "z": 1}, ["score-unknown-node"]),
    ],
)
def test_notices_about_scores(scores: dict[str, int], expected: list[str]) -> None:
    assert codes(made("prioritize", [{"Host": host, "Score": score} for host, score in scores.items()])) == expected


def test_scores_of_one_host_add_up() -> None:
    seen = made("prioritize", [{"Host": name, "Score": 4} for name in (*NAMES, "a")])
    assert seen.scores == {"a": 8, "b": 4, "c": 4}
    assert codes(seen) == ["score-duplicate"]


def test_snake_case_in_scores_is_told() -> None:
    seen = made("prioritize", [{"Host": name, "score_": 4} for name in NAMES])
    assert seen.scores == dict.fromkeys(NAMES, 0)
    assert codes(seen) == ["unknown-key"]


def victims(**nodes: Any) -> dict[str, Any]:
    return {"NodeNameToMetaVictims": {name: {"Pods": [{"UID": uid} for uid in uids]} for name, uids in nodes.items()}}


@pytest.mark.parametrize("names_only", [True, False])
def test_victims(names_only: bool) -> None:
    seen = made("preempt", victims(a=["u1", "u2"], b=["u3"]), names_only=names_only)
    assert seen == Effect("preempt", victims={"a": ("u1", "u2"), "b": ("u3",)})
    for foreign in (victims(a=["u3"]), victims(c=["u1"])):
        assert codes(made("preempt", foreign, names_only=names_only)) == ["foreign-victims"]


@pytest.mark.parametrize("body", [{"a": None}, {"a": {"Pods": [None]}}])
def test_null_victims_end_the_scheduler(body: Any) -> None:
    seen = made("preempt", {"NodeNameToMetaVictims": body})
    assert (seen.error, codes(seen)) == (PANIC, ["null-victims"])


def test_a_node_without_victims() -> None:
    seen = made("preempt", victims(a=[], b=["u3"]))
    assert (seen.error, codes(seen)) == ('expected at least one victim pod on node "a"', ["empty-victims"])
    forgiven = made("preempt", victims(a=[], b=["u3"]), ignorable=True)
    assert (forgiven.error, forgiven.victims) == (None, {"b": ("u3",)})


def test_the_key_of_the_request_is_not_that_of_the_reply() -> None:
    seen = made("preempt", {"NodeNameToVictims": {}})
    assert (seen.error, seen.victims, codes(seen)) == (None, {}, ["unknown-key"])
    assert "NodeNameToMetaVictims" in text(seen, "unknown-key")


def test_every_code_is_documented() -> None:
    root = Path(__file__).resolve().parents[3]
    source = Path(notices.__file__).read_text(encoding="utf-8")
    known = set(re.findall(r'Notice\(\s*"([a-z-]+)"', source))
    section = (root / "docs/reference/cassette.md").read_text(encoding="utf-8").partition("## Notices")[2]
    assert set(re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE)) == known


def test_without_the_request_nothing_is_compared_with_it() -> None:
    body = json.dumps({"NodeNames": ["a", "ghost"], "FailedNodes": {"z": "full"}}).encode()
    seen = effect("filter", entry(), None, 200, body)
    assert seen == Effect("filter", feasible=("a", "ghost"), rejected={"z": "full"})


def test_what_was_sent() -> None:
    assert sent_nodes(request("filter")) == dict.fromkeys(NAMES)
    assert list(sent_nodes(request("filter", names_only=False)) or ()) == NAMES
    assert sent_nodes(request("bind")) is None
    for names_only in (True, False):
        assert sent_victims(request("preempt", names_only=names_only)) == {"a": ("u1", "u2"), "b": ("u3",)}
    assert sent_victims(None) is None
