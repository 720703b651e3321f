import gzip
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from harness.load.lean import (
    ANSWERED,
    BAD_STATUS,
    CUT,
    NOT_HTTP,
    REFUSED,
    SAID_ERROR,
    TOO_LATE,
    LeanClient,
    Outcome,
    prepare,
)

PLAIN = b'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"Error":""}'


@contextmanager
def answering(*answers: bytes, hold: bool = True) -> Iterator[str]:
    """Serve connections one after the other; each request on them gets the next answer, as raw bytes."""
    left = list(answers)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(5)
        done = threading.Event()

        def serve() -> None:
            while left:
                try:
                    line, _ = listener.accept()
                except OSError:
                    return
                with line:
                    while left and b"\r\n\r\n" in line.recv(1 << 20):
                        line.sendall(left.pop(0))
                        if not hold:
                            break
                    if hold:
                        done.wait(5)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/filter"
        finally:
            done.set()
    thread.join(5)


def ask(url: str, times: int = 1, seconds: float = 20.0) -> tuple[list[Outcome], int]:
    with LeanClient(url, seconds) as client:
        return [client.send(prepare(url, b"{}")) for _ in range(times)], client.connections


def endings(url: str, times: int = 1, seconds: float = 20.0) -> list[int]:
    return [outcome.ending for outcome in ask(url, times, seconds)[0]]


def test_a_connection_is_kept() -> None:
    with answering(PLAIN, PLAIN, PLAIN) as url:
        outcomes, connections = ask(url, 3)
    assert [(one.ok, one.status) for one in outcomes] == [(True, 200)] * 3
    assert connections == 1
    assert all(one.done_ns > one.sent_ns for one in outcomes)


def test_a_connection_that_the_server_closes_is_made_again() -> None:
    closing = PLAIN.replace(b"200 OK\r\n", b"200 OK\r\nConnection: close\r\n")
    with answering(closing, closing, hold=False) as url:
        outcomes, connections = ask(url, 2)
    assert [one.ending for one in outcomes] == [ANSWERED, ANSWERED]
    assert connections == 2


@pytest.mark.parametrize(
    ("answer", "ending"),
    [
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", ANSWERED),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + PLAIN, ANSWERED),
        (b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", BAD_STATUS),
        (b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"error": "no"}', SAID_ERROR),
        (b"SSH-2.0-OpenSSH_9.2\r\n", NOT_HTTP),
    ],
)
def test_an_answer_is_judged_as_kube_scheduler_would(answer: bytes, ending: int) -> None:
    with answering(answer) as url:
        assert endings(url) == [ending]


def test_an_error_is_found_in_a_packed_answer() -> None:
    packed = gzip.compress(b'{"Error":"no"}')
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n"
    with answering(head.encode() + packed) as url:
        assert endings(url) == [SAID_ERROR]


def test_an_answer_may_end_with_its_connection() -> None:
    with answering(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}", hold=False) as url:
        assert endings(url) == [ANSWERED]


def test_a_connection_that_ends_too_early_is_told() -> None:
    with answering(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", hold=False) as url:
        assert endings(url) == [CUT]


def test_a_server_that_is_silent_or_dribbles_is_late() -> None:
    with answering(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{") as url:
        assert endings(url, seconds=0.2) == [TOO_LATE]


def test_nobody_there_is_no_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert endings(f"http://127.0.0.1:{port}/filter", 2) == [REFUSED, REFUSED]


def test_a_large_body_is_not_copied() -> None:
    body = bytes(1_000_000)
    assert prepare("http://127.0.0.1:1/x", body).body is body
    assert prepare("http://127.0.0.1:1/x", b"{}").head.endswith(b"\r\n\r\n{}")
