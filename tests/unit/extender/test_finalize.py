import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.extender.cassette import file as cassette
from harness.extender.requests import binding_args, extender_args, nodes, pod
from harness.record.call import Call, calls
from tests.unit.extender.tapped import URL, Tapped, entry, finalized

FULL = {"FailedNodes": {"node-2": "full", "node-3": "full"}, "NodeNames": ["node-1"]}


@pytest.fixture
def tapped(tmp_path: Path) -> Tapped:
    return Tapped(tmp_path / "tap")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cassette.jsonl.zst"


def ask(name: str = "pod-1", *, names_only: bool = True) -> dict[str, Any]:
    return extender_args(pod(name), nodes(3), names_only)


def test_a_call_becomes_a_line_and_a_call_of_the_cassette(tapped: Tapped, path: Path) -> None:
    tapped.call("/s/filter", ask(), FULL)
    lines, warnings = finalized(tapped, path)
    (call,) = calls(json.loads(json.dumps(lines)))
    assert warnings == []
    assert (call.extender, call.seq, call.kind, call.path, call.ending) == ("x", 1, "filter", "/s/filter", "answered")
    assert (call.t, call.sent_t, call.first_byte_t, call.end_t) == pytest.approx((1.0, 1.01, 1.2, 1.25))
    assert (call.pod, call.uid, call.attempt) == ("default/pod-1", pod()["metadata"]["uid"], 1)
    assert (call.nodes_in, call.nodes_out, call.reasons, call.error) == (3, 1, {"full": 2}, None)
    taped = list(cassette.read(path).calls)
    assert [(one.seq, one.request, one.response, one.raw) for one in taped] == [(1, ask(), FULL, None)]
    assert taped[0].seconds == pytest.approx(0.25)


def test_a_pod_is_called_as_the_record_calls_it(tapped: Tapped, path: Path) -> None:
    tapped.call("/s/filter", ask(), {"NodeNames": ["n"]})
    (line,), _ = finalized(tapped, path, told=lambda text: text.replace("default/", "theirs/"))
    assert line["pod"] == "theirs/pod-1"
    assert [call.pod for call in cassette.read(path).calls] == ["theirs/pod-1"]


def test_attempts_are_counted_per_pod(tapped: Tapped, path: Path) -> None:
    for name in ("pod-1", "pod-2", "pod-1"):
        tapped.call("/s/filter", ask(name), FULL)
        tapped.call("/s/prioritize", ask(name), [])
    tapped.call("/s/bind", binding_args(pod("pod-1"), "node-1"), {})
    lines, _ = finalized(tapped, path)
    assert [(line["kind"], line["pod"][-1], line["attempt"]) for line in lines] == [
        ("filter", "1", 1),
        ("prioritize", "1", 1),
        ("filter", "2", 1),
        ("prioritize", "2", 1),
        ("filter", "1", 2),
        ("prioritize", "1", 2),
        ("bind", "1", 2),
    ]


def test_without_a_filter_the_scores_count_attempts(tapped: Tapped, path: Path) -> None:
    for _ in range(2):
        tapped.call("/s/prioritize", ask(), [])
    lines, _ = finalized(tapped, path, entry(filterVerb=""))
    assert [line["attempt"] for line in lines] == [1, 2]


