"""One kept-alive connection of the load's client: prepared bytes out, a C parser in, and nothing in between.

Driven by the callbacks of an event loop that it is given, so that a request costs no switch of greenlets. Nothing here
may block, and whatever happens becomes an outcome.
"""

import _socket
import errno
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any

import httptools

from harness.extender.subject.tls import Tls
from harness.load import samples
from harness.load.arrival import NOTE_BYTES, arrived_ns, ask_for_stamps
from harness.load.loop import READ, WRITE, Loop, Watcher
from harness.load.reply import has_error
from harness.load.seal import Seal

CHUNK_BYTES = 1 << 16
BIG_BYTES = 1 << 20
STATUS_OK = 200
STATUS_FINAL = 200
_AGAIN = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EINTR)
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Connection:
    """A connection with at most one request on it.

    `finished` is called with the connection, the outcome and the status when a request is over; `is_open` tells then
    whether it can take another. `dropped` is called when the extender hangs up between two requests.
    """

    def __init__(
        self,
        loop: Loop,
        address: tuple[int, Any],
        finished: "Callable[[Connection, int, int, int], None]",
        dropped: "Callable[[Connection], None]",
        tls: Tls | None = None,
    ) -> None:
        self._loop = loop
        self._address = address
        self._finished = finished
        self._dropped = dropped
        self._tls = tls
        self._seal: Seal | None = None
        self._socket: Any = None
        self._reader: Watcher | None = None
        self._writer: Watcher | None = None
        self._parser: Any = None
        self._rest: memoryview | bytes = b""
        self._parts: list[bytes] = []
        self._head = b""
        self._complete = self._stays = False
        self._status = 0
        self._chunk = CHUNK_BYTES
        self.busy = False
        # Of the request on it; kept here because a table beside it would cost more.
        self.intended = self.sent = self.verb = 0
        self.owner: Any = None

    @property
    def is_open(self) -> bool:
        """Tell whether it can be used."""
        return self._socket is not None

    def send(self, data: bytes, verb: int, intended: int, now: int) -> None:
        """Send a request; the answer comes to `finished`, also when there is none."""
        self.busy = True
        self.intended, self.sent, self.verb = intended, now, verb
        if self._tls is not None and self._socket is None:
            self._seal = Seal(self._tls)
        self._rest = data if self._seal is None else self._seal.sealed(data)
        if self._socket is None and not self._connect():
            return
        self._write()

    def close(self) -> None:
        """Give the connection up. Calling it twice is harmless."""
        for watcher in (self._reader, self._writer):
            if watcher is not None:
                watcher.stop()
                watcher.close()
        self._reader = self._writer = None
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self._parser = None

    def give_up(self, outcome: int, now: int) -> None:
        """End the request on it without an answer, and the connection with it."""
        self._end(outcome, 0, now)

    # What httptools calls.

    def on_body(self, body: bytes) -> None:
        """Take a piece of the answer."""
        self._parts.append(body)

    def on_message_complete(self) -> None:
        """Take note that the answer is whole; `100 Continue` is none."""
        self._status = self._parser.get_status_code()
        self._complete = self._status >= STATUS_FINAL
        # Asked here: afterwards the parser is at the next message.
        self._stays = self._parser.should_keep_alive()

    def _connect(self) -> bool:
        family, place = self._address
        try:
            made = _socket.socket(family, _socket.SOCK_STREAM)
        except OSError as error:
            exhausted = error.errno in _EXHAUSTED
            self._end(samples.NO_DESCRIPTORS if exhausted else samples.UNREACHABLE, 0, time.perf_counter_ns())
            return False
        made.setblocking(False)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ask_for_stamps(made)
        self._socket = made
        self._parser = httptools.HttpResponseParser(self)
        self._complete = False
        self._reader = self._loop.io(made.fileno(), READ)
        code = made.connect_ex(place)
        if code == 0:
            self._reader.start(self._readable)
            return True
        if code == errno.EINPROGRESS:
            self._writer = self._loop.io(made.fileno(), WRITE)
            self._writer.start(self._connected)
        else:
            self._end(_outcome_of(code, samples.UNREACHABLE), 0, time.perf_counter_ns())
        return False

    def _connected(self) -> None:
        code = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            self._end(_outcome_of(code, samples.UNREACHABLE), 0, time.perf_counter_ns())
            return
        if self._writer and self._reader:
            self._writer.stop()
            self._reader.start(self._readable)
        self._write()

    def _write(self) -> None:
        rest = self._rest
        try:
            while rest:
                count = self._socket.send(rest)
                rest = b"" if count == len(rest) else memoryview(rest)[count:]
        except OSError as error:
            if error.errno not in _AGAIN:
                # An answer may be there already: some servers refuse a body before they have read it.
                self._rest = b""
                self._stop_writing()
                self._after_broken_send(error.errno or 0)
                return
            self._rest = rest
            if self._writer is None:
                self._writer = self._loop.io(self._socket.fileno(), WRITE)
            self._writer.start(self._write)
            return
        self._rest = b""
        if self._writer is not None:
            self._stop_writing()

    def _stop_writing(self) -> None:
        if self._writer is not None:
            self._writer.stop()

    def _after_broken_send(self, code: int) -> None:
        self._readable()
        if self.busy:
            self._end(_outcome_of(code, samples.CUT), 0, time.perf_counter_ns())

    def _readable(self) -> None:
        try:
            data, notes, _, _ = self._socket.recvmsg(self._chunk, NOTE_BYTES)
        except OSError as error:
            if error.errno not in _AGAIN:
                self._lost(_outcome_of(error.errno or 0, samples.CUT))
            return
        now = arrived_ns(notes, self.sent)
        is_full = len(data) == self._chunk
        if data and self._seal is not None:
            opened = self._unsealed(self._seal, data)
            if opened is None:
                return
            data = opened
        if not data or not self.busy:
            # Bytes that nobody asked for would be taken for the next answer.
            self._lost(samples.CUT)
            return
        if not self._head:
            self._head = data
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._end(samples.NOT_HTTP, 0, now)
            return
        if self._complete:
            self._answered(now)
        elif is_full:
            self._chunk = BIG_BYTES

    def _unsealed(self, seal: Seal, data: bytes) -> bytes | None:
        """Return what was sealed, nothing if it was the end; None if there is no need to look at it."""
        try:
            opened, back = seal.opened(data)
        except ssl.SSLError:
            self._lost(samples.NO_TLS)
            return None
        if back:
            self._rest = bytes(self._rest) + back
            self._write()
            if self._socket is None:
                return None
        return opened if opened or seal.ended else None

    def _answered(self, now: int) -> None:
        status = self._status
        outcome = samples.STATUS if status != STATUS_OK else samples.OK
        if outcome == samples.OK and self._parts and has_error(self._parts):
            outcome = samples.REPLY_ERROR
        if self._rest or not self._stays:
            self.close()
        self._reset()
        self._finished(self, outcome, status, now)

    def _lost(self, outcome: int) -> None:
        """Deal with the end of the connection: of an answer without a length, of a request, or of nothing."""
        if not self.busy:
            self.close()
            self._dropped(self)
        elif self._head and outcome == samples.CUT and _ends_with_connection(self._head):
            self._answered_by_end()
        else:
            self._end(outcome, 0, time.perf_counter_ns())

    def _answered_by_end(self) -> None:
        status = self._parser.get_status_code()
        good = status == STATUS_OK
        failed = good and has_error(self._parts)
        outcome = samples.REPLY_ERROR if failed else samples.OK if good else samples.STATUS
        self._end(outcome, status, time.perf_counter_ns())

    def _end(self, outcome: int, status: int, now: int) -> None:
        self.close()
        self._reset()
        self._finished(self, outcome, status, now)

    def _reset(self) -> None:
        self.busy = self._complete = False
        self._rest = self._head = b""
        self._parts = []


def _outcome_of(code: int, otherwise: int) -> int:
    if code == errno.ECONNREFUSED:
        return samples.REFUSED
    if code in (errno.ECONNRESET, errno.EPIPE):
        return samples.RESET
    return samples.NO_DESCRIPTORS if code in _EXHAUSTED or code == errno.EADDRNOTAVAIL else otherwise


def _ends_with_connection(start: bytes) -> bool:
    """Tell whether an answer is one that ends when the connection does: it has neither a length nor chunks."""
    head, separator, _ = start.partition(b"\r\n\r\n")
    lowered = head.lower()
    return bool(separator) and b"\ncontent-length:" not in lowered and b"\ntransfer-encoding:" not in lowered
