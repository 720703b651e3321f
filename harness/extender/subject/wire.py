"""A kept-alive connection to an extender, as kube-scheduler holds one; whatever happens on it becomes a reply."""

import contextlib
import http.client
import socket
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from harness.clock import SYSTEM
from harness.extender.entry import Entry
from harness.extender.subject.post import BODY_BYTES_MAX, HEADERS, Reply
from harness.extender.subject.reach import cause_of, host_of, port_of
from harness.extender.subject.tls import tls_of

_CHUNK_BYTES = 1 << 16
# A timeout of 0 would mean not to wait at all.
_SECONDS_MIN = 0.001


class Wire:
    """Sends one request after the other; nothing is sent twice and no redirect is followed."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry
        self._connection = http.client.HTTPConnection(host_of(entry.url_prefix), port_of(entry.url_prefix))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._connection.close()

    def send(self, kind: str, body: bytes) -> Reply:
        """Send the request of one call."""
        url, seconds = self._entry.url(kind), self._entry.timeout_seconds
        began = SYSTEM.now()
        if self._connection.sock is None:
            self._connection.timeout = seconds
            try:
                self._connect()
            except (OSError, ValueError) as error:
                self._connection.close()
                return Reply(url, "unreachable", SYSTEM.now() - began, problem=cause_of(error, url, seconds))
        reply = self._exchange(self._connection, url, body, began + seconds)
        if reply.ending != "answered":
            # What is left on the line would be taken for the beginning of the next reply.
            self._connection.close()
        return reply

    def _connect(self) -> None:
        self._connection.connect()
        if tls := tls_of(self._entry.url_prefix, self._entry):
            self._connection.sock = tls.context.wrap_socket(self._connection.sock, server_hostname=tls.name)

    def _exchange(self, connection: http.client.HTTPConnection, url: str, body: bytes, deadline: float) -> Reply:
        began = SYSTEM.now()
        status, location, parts = None, None, bytearray()
        try:
            connection.sock.settimeout(max(deadline - began, _SECONDS_MIN))
            connection.request("POST", urlsplit(url).path or "/", body, {**HEADERS, "Accept-Encoding": "identity"})
            with contextlib.closing(connection.getresponse()) as response:
                status, location = response.status, response.headers.get("Location")
                _read(response, parts, connection.sock, deadline)
        except (OSError, http.client.HTTPException) as error:
            ending = "aborted" if isinstance(error, TimeoutError) else "cut"
            seconds = SYSTEM.now() - began
            return Reply(url, ending, seconds, status, bytes(parts), location, f"{type(error).__name__}: {error}")
        return Reply(url, "answered", SYSTEM.now() - began, status, bytes(parts), location)


def _read(response: http.client.HTTPResponse, parts: bytearray, channel: socket.socket | None, deadline: float) -> None:
    """Read a body piece by piece, so that what came before a failure is kept and a dribbling server is cut off."""
    while chunk := response.read1(_CHUNK_BYTES):
        parts += chunk
        if len(parts) > BODY_BYTES_MAX:
            raise http.client.HTTPException(f"a body above {BODY_BYTES_MAX} bytes")
        if SYSTEM.now() > deadline:
            raise TimeoutError("the body is too slow")
        if channel is not None and channel.fileno() >= 0:
            channel.settimeout(max(deadline - SYSTEM.now(), _SECONDS_MIN))
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)
