"""Every kind of fault: what the client gets, what the extender sees, and what is written down."""

import http.client
import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.clock import SYSTEM, wait_until
from harness.errors import InputError
from harness.extender.tap import CALLS, Tap
from tests.unit.extender.tap_peers import (
    PATIENCE_SECONDS,
    body,
    connect,
    ended_calls,
    read_exactly,
    read_head,
    reset,
    serving,
    tapped,
    wait_listening,
)

pytestmark = pytest.mark.usefixtures("built_tap")

REPLY = {"NodeNames": ["a", "b"], "Error": ""}
RAW_REPLY = json.dumps(REPLY).encode()


@dataclass
class Bench:
    """A tapped extender that gives the same reply to everything, and a client that keeps its connection."""

    tap: Tap
    folder: Path
    asked: list[bytes] = field(default_factory=list)
    client: http.client.HTTPConnection | None = None

    def post(self, verb: str = "filter") -> http.client.HTTPResponse:
        if self.client is None:
            self.client = http.client.HTTPConnection(self.tap.url.removeprefix("http://"), timeout=PATIENCE_SECONDS)
        self.client.request("POST", f"/s/{verb}", b"question")
        return self.client.getresponse()

    def get(self, verb: str = "filter") -> tuple[int, bytes]:
        response = self.post(verb)
        return response.status, response.read()

    def hang_up(self) -> None:
        if self.client:
            self.client.close()
        self.client = None

    def await_begun(self) -> int:
        """Wait until a call has begun; return how many have."""
        lines = self.folder / CALLS
        return wait_until(
            lambda: lines.read_text().count('"event":"begin"'), what="a call", timeout_seconds=PATIENCE_SECONDS
        )

    def last_call(self) -> dict[str, Any]:
        return ended_calls(self.folder, self.await_begun())[-1]

    def kept(self, which: str) -> bytes:
        return body(self.folder, self.last_call()[which])


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    asked: list[bytes] = []

    def talk(connection: socket.socket) -> None:
        while read_head(connection):
            asked.append(read_exactly(connection, 8))
            connection.sendall(
                b"HTTP/1.1 200 OK\r\nX-Own: 1\r\nContent-Length: %d\r\n\r\n" % len(RAW_REPLY) + RAW_REPLY
            )

    with serving(talk) as peer, tapped(peer.url, tmp_path, record=True) as tap:
        made = Bench(tap, tmp_path / "calls", asked)
        yield made
        made.hang_up()


@pytest.mark.parametrize("at", ["request", "reply"])
@pytest.mark.parametrize(
    ("fault", "status", "text"),
    [
        ({"kind": "status"}, 500, b""),
        ({"kind": "status", "status": 404, "body": "no such page"}, 404, b"no such page"),
        ({"kind": "empty"}, 200, b""),
        ({"kind": "body", "body": '{"Error": "call {call}"}'}, 200, b'{"Error": "call 1"}'),
    ],
)
def test_another_reply_keeps_the_connection(
    bench: Bench, at: str, fault: dict[str, Any], status: int, text: bytes
) -> None:
    bench.tap.set_faults([{**fault, "at": at, "calls": 1}])
    assert bench.get() == (status, text)
    assert bench.asked == ([] if at == "request" else [b"question"])
    assert bench.get() == (200, RAW_REPLY)
    first, second = ended_calls(bench.folder, 2)
    assert (first["status"], first["response_bytes"], first["ending"]) == (status, len(text), "answered")
    assert first["fault"].startswith(fault["kind"])
    assert first["connection"] == second["connection"]
    assert second["fault"] is None
    assert ("upstream" in first) == (at == "reply")
    assert at == "request" or body(bench.folder, first["upstream"]) == RAW_REPLY


def test_a_redirect_says_where(bench: Bench) -> None:
    bench.tap.set_faults([{"kind": "status", "status": 302, "location": "http://127.0.0.1:9/login"}])
    response = bench.post()
    assert (response.status, response.headers["Location"]) == (302, "http://127.0.0.1:9/login")


def test_garbage_is_the_same_for_the_same_seed(bench: Bench) -> None:
    seen = []
    for seed in (1, 1, 2):
        bench.tap.set_faults([{"kind": "garbage", "seed": seed}])
        seen.append(bench.get()[1])
    assert seen[0] == seen[1] != seen[2]
    with pytest.raises(ValueError, match=r"codec|JSON|Expecting"):
        json.loads(seen[0])


