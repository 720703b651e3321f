import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError, VariantError
from harness.extender.cassette.file import CassetteCall, CassetteWriter
from harness.extender.cassette.replay import Options, Replayed, percentile, replay
from harness.extender.requests import binding_args, extender_args, nodes, pod, preemption_args
from harness.extender.subject.parse import parse
from harness.paths import runs_folder
from tests.unit.cli.conftest import Harness, harness
from tests.unit.expect.records import RecordBuilder
from tests.unit.extender.servers import Raw, Status, serving
from tests.unit.extender.tapped import HEADER, Tapped, entry, finalized

__all__ = ["harness"]

NAMES = ["node-1", "node-2", "node-3"]
KEEPS = {"NodeNames": NAMES, "FailedNodes": {}}
SCORES = [{"Host": name, "Score": 5} for name in NAMES]
VICTIMS = {"NodeNameToMetaVictims": {"node-1": {"Pods": [{"UID": "v"}]}}}
ROUTES: dict[str, Any] = {
    "/s/filter": lambda _: KEEPS,
    "/s/prioritize": lambda _: SCORES,
    "/s/preempt": lambda _: VICTIMS,
    "/s/bind": lambda _: {},
}


def asked(name: str = "pod-1") -> dict[str, Any]:
    return extender_args(pod(name), nodes(3), names_only=True)


@pytest.fixture
def cassette(tmp_path: Path) -> Path:
    """A pod's whole way through an extender, one call under a fault, and one to nowhere."""
    tapped = Tapped(tmp_path / "tap")
    tapped.call("/s/filter", asked(), KEEPS)
    tapped.call("/s/prioritize", asked(), SCORES)
    tapped.call("/s/preempt", preemption_args(pod(), {"node-1": [pod("v", uid="v")]}, meta=True), VICTIMS)
    tapped.call("/s/bind", binding_args(pod(), "node-1"), {})
    tapped.call("/s/filter", asked(), {"Error": "spoilt"}, fault="body")
    tapped.call("/other", asked(), {})
    tapped.begin("/s/filter")
    path = tmp_path / "cassette.jsonl.zst"
    finalized(tapped, path)
    return path


def play(path: Path, routes: dict[str, Any], folder: Path, **options: Any) -> Replayed:
    with serving({**ROUTES, **routes}) as served:
        return replay(path, parse(f"{served.url}/s", {}), folder / "subject", Options(**options))


def test_the_same_extender_decides_the_same(cassette: Path, tmp_path: Path) -> None:
    result = play(cassette, {}, tmp_path)
    assert result.same
    assert dict(result.sent) == {"filter": 1, "prioritize": 1, "preempt": 1}
    assert dict(result.left_out) == {
        "bind, sent only with --bind": 1,
        "made under a fault": 1,
        "of no configured verb": 1,
        "not ended when recording stopped": 1,
    }
    assert set(result.latencies()) == {"filter", "prioritize", "preempt"}
    assert result.latencies()["filter"]["recorded_p50"] == pytest.approx(0.25)


def test_binding_is_asked_for(cassette: Path, tmp_path: Path) -> None:
    result = play(cassette, {}, tmp_path, bind=True)
    assert result.same
    assert result.sent["bind"] == 1


