"""What the tap writes down, and that nothing of it can disturb the traffic."""

import concurrent.futures
import http.client
import resource
import socket
import sys
import threading
from pathlib import Path

import pytest

from harness.clock import wait_until
from harness.errors import InputError
from harness.extender.tap import BODIES, CALLS, Tap
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
)

pytestmark = pytest.mark.usefixtures("built_tap")


def echo(connection: socket.socket) -> None:
    """Answer every request with its own body, chunked."""
    while head := read_head(connection):
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        said = read_exactly(connection, length)
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nX-Own: yes\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (length, said)
        )


def post(tap: Tap, path: str, text: bytes) -> bytes:
    connection = http.client.HTTPConnection(tap.url.removeprefix("http://"), timeout=PATIENCE_SECONDS)
    try:
        connection.request("POST", path, text)
        return connection.getresponse().read()
    finally:
        connection.close()


def test_a_call_is_written_down_whole(tmp_path: Path) -> None:
    with serving(echo) as peer, tapped(peer.url, tmp_path, record=True) as tap:
        before = tap.state()["now"]
        assert post(tap, "/s/filter", b"hello") == b"hello"
        [call] = ended_calls(tmp_path / "calls", 1)
        assert before < call["began"] <= call["sent"] <= call["first_byte"] <= call["now"] < tap.state()["now"]
    folder = tmp_path / "calls"
    expected = {
        "seq": 1,
        "connection": 1,
        "method": "POST",
        "path": "/s/filter",
        "fault": None,
        "ending": "answered",
        "status": 200,
        "request_bytes": 5,
        "response_bytes": 5,
        "response_headers": [["X-Own", "yes"], ["Transfer-Encoding", "chunked"]],
    }
    assert {key: call[key] for key in expected} == expected
    assert ["Host", f"127.0.0.1:{peer.port}"] in call["request_headers"]
    assert body(folder, call["request"]) == body(folder, call["response"]) == b"hello"
    assert "upstream" not in call
    assert {(folder / name).stat().st_mode & 0o777 for name in (CALLS, BODIES)} == {0o600}