@pytest.mark.parametrize("at", ["request", "reply"])
def test_a_delay_is_only_late(bench: Bench, at: str) -> None:
    bench.tap.set_faults([{"kind": "delay", "seconds": 1.0, "at": at}])
    start = SYSTEM.now()
    assert bench.get() == (200, RAW_REPLY)
    assert SYSTEM.now() - start >= 1.0
    call = bench.last_call()
    assert (call["now"] - call["began"]) >= 1.0
    # Before the extender was asked, or after it had answered.
    assert (call["first_byte"] - call["began"] >= 1.0) == (at == "request")


def test_a_client_that_does_not_wait_for_a_late_request_was_never_heard(bench: Bench) -> None:
    bench.tap.set_faults([{"kind": "delay", "seconds": 600}])
    with connect(bench.tap.url) as connection:
        connection.sendall(b"POST /s/filter HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\nquestion")
        reset(connection)
    assert bench.last_call()["ending"] == "aborted"
    assert bench.asked == []


@pytest.mark.parametrize("at", ["request", "reply"])
def test_a_hang_lasts_until_the_client_goes(bench: Bench, at: str) -> None:
    bench.tap.set_faults([{"kind": "hang", "at": at}])
    with connect(bench.tap.url) as connection:
        connection.settimeout(0.3)
        connection.sendall(b"POST /s/filter HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\nquestion")
        with pytest.raises(TimeoutError):
            connection.recv(1)
        wait_until(lambda: bench.tap.state()["open"] == 1, what="an open call", timeout_seconds=PATIENCE_SECONDS)
    call = bench.last_call()
    assert (call["ending"], call["status"], call["fault"].split()[0]) == ("aborted", None, "hang")
    assert bench.asked == ([] if at == "request" else [b"question"])


def test_a_hang_does_not_end_with_the_extender(tmp_path: Path) -> None:
    with serving(read_head) as peer, tapped(peer.url, tmp_path, record=True) as tap:
        tap.set_faults([{"kind": "hang"}])
        with connect(tap.url) as connection:
            connection.settimeout(0.3)
            connection.sendall(b"GET /s/filter HTTP/1.1\r\nHost: x\r\n\r\n")
            wait_until(lambda: tap.state()["open"], what="a call", timeout_seconds=PATIENCE_SECONDS)
            peer.stop()
            with pytest.raises(TimeoutError):
                connection.recv(1)
        assert ended_calls(tmp_path / "calls", 1)[0]["ending"] == "aborted"


@pytest.mark.parametrize("at", ["request", "reply"])
@pytest.mark.parametrize(
    ("fault", "error"),
    [({"kind": "close"}, http.client.RemoteDisconnected), ({"kind": "reset"}, ConnectionResetError)],
)
def test_no_reply_at_all(bench: Bench, at: str, fault: dict[str, Any], error: type[Exception]) -> None:
    bench.tap.set_faults([{**fault, "at": at}])
    with pytest.raises(error) as seen:
        bench.get()
    # http.client makes its own error of a clean end; it is a ConnectionResetError too.
    assert type(seen.value) is error
    assert (bench.last_call()["ending"], bench.last_call()["status"]) == ("cut", None)


@pytest.mark.parametrize("at", ["request", "reply"])
def test_a_reset_within_the_body(bench: Bench, at: str) -> None:
    bench.tap.set_faults([{"kind": "reset", "after_bytes": 7, "at": at}])
    with pytest.raises(ConnectionResetError):
        bench.post().read()
    call = bench.last_call()
    assert (call["ending"], call["status"], call["response_bytes"]) == ("cut", 200, 7)
    assert at == "request" or bench.kept("response") == RAW_REPLY[:7]