@pytest.mark.parametrize(
    ("path", "reply", "expected"),
    [
        (
            "filter",
            {"NodeNames": ["node-1", "node-3"], "FailedNodes": {"node-2": "full"}},
            [("node-2", "verdict", "kept", "rejected (full)")],
        ),
        ("filter", {"NodeNames": ["node-3", "node-1", "node-2"]}, []),
        ("filter", {"NodeNames": ["node-1", "node-2"]}, [("node-3", "verdict", "kept", "dropped")]),
        ("filter", {"Error": "down"}, [(None, "error", None, "down")]),
        (
            "filter",
            Status(500),
            [(None, "error", None, "failed filter with extender at URL http://extender/filter, code 500")],
        ),
        ("filter", Raw(b""), [(None, "error", None, 'Post "http://extender/filter": EOF')]),
        (
            "filter",
            Raw(b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"NodeNames":'),
            [(None, "error", None, "unexpected EOF")],
        ),
        (
            "prioritize",
            [{"Host": name, "Score": 5} for name in NAMES[:2]],
            [("node-3", "score", 5, None)],
        ),
        ("preempt", {}, [("node-1", "victims", ("v",), None)]),
    ],
)
def test_differences(cassette: Path, tmp_path: Path, path: str, reply: Any, expected: list[tuple[Any, ...]]) -> None:
    result = play(cassette, {f"/s/{path}": lambda _: reply}, tmp_path)
    assert [(one.node, one.what, one.before, one.after) for one in result.differences] == expected
    assert {one.kind for one in result.differences} <= {path}
    for one in result.differences:
        assert one.pod == "default/pod-1"
        assert one.text().startswith(f"default/pod-1: {path} ")


def test_a_reason_that_changed(tmp_path: Path) -> None:
    tapped = Tapped(tmp_path / "tap")
    tapped.call("/s/filter", asked(), {"NodeNames": [], "FailedNodes": dict.fromkeys(NAMES, "full")})
    path = tmp_path / "c.zst"
    finalized(tapped, path)
    now = {"NodeNames": [], "FailedNodes": {**dict.fromkeys(NAMES, "full"), "node-2": "busy"}}
    result = play(path, {"/s/filter": lambda _: now}, tmp_path)
    assert [one.text() for one in result.differences] == [
        "default/pod-1: filter 1, node node-2: reason full → busy",
    ]


def test_an_error_that_vanished(tmp_path: Path) -> None:
    tapped = Tapped(tmp_path / "tap")
    tapped.call("/s/filter", asked(), b"", status=None, ending="unreachable")
    path = tmp_path / "c.zst"
    finalized(tapped, path)
    (difference,) = play(path, {}, tmp_path).differences
    assert "error vanished" in difference.text()


def test_too_slow_is_an_error(tmp_path: Path) -> None:
    tapped = Tapped(tmp_path / "tap")
    tapped.call("/s/filter", asked(), KEEPS)
    path = tmp_path / "c.zst"
    finalized(tapped, path, entry(httpTimeout="200ms"))
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"
    for raw, text in ((b"", "awaiting headers"), (head, "reading body")):
        (difference,) = play(path, {"/s/filter": lambda _, raw=raw: Raw(raw, hold=True)}, tmp_path).differences
        assert text in difference.after


def test_rounds_tell_what_flaps(cassette: Path, tmp_path: Path) -> None:
    replies = iter([KEEPS, {"Error": "down"}, {"Error": "down"}])
    result = play(cassette, {"/s/filter": lambda _: next(replies)}, tmp_path, repeat=3)
    assert [one.rounds for one in result.differences] == [2]
    assert result.sent["filter"] == 3
    assert result.left_out["made under a fault"] == 1


def test_a_limit(cassette: Path, tmp_path: Path) -> None:
    result = play(cassette, {}, tmp_path, requests_max=1)
    assert sum(result.sent.values()) == 1
    assert result.left_out["above 1 requests"] == 2


def test_a_reference_is_started_and_ended(cassette: Path, tmp_path: Path) -> None:
    result = replay(cassette, parse("ref:pass-through", {}), tmp_path / "subject", Options(repeat=2))
    assert {(one.kind, one.what) for one in result.differences} == {("prioritize", "score")}
    assert {one.rounds for one in result.differences} == {2}
    assert result.left_out["preempt, for which the subject has no verb"] == 1


@pytest.mark.parametrize(("name", "bind"), [("binpack", False), ("spread", False), ("index-bind", True)])
def test_a_reference_that_needs_a_cluster_is_refused(cassette: Path, tmp_path: Path, name: str, bind: bool) -> None:
    with pytest.raises(InputError, match=f"ref:{name}: it does its work only with a cluster, and a replay has none"):
        replay(cassette, parse(f"ref:{name}", {}), tmp_path / "subject", Options(bind=bind))


def test_what_was_written_beside_a_status_is_shown(cassette: Path, tmp_path: Path) -> None:
    (one,) = play(cassette, {"/s/filter": lambda _: Status(500, b"no\n  gpu " + b"x" * 300)}, tmp_path).differences
    assert one.text().endswith(f"code 500 (no gpu {'x' * 193}…)")
    (empty,) = play(cassette, {"/s/filter": lambda _: Status(500)}, tmp_path / "empty").differences
    assert empty.text().endswith("code 500")


def test_every_round_begins_afresh(tmp_path: Path) -> None:
    tapped = Tapped(tmp_path / "tap")
    tapped.call("/s/filter", asked(), {"Error": "call 1"})
    path = tmp_path / "c.zst"
    finalized(tapped, path)
    program = (
        "import http.server, json, sys\n"
        "class Handler(http.server.BaseHTTPRequestHandler):\n"
        "    calls = 0\n"
        "    def do_POST(self):\n"
        "        Handler.calls += 1\n"
        "        self.send_response(200)\n"
        "        self.end_headers()\n"
        "        self.wfile.write(json.dumps({'Error': f'call {Handler.calls}'}).encode())\n"
        "http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()\n"
    )
    file = tmp_path / "counts.py"
    file.write_text(program, encoding="utf-8")
    subject = parse(f"cmd:python3 {file} {{port}}", {})
    assert replay(path, subject, tmp_path / "subject", Options(repeat=2)).differences == []


def test_a_subject_that_ends_in_the_middle(cassette: Path, tmp_path: Path) -> None:
    program = (
        "import http.server, os, sys\n"
        "class Handler(http.server.BaseHTTPRequestHandler):\n"
        "    def do_POST(self):\n"
        "        os._exit(3)\n"
        "http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()\n"
    )
    file = tmp_path / "ends.py"
    file.write_text(program, encoding="utf-8")
    with pytest.raises(VariantError, match=r"gone at call .*exited with code"):
        replay(cassette, parse(f"cmd:python3 {file} {{port}}", {}), tmp_path / "subject", Options())


def test_which_extender(tmp_path: Path) -> None:
    extenders = [{"name": name, "subject": "s", "entry": entry().to_json()} for name in ("x", "y")]
    path = tmp_path / "c.zst"
    with CassetteWriter(path, {**HEADER, "extenders": extenders}) as writer:
        for name in ("x", "y", "y"):
            call = CassetteCall(name, 1, 0.0, "filter", "/s/filter", status=200, request=asked(), response=KEEPS)
            writer.append(call)
    with pytest.raises(InputError, match="seen: x, y; choose one with --extender"):
        play(path, {}, tmp_path)
    with pytest.raises(InputError, match="no extender 'z' in it; known: x, y"):
        play(path, {}, tmp_path, extender="z")
    assert play(path, {}, tmp_path, extender="y").sent["filter"] == 2


def test_nothing_to_send_is_no_success(tmp_path: Path) -> None:
    tapped = Tapped(tmp_path / "tap")
    tapped.call("/s/filter", asked(), KEEPS, fault="delay")
    path = tmp_path / "c.zst"
    finalized(tapped, path)
    with pytest.raises(InputError, match="1 made under a fault"):
        play(path, {}, tmp_path)


def test_the_other_wire_mode_is_told(cassette: Path, tmp_path: Path) -> None:
    with serving(ROUTES) as served:
        subject = parse(f"{served.url}/s", {"nodeCacheCapable": False})
        result = replay(cassette, subject, tmp_path / "subject", Options())
    assert "the other wire mode" in result.warnings[0]


@pytest.mark.parametrize(("values", "expected"), [([], 0.0), ([2.0], 2.0), ([1.0, 2.0, 3.0], 2.0)])
def test_percentiles(values: list[float], expected: float) -> None:
    assert percentile(values, 50) == expected


def test_the_command(cassette: Path, harness: Harness) -> None:
    with serving(ROUTES) as served:
        same = harness("replay", cassette, f"{served.url}/s")
    assert same.code == 0
    assert "3 requests sent, every decision is the same" in same.out
    assert "left out: 1 made under a fault" in same.out
    with serving({**ROUTES, "/s/filter": lambda _: {"NodeNames": [NAMES[0], "ghost"]}}) as served:
        other = harness("replay", cassette, f"{served.url}/s", "--repeat", 2)
        told = json.loads(harness("replay", cassette, f"{served.url}/s", "--json").out)
    assert other.code == 1
    assert "1 decision differs" in other.out
    assert "error appeared: extender" in other.out
    assert "(in 2 of 2 rounds)" in other.out
    assert "new notices: ghost-node (2), dropped-without-reason (2)" in other.out
    assert (told["same"], len(told["differences"]), told["sent"]["filter"]) == (False, 1, 1)
    assert harness("replay", cassette, f"{served.url}/s").code == 3


def test_the_command_finds_records(cassette: Path, harness: Harness) -> None:
    made = RecordBuilder().node("n").pod("p", "n").write(runs_folder())
    without = harness("replay", "latest", "ref:pass-through")
    assert (without.code, "has no cassette.jsonl.zst" in without.err) == (2, True)
    (made / "cassette.jsonl.zst").write_bytes(cassette.read_bytes())
    with serving(ROUTES) as served:
        for name in ("latest", made.name, made):
            assert harness("replay", name, f"{served.url}/s").code == 0
    assert harness("replay", "latest", "reff:lucky").code == 2
    assert harness("replay", "nothing", "ref:lucky").code == 2
