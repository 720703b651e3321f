import contextlib
import http.client
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import orjson
import psutil
import pytest

from harness.clock import wait_until
from harness.extender import requests
from harness.extender.serving.server import HEAD_BYTES_MAX, IDLE_SECONDS
from harness.process import run, spawn
from tests.processes import PATIENCE_SECONDS, await_gone, await_text, python
from tests.unit.extender.serving import Served, serving

POD = requests.pod("web")
NAMES = requests.encoded(requests.extender_args(POD, requests.nodes(3), names_only=True))

SLOW = """
import os, threading
class Slow:
    def __init__(self):
        self.open = threading.Event()
    def filter(self, pod, nodes):
        self.open.set()
        return nodes
    def bind(self, binding):
        print("binding", flush=True)
        self.open.wait(60)
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("served"), "ref:pass-through") as running:
        yield running


def raw(served: Served, sent: bytes) -> bytes:
    """Send bytes, say that no more come, and return everything that comes back."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def posted(body: bytes, *headers: str, path: str = "/filter") -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: x", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def test_it_says_where_it_serves_what(served: Served) -> None:
    assert f"ref:pass-through at http://127.0.0.1:{served.port}: /filter /prioritize\n" in served.log
    assert served.ask("GET", "/healthz") == (200, b"ok")


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "said"),
    [
        ("POST", "/bind", NAMES, 404, "served here: /filter, /prioritize, /healthz"),
        ("POST", "//filter", NAMES, 404, "not found"),
        ("GET", "/filter", None, 405, "use POST"),
        ("POST", "/healthz", b"", 405, "use GET"),
        ("POST", "/filter", b"", 400, "filter: "),
        ("POST", "/filter", b'{"Pod": ', 400, "filter: "),
        ("POST", "/filter", b"null", 400, "an object expected"),
        ("POST", "/filter", b"{}", 400, "no Pod"),
        ("POST", "/filter", b'{"Pod": {}, "Nodes": null, "NodeNames": null}', 400, "neither Nodes"),
        ("POST", "/filter", b'{"Pod": {}, "NodeNames": [1]}', 400, "neither Nodes"),
        ("POST", "/prioritize", b'{"Pod": {}, "Nodes": {"items": [null]}}', 400, "neither Nodes"),
    ],
)
def test_bad_requests_are_told_what_is_wrong(
    served: Served, method: str, path: str, body: bytes | None, status: int, said: str
) -> None:
    seen, text = served.ask(method, path, body)

    assert (seen, said in text.decode()) == (status, True), text
    assert served.ask("POST", "/filter", NAMES)[0] == 200


def test_one_connection_serves_many_calls_and_outlasts_the_scheduler(served: Served) -> None:
    with contextlib.closing(served.connection()) as connection:
        for _ in range(20):
            connection.request("POST", "/filter", NAMES)
            reply = connection.getresponse()
            assert (reply.status, reply.getheader("Connection")) == (200, None)
            assert orjson.loads(reply.read())["NodeNames"] == ["node-1", "node-2", "node-3"]
        assert isinstance(connection.sock, socket.socket)
    # kube-scheduler gives up an idle connection after 90 s, and must be the first to do so.
    assert IDLE_SECONDS > 100


def test_requests_may_come_in_any_pieces(served: Served) -> None:
    whole = posted(NAMES) + posted(NAMES, path="/prioritize")
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE_SECONDS) as connection:
        for start in range(0, len(whole), 7):
            connection.sendall(whole[start : start + 7])
        connection.shutdown(socket.SHUT_WR)
        got = b"".join(iter(lambda: connection.recv(65536), b""))

    assert got.count(b"HTTP/1.1 200 OK") == 2
    assert got == raw(served, whole)


def test_chunked_bodies_and_expectations_are_understood(served: Served) -> None:
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (NAMES[:9], NAMES[9:])) + b"0\r\n\r\n"
    got = raw(served, b"POST /filter HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
    assert got.startswith(b"HTTP/1.1 200 OK")

    got = raw(served, posted(NAMES, "Expect: 100-continue"))
    assert got.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"hello\r\n\r\n", b"400"),
        (b"POST /filter HTTP/1.1\r\nContent-Length: many\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * (HEAD_BYTES_MAX + 1), b"431"),
    ],
)
def test_what_is_no_http_is_refused_and_the_connection_closed(served: Served, sent: bytes, status: bytes) -> None:
    got = raw(served, sent)

    assert got.startswith(b"HTTP/1.1 " + status)
    assert b"Connection: close" in got
    assert served.ask("GET", "/healthz")[0] == 200


