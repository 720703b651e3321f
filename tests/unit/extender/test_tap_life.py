"""The tap is there exactly as long as the extender is, costs little, speaks TLS as told, and outlives nobody."""

import base64
import http.client
import os
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness import process
from harness.certificates import Authority
from harness.errors import CommandError, InputError
from harness.extender.tap import Tap, Upstream, tapping
from tests.processes import await_gone, python
from tests.unit.extender.tap_peers import (
    body,
    connect,
    ended_calls,
    read_exactly,
    read_head,
    read_to_end,
    serving,
    tapped,
    wait_listening,
)

pytestmark = pytest.mark.usefixtures("built_tap")

MEBIBYTE = 2**20
BLOCK = (b'{"metadata":{"name":"node-0000","labels":{"zone":"a"}}},' * 20_000)[:MEBIBYTE]
BODY_BLOCKS = 40
RESIDENT_BYTES_MAX = 48 * MEBIBYTE
STARTS_A_TAP_AND_IS_KILLED = """
import os, signal, sys
from pathlib import Path
from harness.extender.tap import Upstream, tapping
with tapping("tap", Upstream("http://127.0.0.1:9"), Path(sys.argv[1])) as tap:
    print(tap.child.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def answer(connection: socket.socket) -> None:
    """Answer every request of a connection with ok."""
    while read_head(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def ask(connection: socket.socket) -> bytes:
    connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    return read_head(connection) and read_exactly(connection, 2)


def test_it_refuses_while_the_extender_does(tmp_path: Path) -> None:
    with serving(answer) as peer:
        port = peer.port
    with tapping("tap", Upstream(f"http://127.0.0.1:{port}"), tmp_path / "tap") as tap:
        with pytest.raises(ConnectionRefusedError):
            connect(tap.url)
        state = tap.state()
        assert (state["listening"], state["problem"]) == (False, None)
        assert "refused" in state["upstream_problem"]
        with serving(answer, port):
            wait_listening(tap)
            with connect(tap.url) as connection:
                assert ask(connection) == b"ok"


def test_a_killed_extender_ends_connections_then_refuses_then_is_back(tmp_path: Path) -> None:
    with serving(answer) as peer, tapped(peer.url, tmp_path) as tap:
        with connect(tap.url) as connection:
            assert ask(connection) == b"ok"
            peer.stop()
            assert read_to_end(connection) in {b"<end>", b"<reset>"}
        # The look at the extender comes before the news of its end, so that there is no moment in between.
        with pytest.raises(ConnectionRefusedError):
            connect(tap.url)
        with serving(answer, peer.port):
            wait_listening(tap)
            with connect(tap.url) as connection:
                assert ask(connection) == b"ok"


def test_who_connects_just_before_it_is_noticed_gets_a_reset_and_is_recorded(tmp_path: Path) -> None:
    with serving(answer) as peer, tapped(peer.url, tmp_path, record=True) as tap:
        peer.stop()  # nobody was connected, so nobody noticed
        with connect(tap.url) as connection:
            connection.sendall(b"POST /filter HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi")
            assert read_to_end(connection) == b"<reset>"
        with pytest.raises(ConnectionRefusedError):
            connect(tap.url)
        [call] = ended_calls(tmp_path / "calls", 1)
        assert (call["ending"], call["status"], call["path"]) == ("unreachable", None, "/filter")


@pytest.mark.parametrize("random", [False, True])
def test_big_bodies_stream_through_little_memory(tmp_path: Path, random: bool) -> None:
    block = os.urandom(MEBIBYTE) if random else BLOCK
    size = BODY_BLOCKS * MEBIBYTE
    got = threading.Event()

    def talk(connection: socket.socket) -> None:
        read_head(connection)
        for _ in range(BODY_BLOCKS):
            assert read_exactly(connection, MEBIBYTE) == block
        got.set()
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(BODY_BLOCKS):
            connection.sendall(block)

    seen = []
    with serving(talk) as peer, tapped(peer.url, tmp_path, record=True) as tap:
        looked_at = psutil.Process(tap.child.pid)
        with connect(tap.url) as connection:
            connection.sendall(b"POST /filter HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % size)
            for _ in range(BODY_BLOCKS):
                connection.sendall(block)
                seen.append(looked_at.memory_info().rss)
            read_head(connection)
            for _ in range(BODY_BLOCKS):
                assert read_exactly(connection, MEBIBYTE) == block
                seen.append(looked_at.memory_info().rss)
        [call] = ended_calls(tmp_path / "calls", 1)
        seen.append(looked_at.memory_info().rss)
    assert got.is_set()
    assert (call["request_bytes"], call["response_bytes"]) == (size, size)
    assert body(tmp_path / "calls", call["response"]) == block * BODY_BLOCKS
    assert max(seen) < RESIDENT_BYTES_MAX


class Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        reply = self.rfile.read(int(self.headers["Content-Length"])) + b" from " + self.headers["Host"].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[tuple[int, Authority]]:
    """An extender that speaks TLS and wants a certificate of its client."""
    authority = Authority(tmp_path / "authority")
    identity = authority.server("extender")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity.certificate, identity.key)
    context.load_verify_locations(authority.certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        server.handle_error = lambda *arguments: None  # type: ignore[method-assign]
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield server.server_port, authority
        server.shutdown()


def _ask_over_tls(tap: Tap) -> bytes:
    connection = http.client.HTTPSConnection(
        tap.url.removeprefix("https://"), context=ssl.create_default_context(cafile=str(tap.authority)), timeout=10
    )
    try:
        connection.request("POST", "/filter", b"hello")
        return connection.getresponse().read()
    finally:
        connection.close()


@pytest.mark.parametrize("as_data", [False, True])
def test_tls_on_both_sides(secure: tuple[int, Authority], tmp_path: Path, as_data: bool) -> None:
    port, authority = secure
    client = authority.client("scheduler")
    tls: Mapping[str, Any] = {
        "caFile": str(authority.certificate),
        "certFile": str(client.certificate),
        "keyFile": str(client.key),
        "serverName": "localhost",
    }
    if as_data:
        tls = {
            key.replace("File", "Data"): base64.b64encode(Path(path).read_bytes()).decode()
            for key, path in tls.items()
            if key != "serverName"
        }
    with tapping("tap", Upstream(f"https://127.0.0.1:{port}/s", tls), tmp_path / "tap") as tap:
        wait_listening(tap)
        assert _ask_over_tls(tap) == b"hello from 127.0.0.1:%d" % port
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "tap").glob("upstream-*"))


def test_an_extender_with_a_foreign_certificate_is_named(secure: tuple[int, Authority], tmp_path: Path) -> None:
    with tapping("tap", Upstream(f"https://127.0.0.1:{secure[0]}"), tmp_path / "tap") as tap:
        wait_listening(tap)
        with pytest.raises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
            _ask_over_tls(tap)
        assert "certificate signed by unknown authority" in tap.state()["problem"]


@pytest.mark.parametrize(
    ("url", "tls", "told"),
    [
        ("ftp://host", {}, "begins with http://HOST"),
        ("http://", {}, "begins with http://HOST"),
        ("https://host", {"caData": "?"}, "tlsConfig.caData: base64 expected"),
    ],
)
def test_what_cannot_be_tapped_is_said(url: str, tls: dict[str, str], told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=told), tapping("tap", Upstream(url, tls), tmp_path / "tap"):
        pass


def test_a_killed_starter_leaves_no_tap(tmp_path: Path) -> None:
    with pytest.raises(CommandError) as killed:
        process.run(python(STARTS_A_TAP_AND_IS_KILLED, str(tmp_path / "tap")))
    await_gone([int(killed.value.output.split()[-1])])


def test_it_is_stopped_at_the_end_also_below_a_long_path(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30) / "tap"
    with tapping("tap", Upstream("http://127.0.0.1:9"), folder) as tap:
        assert tap.alive
    assert not tap.alive
    await_gone([tap.child.pid])
