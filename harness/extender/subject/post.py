"""Sends one call to an extender as kube-scheduler would: same URL, headers, TLS and time limit. Follows no redirect."""

import contextlib
import gzip
import http.client
import socket
import threading
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from harness.clock import SYSTEM
from harness.extender.entry import Entry
from harness.extender.subject.reach import cause_of, host_of, port_of
from harness.extender.subject.tls import tls_of

HEADERS = {
    "User-Agent": "Go-http-client/1.1",
    "Content-Type": "application/json",
    "Accept-Encoding": "gzip",
}
BODY_BYTES_MAX = 64 * 1024 * 1024


@dataclass(frozen=True)
class Reply:
    """What came back; `ending` is a word of `harness.record.call.Call`, `problem` says what stood in the way."""

    url: str
    ending: str
    seconds: float
    status: int | None = None
    body: bytes = b""
    location: str | None = None
    problem: str | None = None


def post(url: str, body: bytes, entry: Entry, *, timeout_seconds: float) -> Reply:
    """Send one request on a connection of its own; whatever happens becomes a reply."""
    began = SYSTEM.now()
    with contextlib.ExitStack() as stack:
        try:
            connection = stack.enter_context(_connected(url, entry, timeout_seconds))
        except (OSError, ValueError) as error:
            problem = cause_of(error, url, timeout_seconds)
            return Reply(url, "unreachable", SYSTEM.now() - began, problem=problem)
        left = timeout_seconds - (SYSTEM.now() - began)
        is_late = stack.enter_context(_limited(connection.sock, left))
        try:
            connection.request("POST", _target(url), body, HEADERS)
            response = stack.enter_context(connection.getresponse())
            # What cuts the headers short is taken for their end.
            _refuse_late(is_late)
        except (OSError, http.client.HTTPException) as error:
            late = is_late.is_set()
            gone = f"the connection ended without a reply ({type(error).__name__})"
            problem = f"no answer within {timeout_seconds:g} s" if late else gone
            return Reply(url, "aborted" if late else "cut", SYSTEM.now() - began, problem=problem)
        content, trouble = _read(response)
        if is_late.is_set():
            trouble = f"the body did not end within {timeout_seconds:g} s"
        ending = "aborted" if is_late.is_set() else "cut" if trouble else "answered"
        content = _unpacked(content, response.headers.get("Content-Encoding"))
        location = response.headers.get("Location")
        return Reply(url, ending, SYSTEM.now() - began, response.status, content, location, trouble)


def _target(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"


@contextlib.contextmanager
def _limited(channel: socket.socket, seconds: float) -> Iterator[threading.Event]:
    """Cut a connection when its time is over; a limit per read would let a server dribble for ever."""
    is_late = threading.Event()
    channel.settimeout(None)

    def cut() -> None:
        is_late.set()
        with contextlib.suppress(OSError):
            # The plain one, also for TLS, whose own changes an object that is being read from.
            socket.socket.shutdown(channel, socket.SHUT_RDWR)

    timer = threading.Timer(max(seconds, 0.0), cut)
    timer.daemon = True
    timer.start()
    try:
        yield is_late
    finally:
        timer.cancel()
        timer.join()


def _refuse_late(is_late: threading.Event) -> None:
    if is_late.is_set():
        raise TimeoutError


def _read(response: http.client.HTTPResponse) -> tuple[bytes, str | None]:
    """Return the body as far as it came, and what was wrong with its end."""
    try:
        content = response.read(BODY_BYTES_MAX + 1)
    except http.client.IncompleteRead as error:
        return error.partial, "the body ended too early"
    except (OSError, http.client.HTTPException) as error:
        return b"", f"the body ended too early ({type(error).__name__})"
    if len(content) > BODY_BYTES_MAX:
        return content[:BODY_BYTES_MAX], f"a body above {BODY_BYTES_MAX} bytes"
    # What the server announced and did not send.
    return content, "the body ended too early" if response.length else None


def _unpacked(body: bytes, encoding: str | None) -> bytes:
    if (encoding or "").lower() != "gzip":
        return body
    with contextlib.suppress(OSError, EOFError, zlib.error):
        return gzip.decompress(body)
    return body


@contextlib.contextmanager
def _connected(url: str, entry: Entry, timeout_seconds: float) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection(host_of(url), port_of(url), timeout=timeout_seconds)
    try:
        connection.connect()
        if tls := tls_of(url, entry):
            connection.sock = tls.context.wrap_socket(connection.sock, server_hostname=tls.name)
        yield connection
    finally:
        connection.close()