def test_a_truncated_reply_promises_more_than_comes(bench: Bench) -> None:
    bench.tap.set_faults([{"kind": "truncate", "share_of_body": 0.5}])
    response = bench.post()
    assert response.headers["Content-Length"] == str(len(RAW_REPLY))
    with pytest.raises(http.client.IncompleteRead) as seen:
        response.read()
    assert seen.value.partial == RAW_REPLY[: len(RAW_REPLY) // 2]
    assert (bench.last_call()["ending"], bench.kept("upstream")) == ("cut", RAW_REPLY)


def test_a_request_is_noted_however_soon_its_call_is_cut(bench: Bench) -> None:
    bench.tap.set_faults([{"kind": "truncate", "at": "reply"}])
    for _ in range(300):
        with pytest.raises(http.client.IncompleteRead):
            bench.get()
        bench.hang_up()
    bench.tap.record_into(None)
    ends = [json.loads(line) for line in (bench.folder / CALLS).read_text().splitlines() if '"end"' in line]
    assert [call["request_bytes"] for call in ends] == [len(b"question")] * 300


def test_a_slow_reply_dribbles(bench: Bench) -> None:
    bench.tap.set_faults([{"kind": "slow", "bytes_per_second": 100}])
    start = SYSTEM.now()
    response = bench.post()
    assert response.headers["X-Own"] == "1"
    headers_after = SYSTEM.now() - start
    assert response.read() == RAW_REPLY
    assert SYSTEM.now() - start >= len(RAW_REPLY) / 100 - 0.1 > headers_after
    assert bench.last_call()["ending"] == "answered"


@pytest.mark.parametrize("at", ["request", "reply"])
def test_a_huge_reply_is_valid(bench: Bench, at: str) -> None:
    size = 5_000_000
    bench.tap.set_faults([{"kind": "huge", "bytes": size, "at": at}])
    status, text = bench.get()
    assert (status, len(text)) == (200, size)
    value = json.loads(text)
    assert set(value.pop("Padding")) == {"x"}
    assert value == ({} if at == "request" else REPLY)
    assert bench.last_call()["response_bytes"] == size
    assert bench.last_call()["response"]["length"] < size / 100


@pytest.mark.parametrize(
    ("fault", "names"),
    [({"kind": "ghost", "node": "nobody"}, ["a", "b", "nobody"]), ({"kind": "duplicate"}, ["a", "b", "a"])],
)
def test_an_edited_reply(bench: Bench, fault: dict[str, Any], names: list[str]) -> None:
    bench.tap.set_faults([fault])
    status, text = bench.get()
    assert (status, json.loads(text)) == (200, {**REPLY, "NodeNames": names})
    assert (bench.kept("response"), bench.kept("upstream")) == (text, RAW_REPLY)


def test_only_the_verb_that_is_meant(bench: Bench) -> None:
    bench.tap.set_faults([{"kind": "status", "verb": "bind", "skip": 1, "calls": 1}])
    verbs = ["bind", "filter", "bind", "bind"]
    assert [bench.get(verb)[0] for verb in verbs] == [200, 200, 500, 200]
    assert bench.tap.state()["faults"] == 1


def test_refusing_ends_what_is_open_and_refuses_what_comes(bench: Bench) -> None:
    bench.tap.set_faults([{"kind": "hang"}])
    with connect(bench.tap.url) as connection:
        connection.sendall(b"POST /s/filter HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\nquestion")
        bench.await_begun()
        bench.tap.set_faults([{"kind": "refuse", "for_seconds": 2}])
        with pytest.raises(ConnectionRefusedError):
            connect(bench.tap.url)
        with pytest.raises(ConnectionResetError):
            connection.recv(1)
    assert bench.last_call()["ending"] == "cut"
    wait_listening(bench.tap)
    assert bench.get() == (200, RAW_REPLY)


def test_refusing_without_end_ends_with_the_fault(bench: Bench) -> None:
    bench.tap.set_faults([{"kind": "refuse"}])
    assert not bench.tap.state()["listening"]
    bench.tap.set_faults([])
    assert bench.get() == (200, RAW_REPLY)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ({"kind": "nonsense"}, 'fault 2: kind "nonsense" is not known; known: body, close'),
        ({"kind": "hang", "vreb": "filter"}, 'unknown field "vreb"'),
        ({"kind": "slow"}, "bytes_per_second 0: more than 0"),
    ],
)
def test_what_is_no_fault_is_refused(bench: Bench, fault: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        bench.tap.set_faults([{"kind": "hang"}, fault])
    assert bench.tap.state()["faults"] == 0