def test_connections_are_closed_where_the_client_wants_it(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(posted(NAMES, "Connection: close"))
        got = b"".join(iter(lambda: connection.recv(65536), b""))
    assert b"Connection: close\r\n" in got
    assert b"\r\n\r\nok" not in raw(served, b"HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n")


def test_whole_nodes_come_back_as_they_went(served: Served) -> None:
    nodes = [requests.node("a", annotations={"note": "ü<>&", "big": str(2**70)}, kib=3), requests.node("b")]

    reply = served.post("/filter", requests.extender_args(POD, nodes, names_only=False))

    assert reply["Nodes"] == {"metadata": {}, "items": nodes}
    assert reply["NodeNames"] is None
    assert reply["Error"] == ""


def test_forty_megabytes_are_taken(served: Served) -> None:
    nodes = requests.nodes(1000, kib_each=40)

    reply = served.post("/filter", requests.extender_args(POD, nodes, names_only=False))

    assert reply["Nodes"]["items"] == nodes


def test_a_line_is_logged_per_call(served: Served) -> None:
    before = served.log

    served.post("/filter", orjson.loads(NAMES))
    served.post("/prioritize", orjson.loads(NAMES))

    assert served.log.removeprefix(before).splitlines() == [
        "filter default/web: kept 3 of 3",
        "prioritize default/web: best node-1 with 0",
    ]


def test_a_slow_bind_delays_no_filter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_extender.py").write_text(SLOW)
    monkeypatch.chdir(tmp_path)
    with serving(tmp_path, "py:slow_extender:Slow") as slow:
        replies: list[tuple[int, bytes]] = []
        bind = requests.encoded(requests.binding_args(POD, "a"))
        binds = [threading.Thread(target=lambda: replies.append(slow.ask("POST", "/bind", bind))) for _ in range(50)]
        for one in binds:
            one.start()
        wait_until(lambda: slow.log.count("binding") == 50, what="50 binds", timeout_seconds=PATIENCE_SECONDS)
        # Only this call lets the others go on.
        assert slow.ask("POST", "/filter", NAMES)[0] == 200
        for one in binds:
            one.join(PATIENCE_SECONDS)
        assert replies == [(200, b"{}")] * 50


def test_asked_to_stop_it_finishes_what_it_has_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_extender.py").write_text(SLOW.replace("self.open.wait(60)", "self.open.wait(0.5)"))
    monkeypatch.chdir(tmp_path)
    with serving(tmp_path, "py:slow_extender:Slow") as slow, contextlib.closing(slow.connection()) as connection:
        connection.request("POST", "/bind", requests.encoded(requests.binding_args(POD, "a")))
        wait_until(lambda: "binding" in slow.log, what="the bind", timeout_seconds=PATIENCE_SECONDS)
        os.kill(slow.child.pid, signal.SIGTERM)
        assert connection.getresponse().read() == b"{}"
        assert slow.child.ended.wait(PATIENCE_SECONDS)
        assert slow.child.exit_code == 0
        with pytest.raises(ConnectionRefusedError):
            slow.ask("GET", "/healthz")


def test_nobody_outside_this_machine_can_reach_it(served: Served) -> None:
    listening = [one.laddr for one in psutil.Process(served.child.pid).net_connections() if one.status == "LISTEN"]

    assert [(one.ip, one.port) for one in listening] == [("127.0.0.1", served.port)]


def test_a_port_that_is_taken_is_named(served: Served, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "harness.extender.serving", "ref:lucky", "--port", str(served.port)]
    child = spawn("second", command, log=tmp_path / "second.log")

    assert child.ended.wait(PATIENCE_SECONDS)
    assert child.exit_code == 2
    assert f"port {served.port}: Address already in use" in await_text(child.log)
    child.stop()


def test_it_ends_with_whoever_started_it(tmp_path: Path) -> None:
    starter = """
import sys
from pathlib import Path
from harness.process import spawn
command = [sys.executable, "-m", "harness.extender.serving", "ref:lucky", "--port", "0"]
child = spawn("extender", command, log=Path(sys.argv[1]), env={"HARNESS_LIFELINE": "stdin"})
print(child.pid, flush=True)
child.ended.wait()
"""
    log = tmp_path / "extender.log"
    owner = spawn("owner", python(starter, str(log)), log=tmp_path / "owner.log")
    pid = int(await_text(owner.log).split()[0])
    await_text(log)

    os.kill(owner.pid, signal.SIGKILL)

    await_gone([pid])
    owner.stop()


def test_it_is_started_without_what_it_does_not_need() -> None:
    script = (
        "import sys, harness.extender.serving, harness.extender.references.lucky;"
        "print(sorted({'asyncio', 'kubernetes', 'pydantic', 'tenacity', 'urllib3', 'yaml'} & set(sys.modules)))"
    )

    # Each of them costs more than the rest of the start; a subject is started anew for every run.
    assert run(python(script)).strip() == "[]"


def test_a_wrong_method_is_told_the_right_one(served: Served) -> None:
    with contextlib.closing(served.connection()) as connection:
        connection.request("GET", "/filter")
        reply = connection.getresponse()
        reply.read()
    assert (reply.reason, reply.getheader("Allow")) == (http.client.responses[405], "POST")
