"""An answer of the API server that goes on: read as it comes, and ended from another thread."""

import threading
from collections.abc import Iterator
from typing import Any

import orjson

Object = dict[str, Any]


class Stream:
    """A running watch or log. Closing it from another thread ends its iteration."""

    def __init__(self, response: Any) -> None:
        self._response = response
        self._closed = threading.Event()

    def __iter__(self) -> Iterator[Object]:
        for line in self._lines():
            yield orjson.loads(line)

    def chunks(self) -> Iterator[bytes]:
        """Yield what arrives, as it arrives."""
        try:
            # read1 hands over what has arrived; read(n) would sit on a finished event until n bytes are there.
            while chunk := self._response.read1():
                yield chunk
        except Exception:
            # Closing the connection under a blocked read surfaces as almost any error: expected then, and only then.
            if not self._closed.is_set():
                raise

    def _lines(self) -> Iterator[bytes]:
        rest = b""
        for chunk in self.chunks():
            *lines, rest = (rest + chunk).split(b"\n")
            yield from (line for line in lines if line)

    def close(self) -> None:
        """End the watch."""
        self._closed.set()
        connection = getattr(self._response, "connection", None) or getattr(self._response, "_connection", None)
        sock = getattr(connection, "sock", None)
        if sock is not None:
            import socket  # noqa: PLC0415 - only needed here

            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                return