def test_what_never_ended_and_what_was_cut(tapped: Tapped, path: Path) -> None:
    tapped.begin("/s/filter")
    with (tapped.folder / "calls.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"seq":2,"event":"beg')
    lines, warnings = finalized(tapped, path)
    assert [(line["ending"], line["end_t"], line["error"]) for line in lines] == [("open", None, None)]
    assert [warning.partition(": ")[2] for warning in warnings] == [
        "this line is cut or damaged, and left out",
        "1 call had not ended when recording stopped",
    ]
    assert warnings[0].startswith(f"{tapped.folder / 'calls.jsonl'}:2: ")


def test_nothing_recorded_is_no_trouble(tapped: Tapped, path: Path) -> None:
    assert finalized(tapped, path) == ([], [])
    assert list(cassette.read(path).calls) == []


@pytest.mark.parametrize(
    ("end", "error"),
    [
        ({"status": 500}, f"failed filter with extender at URL {URL}/filter, code 500"),
        ({"status": None, "ending": "unreachable"}, "connection refused"),
        ({"status": None, "ending": "cut"}, f'Post "{URL}/filter": EOF'),
        ({"status": 302, "response_headers": [["location", "/login"]]}, "redirected to /login with code 302"),
    ],
)
def test_failures(tapped: Tapped, path: Path, end: dict[str, Any], error: str) -> None:
    tapped.call("/s/filter", ask(), b"", **end)
    lines, _ = finalized(tapped, path)
    assert error in lines[0]["error"]
    assert lines[0]["nodes_out"] is None


@pytest.mark.parametrize("reply", [b"<html>", b'{"Error":"a"} x', b'{"Error":"a","Error":"b"}', b"", b"null"])
def test_a_reply_that_is_no_plain_json_is_kept_as_it_is(tapped: Tapped, path: Path, reply: bytes) -> None:
    tapped.call("/s/filter", ask(), reply)
    finalized(tapped, path)
    (call,) = cassette.read(path).calls
    assert call.body == reply or json.loads(call.body) == {"Error": "a"}


@pytest.mark.parametrize("score", ["1e1", "5.00", "123456789012345678901234567890"])
def test_numbers_are_kept_as_an_error_is_about_them(tapped: Tapped, path: Path, score: str) -> None:
    tapped.call("/s/prioritize", ask(), f'[{{"Host":"node-1","Score":{score}}}]'.encode())
    lines, _ = finalized(tapped, path)
    assert f"number {score} into" in lines[0]["error"]
    (call,) = cassette.read(path).calls
    assert score in call.body.decode()


def test_a_compressed_reply_is_understood(tapped: Tapped, path: Path) -> None:
    body = gzip.compress(json.dumps(FULL).encode())
    tapped.call("/s/filter", ask(), body, response_headers=[["content-encoding", "gzip"]])
    tapped.call("/s/filter", ask(), b"plain", response_headers=[["Content-Encoding", "gzip"]])
    lines, _ = finalized(tapped, path)
    assert [line["error"] for line in lines] == [None, "gzip: invalid header"]


def test_a_small_archive_of_much_is_only_counted(tapped: Tapped, path: Path) -> None:
    body = gzip.compress(bytes(1 << 20))
    tapped.call("/s/filter", ask(), body, response_headers=[["content-encoding", "gzip"]])
    assert len(body) < 4096
    (line,), warnings = finalized(tapped, path, limit_bytes=4096)
    assert (line["error"], line["notices"]) == (None, ())
    assert warnings == ["x: 1 bodies are not in the cassette: larger than 4096 bytes"]
    (call,) = cassette.read(path).calls
    assert call.omitted == "larger than 4096 bytes"


@pytest.mark.parametrize(
    ("spoilt", "error"),
    [
        (lambda body: b"\0" + body[1:], "gzip: invalid header"),
        (lambda body: body[:5], "unexpected EOF"),
        (lambda body: body[:10] + b"\xff" + body[11:], "flate: corrupt input (invalid block type)"),
        (lambda body: body[:-8] + bytes(8), "gzip: invalid checksum"),
        # The value is whole before the end, so nobody comes there.
        (lambda body: body + b"x" * 20, None),
        (lambda body: body + gzip.compress(b" "), None),
    ],
    ids=["header", "cut", "block", "sum", "more", "another"],
)
def test_an_archive_that_is_spoilt_says_how(
    tapped: Tapped, path: Path, spoilt: Callable[[bytes], bytes], error: str | None
) -> None:
    body = spoilt(gzip.compress(json.dumps(FULL).encode()))
    tapped.call("/s/filter", ask(), body, response_headers=[["Content-Encoding", "gzip"]])
    (line,), _ = finalized(tapped, path)
    assert line["error"] == error


def test_an_archive_that_ends_in_the_middle_of_its_value(tapped: Tapped, path: Path) -> None:
    body = gzip.compress(json.dumps({"NodeNames": [f"{number:x}" for number in range(9999)]}).encode())
    tapped.call("/s/filter", ask(), body[: len(body) // 2], response_headers=[["Content-Encoding", "gzip"]])
    (line,), _ = finalized(tapped, path)
    assert line["error"] == "unexpected EOF"


def test_large_bodies_are_only_counted(tapped: Tapped, path: Path) -> None:
    tapped.call("/s/filter", ask(), {"NodeNames": ["node-1"] * 1000})
    lines, warnings = finalized(tapped, path, limit_bytes=4096)
    assert (lines[0]["error"], lines[0]["notices"], lines[0]["nodes_in"]) == (None, (), 3)
    assert lines[0]["response_bytes"] > 4096
    assert warnings == ["x: 1 bodies are not in the cassette: larger than 4096 bytes"]
    (call,) = cassette.read(path).calls
    assert call.omitted == "larger than 4096 bytes"


def test_bodies_that_are_lost(tapped: Tapped, path: Path) -> None:
    tapped.call("/s/filter", ask(), FULL)
    bodies = tapped.folder / "bodies.zst"
    size = bodies.stat().st_size
    for left, why in ((bytes(size), "damaged"), (b"", "is cut"), (None, "is not there")):
        bodies.unlink() if left is None else bodies.write_bytes(left)
        lines, warnings = finalized(tapped, path)
        assert (lines[0]["pod"], lines[0]["error"]) == (None, None)
        assert why in warnings[0]


def test_other_paths_and_faults(tapped: Tapped, path: Path) -> None:
    tapped.call("/other?x=1", b"", b"", status=404)
    tapped.call("/s/filter", ask(), FULL, fault="delay 5 s")
    lines, _ = finalized(tapped, path)
    assert [(line["kind"], line["fault"]) for line in lines] == [(None, None), ("filter", "delay 5 s")]
    assert [call.fault for call in cassette.read(path).calls] == [None, "delay 5 s"]


def test_every_line_can_be_read_back(tapped: Tapped, path: Path) -> None:
    tapped.call("/s/filter", ask(names_only=False), {"NodeNames": []})
    lines, _ = finalized(tapped, path, entry(nodeCacheCapable=False))
    (call,) = calls(json.loads(json.dumps(lines)))
    assert isinstance(call, Call)
    assert [notice.code for notice in call.notices] == ["reply-ignored"]


@pytest.mark.parametrize(
    "odd",
    [
        {"NodeNames": [[]], "Pod": "p"},
        {"Nodes": {"items": ["n"]}, "Pod": {"metadata": 5}},
        {"Nodes": 5, "Pod": {"metadata": {"name": [], "uid": {}}}},
        {"NodeNameToVictims": {"n": {"Pods": [1]}}, "PodName": 5},
    ],
)
def test_whatever_is_sent_to_a_tap_is_taken(tapped: Tapped, path: Path, odd: dict[str, Any]) -> None:
    for kind in ("filter", "prioritize", "preempt", "bind"):
        tapped.call(f"/s/{kind}", odd, {"NodeNames": ["n"]})
    lines, _ = finalized(tapped, path)
    assert [(line["pod"], line["nodes_in"]) for line in lines] == [(None, None)] * 4
    assert [call.request for call in cassette.read(path).calls] == [odd] * 4
