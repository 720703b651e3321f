"""Both ends of a tapped connection as raw sockets, so that tests see every byte and how each connection ended."""

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import zstandard

from harness.clock import wait_until
from harness.extender.tap import BODIES, CALLS, Tap, Upstream, tapping

PATIENCE_SECONDS = 10.0
RESET = struct.pack("ii", 1, 0)

Talk = Callable[[socket.socket], object]


class Peer:
    """A server on loopback that runs one function per connection."""

    def __init__(self, talk: Talk, port: int = 0) -> None:
        self._talk = talk
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port: int = self._listener.getsockname()[1]
        self.connections = 0
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._acceptor = threading.Thread(target=self._serve, daemon=True)
        self._acceptor.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        """Go away as a killed process does."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._acceptor.join(PATIENCE_SECONDS)
        self._listener.close()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.settimeout(PATIENCE_SECONDS)
            self._open.append(connection)
            thread = threading.Thread(target=self._run, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _run(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            # The tap looks whether anybody listens; such a connection says nothing and is not a client's.
            if connection.recv(1, socket.MSG_PEEK):
                self.connections += 1
                self._talk(connection)


@contextlib.contextmanager
def serving(talk: Talk, port: int = 0) -> Iterator[Peer]:
    peer = Peer(talk, port)
    try:
        yield peer
    finally:
        peer.stop()


@contextlib.contextmanager
def tapped(url: str, folder: Path, *, record: bool = False) -> Iterator[Tap]:
    """Run a tap that listens already, recording into folder/calls if asked to."""
    with tapping("tap", Upstream(url), folder / "tap") as tap:
        wait_listening(tap)
        if record:
            (folder / "calls").mkdir()
            tap.record_into(folder / "calls")
        yield tap


def wait_listening(tap: Tap, *, yes: bool = True) -> None:
    wait_until(lambda: tap.state()["listening"] is yes, what=f"listening: {yes}", timeout_seconds=PATIENCE_SECONDS)


def connect(url: str) -> socket.socket:
    host, _, port = url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS)


def read_head(connection: socket.socket) -> bytes:
    """Read up to the blank line, byte by byte so that nothing behind it is taken."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte:
            return head
        head += byte
    return head


def read_exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        block = connection.recv(count - len(data))
        if not block:
            break
        data += block
    return data


def read_to_end(connection: socket.socket) -> bytes:
    """Return everything up to the end, with how it ended."""
    data = b""
    while True:
        try:
            block = connection.recv(65536)
        except ConnectionResetError:
            return data + b"<reset>"
        if not block:
            return data + b"<end>"
        data += block


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    connection.close()


def ended_calls(folder: Path, count: int) -> list[dict[str, Any]]:
    """Wait until so many calls have ended; return each with its begin and its end together, in order."""

    def enough() -> list[dict[str, Any]] | None:
        lines = [json.loads(line) for line in (folder / CALLS).read_text().splitlines()]
        begins = {line["seq"]: line for line in lines if line["event"] == "begin"}
        ends = sorted((line for line in lines if line["event"] == "end"), key=lambda line: int(line["seq"]))
        # The beginning's own time is kept as "began".
        calls = [{**begins[end["seq"]], "began": begins[end["seq"]]["now"], **end} for end in ends]
        return calls if len(calls) >= count else None

    return wait_until(enough, what=f"{count} ended calls", timeout_seconds=PATIENCE_SECONDS)


def body(folder: Path, place: dict[str, int]) -> bytes:
    frame = (folder / BODIES).read_bytes()[place["offset"] : place["offset"] + place["length"]]
    return zstandard.ZstdDecompressor().decompressobj().decompress(frame)
