"""A client that asks one thing at a time with as little of its own as possible: it cannot queue, and barely costs.

For comparisons, where what the client adds hides what differs. Load is the generator's work; see generate.py.
"""

import socket
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httptools

from harness.extender.subject.post import HEADERS
from harness.extender.subject.reach import host_of, port_of
from harness.extender.subject.tls import Tls
from harness.load.reply import has_error

# What became of a request; the first is the only good one.
ANSWERED, BAD_STATUS, SAID_ERROR, TOO_LATE, CUT, REFUSED, NOT_HTTP = range(7)
ENDINGS: Mapping[int, str] = {
    ANSWERED: "answered",
    BAD_STATUS: "a status other than 200",
    SAID_ERROR: "an Error in the answer",
    TOO_LATE: "no answer in time",
    CUT: "the connection ended",
    REFUSED: "no connection",
    NOT_HTTP: "no HTTP",
}
OK = 200
_RECEIVED_BYTES = 256 * 1024
# Up to here, copying is cheaper than a second system call.
_JOINED_BYTES_MAX = 64 * 1024
_SECONDS_MIN = 0.001
_TICKS_PER_SECOND = 1_000_000_000
_MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it goes over the line."""

    head: bytes
    body: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """One request's fate; times are those of `time.perf_counter_ns`."""

    sent_ns: int
    done_ns: int
    ending: int
    status: int = 0

    @property
    def ok(self) -> bool:
        """Tell whether it was answered as kube-scheduler wants it."""
        return self.ending == ANSWERED


def prepare(url: str, body: bytes) -> Request:
    """Return the request that kube-scheduler would send with a body."""
    parts = urlsplit(url)
    headers = {"Host": parts.netloc, **HEADERS, "Content-Length": len(body)}
    lines = [f"POST {parts.path or '/'} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    head = ("\r\n".join(lines) + "\r\n\r\n").encode()
    return Request(head + body, b"") if len(body) <= _JOINED_BYTES_MAX else Request(head, body)


class LeanClient:
    """One connection that is kept; it is made again when the other side has closed it.

    `connections` counts how often that was. Whatever happens becomes an outcome, never an error.
    """

    def __init__(self, url: str, timeout_seconds: float, tls: Tls | None = None) -> None:
        self._address = (host_of(url), port_of(url))
        self._timeout_seconds = timeout_seconds
        self._tls = tls
        self._socket: socket.socket | None = None
        self._hurried = False
        self.connections = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the next request makes a new one."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def send(self, request: Request) -> Outcome:
        """Send one request and wait for the whole answer."""
        began = time.perf_counter_ns()
        answer = _Answer()
        try:
            line = self._socket or self._connect()
            if self._hurried:
                self._limit(line, self._timeout_seconds)
            line.sendall(request.head)
            if request.body:
                line.sendall(request.body)
            self._receive(line, answer, began)
        except (OSError, httptools.HttpParserError) as error:
            done = time.perf_counter_ns()
            ending = _ending(error, connected=self._socket is not None)
            self.close()
            return Outcome(began, done, ending, answer.status)
        done = time.perf_counter_ns()
        if not answer.keeps:
            self.close()
        return Outcome(began, done, answer.judged(), answer.status)

    def _connect(self) -> socket.socket:
        line = socket.create_connection(self._address, timeout=self._timeout_seconds)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # The kernel keeps the time: Python would ask it before every read and write whether there is anything to do.
        if self._tls is None:
            line.settimeout(None)
        else:
            line = self._tls.context.wrap_socket(line, server_hostname=self._tls.name)
        self._limit(line, self._timeout_seconds)
        self._socket = line
        self.connections += 1
        return line

    def _receive(self, line: socket.socket, answer: "_Answer", began: int) -> None:
        while not answer.complete:
            data = line.recv(_RECEIVED_BYTES)
            if not data:
                if answer.ends_with_connection:
                    return
                raise ConnectionResetError
            answer.parser.feed_data(data)
            if not answer.complete:
                left = self._timeout_seconds - (time.perf_counter_ns() - began) / _TICKS_PER_SECOND
                if left <= 0:
                    raise TimeoutError
                # A limit per read would let a server dribble for ever.
                self._limit(line, max(left, _SECONDS_MIN))

    def _limit(self, line: socket.socket, seconds: float) -> None:
        self._hurried = seconds < self._timeout_seconds
        if self._tls is not None:
            # TLS would take a limit of the kernel's for "try again", without end.
            line.settimeout(seconds)
            return
        whole = int(seconds)
        limit = struct.pack("@ll", whole, int((seconds - whole) * _MICROSECONDS))
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)


class _Answer:
    """One answer while it arrives; its methods are what httptools calls."""

    def __init__(self) -> None:
        self.parser = httptools.HttpResponseParser(self)
        self.complete = False
        self.keeps = False
        self.status = 0
        self._parts: list[bytes] = []
        self._framed = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() in (b"content-length", b"transfer-encoding"):
            self._framed = True

    def on_headers_complete(self) -> None:
        self.status = self.parser.get_status_code()

    def on_body(self, body: bytes) -> None:
        self._parts.append(body)

    def on_message_complete(self) -> None:
        self.keeps = self.parser.should_keep_alive()
        # 100 Continue stands before the answer.
        self.complete = self.status >= OK

    @property
    def ends_with_connection(self) -> bool:
        return bool(self.status) and not self._framed

    def judged(self) -> int:
        """Say what kube-scheduler would: any status but 200 and any Error is a failure."""
        if self.status != OK:
            return BAD_STATUS
        return SAID_ERROR if has_error(self._parts) else ANSWERED


def _ending(error: Exception, *, connected: bool) -> int:
    # A limit of the kernel's shows as "nothing there yet".
    if isinstance(error, TimeoutError | BlockingIOError):
        return TOO_LATE
    if isinstance(error, httptools.HttpParserError):
        return NOT_HTTP
    return CUT if connected else REFUSED
