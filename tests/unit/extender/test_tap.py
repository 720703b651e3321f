"""Neither side can tell that the tap is there: whatever is said and however it ends, both see the same without it."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.unit.extender.tap_peers import (
    PATIENCE_SECONDS,
    connect,
    read_exactly,
    read_head,
    read_to_end,
    reset,
    serving,
    tapped,
)

pytestmark = pytest.mark.usefixtures("built_tap")

Say = Callable[[socket.socket, bytes], Iterator[bytes]]


# Each case is a client and a server; both yield what they see. HOST stands for the server's own address.


def _keep_alive_client(connection: socket.socket, host: bytes) -> Iterator[bytes]:
    for number in range(3):
        connection.sendall(
            b"POST /s/filter?n=%d HTTP/1.1\r\nx-ODD:  spaced \r\nhOst: %s\r\nContent-Length: 5\r\nX-odd: again\r\n\r\n"
            b"call%d" % (number, host, number)
        )
        yield read_head(connection)
        yield read_exactly(connection, 2)
    connection.close()


def _keep_alive_server(connection: socket.socket, host: bytes) -> Iterator[bytes]:
    for _ in range(3):
        yield read_head(connection)
        yield read_exactly(connection, 5)
        connection.sendall(b"HTTP/1.1 200 Fine Indeed\r\nB: 1\r\na: 2\r\nCONTENT-length: 2\r\n\r\nok")
    yield read_to_end(connection)


def _chunked_client(connection: socket.socket, host: bytes) -> Iterator[bytes]:
    connection.sendall(b"POST / HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n3;ext=1\r\nabc\r\n" % host)
    yield read_head(connection)  # an answer to the first half
    connection.sendall(b"A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n")
    yield read_to_end(connection)


def _chunked_server(connection: socket.socket, host: bytes) -> Iterator[bytes]:
    yield read_head(connection)
    yield read_exactly(connection, 14)
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    yield read_exactly(connection, 32)
    connection.sendall(b"2\r\nhi\r\n0\r\n\r\n")


def _refused_early_client(connection: socket.socket, host: bytes) -> Iterator[bytes]:
    connection.sendall(b"POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: 1000000\r\n\r\nsome" % host)
    yield read_to_end(connection)


def _refused_early_server(connection: socket.socket, host: bytes) -> Iterator[bytes]:
    yield read_head(connection)
    yield read_exactly(connection, 4)
    connection.sendall(b"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nno!")


def _continue_client(connection: socket.socket, host: bytes) -> Iterator[bytes]:
    connection.sendall(b"POST / HTTP/1.1\r\nHost: %s\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n" % host)
    yield read_head(connection)
    connection.sendall(b"body")
    yield read_to_end(connection)


def _continue_server(connection: socket.socket, host: bytes) -> Iterator[bytes]:
    yield read_head(connection)
    connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    yield read_exactly(connection, 4)
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\nuntil the end")


def _leaving_client(connection: socket.socket, host: bytes) -> Iterator[bytes]:
    connection.sendall(b"POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: 1\r\n\r\nx" % host)
    connection.close()
    yield b""


def _resetting_client(connection: socket.socket, host: bytes) -> Iterator[bytes]:
    connection.sendall(b"POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: 1\r\n\r\nx" % host)
    yield read_head(connection)
    reset(connection)


def _silent_server(connection: socket.socket, host: bytes) -> Iterator[bytes]:
    yield read_to_end(connection)


def _beginning_server(connection: socket.socket, host: bytes) -> Iterator[bytes]:
    yield read_head(connection) + read_exactly(connection, 1)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
    yield read_to_end(connection)


def _half_closing_client(connection: socket.socket, host: bytes) -> Iterator[bytes]:
    connection.sendall(b"POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: 1\r\n\r\nx" % host)
    connection.shutdown(socket.SHUT_WR)
    yield read_to_end(connection)


def _patient_server(connection: socket.socket, host: bytes) -> Iterator[bytes]:
    yield read_to_end(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def _asking_client(connection: socket.socket, host: bytes) -> Iterator[bytes]:
    connection.sendall(b"POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: 1\r\n\r\nx" % host)
    yield read_to_end(connection)


def _breaking_server(connection: socket.socket, host: bytes) -> Iterator[bytes]:
    yield read_head(connection) + read_exactly(connection, 1)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    reset(connection)


def _foreign_client(connection: socket.socket, host: bytes) -> Iterator[bytes]:
    connection.sendall(b"\x00\x01 not HTTP at all\r\n\r\nmore\r\n")
    connection.shutdown(socket.SHUT_WR)
    yield read_to_end(connection)


def _foreign_server(connection: socket.socket, host: bytes) -> Iterator[bytes]:
    yield read_to_end(connection)
    connection.sendall(b"\x02 neither\n")


CASES: dict[str, tuple[Say, Say]] = {
    "keep-alive": (_keep_alive_client, _keep_alive_server),
    "chunked": (_chunked_client, _chunked_server),
    "refused early": (_refused_early_client, _refused_early_server),
    "100-continue, reply until the end": (_continue_client, _continue_server),
    "client leaves": (_leaving_client, _silent_server),
    "client resets": (_resetting_client, _beginning_server),
    "client half closes": (_half_closing_client, _patient_server),
    "extender closes without a reply": (_asking_client, lambda connection, host: iter([read_head(connection)])),
    "extender resets within a reply": (_asking_client, _breaking_server),
    "not HTTP": (_foreign_client, _foreign_server),
}


def _seen(case: str, folder: Path | None, *, record: bool = False) -> tuple[list[bytes], list[bytes], int]:
    """Play a case, through a tap if there is a folder for it.

    Returns what the client saw, what the server saw, and over how many connections.
    """
    say_client, say_server = CASES[case]
    at_server: list[bytes] = []
    done = threading.Event()

    def talk(connection: socket.socket) -> None:
        try:
            at_server.extend(say_server(connection, b""))
        finally:
            done.set()

    with contextlib.ExitStack() as stack:
        peer = stack.enter_context(serving(talk))
        url = stack.enter_context(tapped(peer.url, folder, record=record)).url if folder else peer.url
        with connect(url) as connection:
            at_client = list(say_client(connection, url.removeprefix("http://").encode()))
        assert done.wait(PATIENCE_SECONDS)
        own = f"127.0.0.1:{peer.port}".encode()
        return at_client, [text.replace(own, b"HOST") for text in at_server], peer.connections


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("record", [True, False])
def test_both_sides_see_the_same_with_and_without_the_tap(case: str, record: bool, tmp_path: Path) -> None:
    assert _seen(case, tmp_path, record=record) == _seen(case, None)