def test_the_beginning_is_written_before_the_end(tmp_path: Path) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def talk(connection: socket.socket) -> None:
        read_head(connection)
        asked.set()
        go_on.wait(PATIENCE_SECONDS)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    with serving(talk) as peer, tapped(peer.url, tmp_path, record=True) as tap, connect(tap.url) as connection:
        connection.sendall(b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
        assert asked.wait(PATIENCE_SECONDS)
        lines = tmp_path / "calls" / CALLS
        text = wait_until(lines.read_text, what="a line", timeout_seconds=PATIENCE_SECONDS)
        assert '"event":"begin"' in text
        assert '"event":"end"' not in text
        assert tap.state()["open"] == 1
        # It ends in the folder that it began in.
        tap.record_into(None)
        go_on.set()
        read_head(connection)
        assert ended_calls(tmp_path / "calls", 1)[0]["ending"] == "answered"
        assert tap.state()["open"] == 0


def test_each_recording_has_its_own_calls_counted_from_one(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    with serving(echo) as peer, tapped(peer.url, tmp_path) as tap:
        assert post(tap, "/unrecorded", b"0") == b"0"
        for folder in folders:
            folder.mkdir()
            tap.record_into(folder)
            for number in range(2):
                post(tap, f"/{folder.name}", b"%d" % number)
        tap.record_into(None)
        post(tap, "/unrecorded", b"0")
        for folder in folders:
            assert [(call["seq"], call["path"]) for call in ended_calls(folder, 2)] == [
                (1, f"/{folder.name}"),
                (2, f"/{folder.name}"),
            ]


@pytest.mark.parametrize("abrupt", [True, False])
def test_a_client_that_leaves_has_aborted(tmp_path: Path, abrupt: bool) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def talk(connection: socket.socket) -> None:
        read_head(connection)
        asked.set()
        go_on.wait(PATIENCE_SECONDS)

    with serving(talk) as peer, tapped(peer.url, tmp_path, record=True) as tap:
        connection = connect(tap.url)
        connection.sendall(b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
        assert asked.wait(PATIENCE_SECONDS)
        left = tap.state()["now"]
        (reset if abrupt else socket.socket.close)(connection)
        # The extender has not even noticed yet.
        [call] = ended_calls(tmp_path / "calls", 1)
        go_on.set()
    assert (call["ending"], call["status"], call["first_byte"]) == ("aborted", None, None)
    assert call["now"] > left


def test_a_reply_that_comes_after_the_client_left_is_no_answer(tmp_path: Path) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def talk(connection: socket.socket) -> None:
        read_head(connection)
        asked.set()
        go_on.wait(PATIENCE_SECONDS)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    with serving(talk) as peer, tapped(peer.url, tmp_path, record=True) as tap:
        connection = connect(tap.url)
        connection.sendall(b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
        assert asked.wait(PATIENCE_SECONDS)
        connection.close()
        go_on.set()
        assert ended_calls(tmp_path / "calls", 1)[0]["ending"] == "aborted"


def test_an_extender_that_breaks_off_has_cut(tmp_path: Path) -> None:
    def talk(connection: socket.socket) -> None:
        read_head(connection)
        read_exactly(connection, 1)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")

    with serving(talk) as peer, tapped(peer.url, tmp_path, record=True) as tap:
        with pytest.raises(http.client.IncompleteRead):
            post(tap, "/filter", b"x")
        [call] = ended_calls(tmp_path / "calls", 1)
        assert (call["ending"], call["status"], call["response_bytes"]) == ("cut", 200, 4)
        assert body(tmp_path / "calls", call["response"]) == b"half"


def test_many_calls_at_once_are_kept_apart(tmp_path: Path) -> None:
    texts = [b"%04d" % number * (1 + number * 97) for number in range(60)]
    with serving(echo) as peer, tapped(peer.url, tmp_path, record=True) as tap:
        with concurrent.futures.ThreadPoolExecutor(20) as threads:
            replies = list(threads.map(lambda text: post(tap, "/bind", text), texts))
        assert replies == texts
        calls = ended_calls(tmp_path / "calls", len(texts))
    assert [call["seq"] for call in calls] == list(range(1, len(texts) + 1))
    requests = [body(tmp_path / "calls", call["request"]) for call in calls]
    assert sorted(requests) == sorted(texts)
    assert requests == [body(tmp_path / "calls", call["response"]) for call in calls]


def test_what_is_not_http_is_relayed_and_noted(tmp_path: Path) -> None:
    def talk(connection: socket.socket) -> None:
        connection.sendall(b"you said " + connection.recv(100))

    with serving(talk) as peer, tapped(peer.url, tmp_path, record=True) as tap, connect(tap.url) as connection:
        connection.sendall(b"hello\r\n\r\n")
        assert read_exactly(connection, 16) == b"you said hello\r\n"
        state = tap.state()
    assert state["unparsed"] == 1
    assert "unparsed" in state["problem"]
    assert not (tmp_path / "calls" / CALLS).read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process can be set on Linux only")
def test_a_full_disk_never_disturbs_the_traffic(tmp_path: Path) -> None:
    with serving(echo) as peer, tapped(peer.url, tmp_path, record=True) as tap:
        resource.prlimit(tap.child.pid, resource.RLIMIT_FSIZE, (4000, resource.RLIM_INFINITY))
        noise = bytes(range(256)) * 8
        assert all(post(tap, "/filter", noise) == noise for _ in range(20))
        problem = wait_until(lambda: tap.state()["problem"], what="a problem", timeout_seconds=PATIENCE_SECONDS)
        assert "file too large" in problem
        # Another folder begins anew.
        resource.prlimit(tap.child.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        (tmp_path / "again").mkdir()
        tap.record_into(tmp_path / "again")
        assert tap.state()["problem"] is None
        post(tap, "/filter", noise)
        [call] = ended_calls(tmp_path / "again", 1)
        assert body(tmp_path / "again", call["request"]) == noise


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with serving(echo) as peer, tapped(peer.url, tmp_path) as tap, pytest.raises(InputError, match="no such file"):
        tap.record_into(tmp_path / "missing")
