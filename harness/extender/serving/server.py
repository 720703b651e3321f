"""The HTTP/1.1 server of extenders in Python: a thread per connection, httptools to parse.

Chosen by measurement, see docs/decisions/0006-a-thread-per-connection.md. An extender's methods are ordinary blocking
code, and kube-scheduler keeps few connections, so threads are the simplest thing that lets a slow bind delay no filter.
"""

import contextlib
import http
import signal
import socket
import threading
from collections.abc import Callable, Iterator

import httptools

from harness.errors import InputError
from harness.extender.serving.app import Reply

LOOPBACK = "127.0.0.1"
IDLE_SECONDS = 120.0
"""How long an idle connection is kept: more than the 90 s of kube-scheduler, so that we never close it first."""
GRACE_SECONDS = 2.0
HEAD_BYTES_MAX = 64 * 1024
BODY_BYTES_MAX = 1024 * 1024 * 1024

_CHUNK_BYTES = 256 * 1024
# Up to here, copying is cheaper than a second system call.
_JOINED_BYTES_MAX = 64 * 1024
_BAD_REQUEST, _TOO_LARGE, _HEAD_TOO_LARGE = 400, 413, 431

Answer = Callable[[str, str, bytes], Reply]


class _Refusal(Exception):  # noqa: N818 - never leaves this module
    def __init__(self, status: int, text: str) -> None:
        self.reply = Reply(status, text.encode())


class _Stop(BaseException):
    pass


class _Message:
    """One request while it arrives; its methods are what httptools calls."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.parser = httptools.HttpRequestParser(self)
        self.complete: list[tuple[str, str, bytes, bool]] = []
        self.head_bytes = 0
        self._begin()

    def _begin(self) -> None:
        self._url = b""
        self._parts: list[bytes] = []
        self._size = 0
        self.in_body = False

    def on_message_begin(self) -> None:
        self._begin()

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"expect" and value.lower() == b"100-continue":
            self._connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_headers_complete(self) -> None:
        self.in_body = True
        self.head_bytes = 0

    def on_body(self, body: bytes) -> None:
        self._size += len(body)
        if self._size > BODY_BYTES_MAX:
            raise _Refusal(_TOO_LARGE, f"a body of at most {BODY_BYTES_MAX} bytes is taken")
        self._parts.append(body)

    def on_message_complete(self) -> None:
        parser = self.parser
        method, path = parser.get_method().decode(), self._url.decode("utf-8", "replace")
        self.complete.append((method, path, b"".join(self._parts), parser.should_keep_alive()))
        self._begin()

    def feed(self, data: bytes) -> list[tuple[str, str, bytes, bool]]:
        """Take what arrived and return the requests that are whole now."""
        self.complete = []
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserCallbackError as error:
            raise (error.__context__ if isinstance(error.__context__, _Refusal) else error) from None
        except httptools.HttpParserUpgrade:
            raise _Refusal(_BAD_REQUEST, "no other protocol is spoken here") from None
        except httptools.HttpParserError as error:
            raise _Refusal(_BAD_REQUEST, f"not HTTP/1.1: {error}") from None
        if not self.in_body:
            self.head_bytes += 0 if self.complete else len(data)
        if self.head_bytes > HEAD_BYTES_MAX:
            raise _Refusal(_HEAD_TOO_LARGE, f"headers of at most {HEAD_BYTES_MAX} bytes are taken")
        return self.complete


class Server:
    """Listens on loopback and answers until it is told to stop."""

    def __init__(self, answer: Answer, port: int) -> None:
        self._answer = answer
        self._idle = threading.Condition()
        self._busy = 0
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        # A subject is restarted at the port it had; connections of before must not keep it.
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._listener.bind((LOOPBACK, port))
        except OSError as error:
            self._listener.close()
            raise InputError(f"port {port}: {error.strerror}; choose another with --port, or 0 for any") from error
        self._listener.listen(512)

    @property
    def port(self) -> int:
        """Return the port it listens on."""
        return int(self._listener.getsockname()[1])

    def run(self) -> None:
        """Serve until SIGTERM or Ctrl-C; calls that are being answered then are finished first."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        with contextlib.suppress(_Stop):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()
        self._listener.close()
        with self._idle:
            self._idle.wait_for(lambda: not self._busy, GRACE_SECONDS)

    @staticmethod
    def _stop(*_: object) -> None:
        # A second signal must not break off the waiting for calls that are being answered.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        raise _Stop

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.settimeout(IDLE_SECONDS)
            message = _Message(connection)
            try:
                while data := connection.recv(_CHUNK_BYTES):
                    for method, path, body, keep_alive in message.feed(data):
                        with self._working():
                            reply = self._answer(method, path, body)
                            _send(connection, reply, keep_alive=keep_alive, bodiless=method == "HEAD")
                        if not keep_alive:
                            return
            except _Refusal as refusal:
                _send(connection, refusal.reply, keep_alive=False)

    @contextlib.contextmanager
    def _working(self) -> Iterator[None]:
        with self._idle:
            self._busy += 1
        try:
            yield
        finally:
            with self._idle:
                self._busy -= 1
                self._idle.notify_all()


def _send(connection: socket.socket, reply: Reply, *, keep_alive: bool, bodiless: bool = False) -> None:
    head = (
        f"HTTP/1.1 {reply.status} {http.HTTPStatus(reply.status).phrase}\r\n"
        f"Content-Type: {reply.content_type}\r\nContent-Length: {len(reply.body)}\r\n"
        + (f"Allow: {reply.allow}\r\n" if reply.allow else "")
        + ("\r\n" if keep_alive else "Connection: close\r\n\r\n")
    ).encode("latin-1")
    body = b"" if bodiless else reply.body
    if len(body) <= _JOINED_BYTES_MAX:
        connection.sendall(head + body)
    else:
        connection.sendall(head)
        connection.sendall(body)
