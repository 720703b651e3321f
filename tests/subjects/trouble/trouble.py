"""An extender with a known latency, and with every trouble that a load test has to tell of. Standard library only.

An answer is due a fixed time after the kernel got its request, however late this process is woken to read it, and is
given at that very moment: the thread of its connection is awake a little before. A freeze stops every answer at once,
as a garbage collector does.
"""

import argparse
import contextlib
import ctypes
import os
import pathlib
import signal
import socket
import struct
import sys
import threading
import time

REPLY = b'{"Nodes":null,"NodeNames":["node-1"],"FailedNodes":{},"Error":"%s"}'
PR_SET_TIMERSLACK = 29
SO_TIMESTAMPNS = 35
TIMESPEC = struct.Struct("@qq")
SECOND_NS = 1_000_000_000
# Being woken takes up to some tenths of a millisecond where processors are virtual.
AWAKE_NS = 400_000
MARKED = 60
HEAD = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n"


class Trouble:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.started = time.monotonic()
        self.count = 0
        self.lock = threading.Lock()
        self.never = threading.Event()
        self.leaked: list[socket.socket] = []
        self.room = threading.Semaphore(options.at_once)
        self.turn: contextlib.AbstractContextManager[object] = contextlib.nullcontext()
        if options.one_by_one:
            self.turn = threading.Lock()

    def wait(self, since_ns: int) -> None:
        """Sit out a freeze, and wait until the time that was asked for is over."""
        options = self.options
        if options.freeze_every:
            left = options.freeze_seconds - (time.monotonic() - self.started) % options.freeze_every
            if left > 0:
                self.never.wait(left)
        if options.delay_ms:
            due_ns = since_ns + int(options.delay_ms * 1e6)
            self.never.wait(max(0, due_ns - AWAKE_NS - time.time_ns()) / SECOND_NS)
            while time.time_ns() < due_ns:
                pass

    def answer(self, arrived_ns: int) -> bytes:
        with self.lock:
            self.count += 1
            number = self.count
        options = self.options
        if options.die_after and number > options.die_after:
            os.write(2, b"fatal: out of luck\n")
            os._exit(3)
        if options.hang_after and number > options.hang_after:
            self.never.wait()
        with self.turn:
            self.wait(time.time_ns() if options.one_by_one else arrived_ns)
        status, body = b"200 OK", REPLY % b""
        if options.status_every and number % options.status_every == 0:
            status, body = b"500 Internal Server Error", b"no"
        elif options.error_every and number % options.error_every == 0:
            body = REPLY % b"no"
        if options.garbage:
            return b"SMTP ready\r\n"
        close = b"Connection: close\r\n" if options.close else b""
        return HEAD % (status, len(body), close) + body

    def serve(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if sys.platform == "linux":
            connection.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        while arrived_ns := self.read(connection):
            connection.sendall(self.answer(arrived_ns))
            if self.options.mark and self.count >= MARKED:
                pathlib.Path(self.options.mark).touch()
            if self.options.close:
                break
        if self.options.leak:
            self.leaked.append(connection)
        else:
            connection.close()

    @staticmethod
    def read(connection: socket.socket) -> int:
        """Read one request and return when the last of it arrived; 0 when there is none any more."""
        head, length, arrived_ns = b"", 0, 0
        while b"\r\n\r\n" not in head or length > 0:
            part, notes, _, _ = connection.recvmsg(1 << 20, 128)
            if not part:
                return 0
            arrived_ns = time.time_ns()
            for _, _, note in notes:
                seconds, nanoseconds = TIMESPEC.unpack_from(note)
                arrived_ns = seconds * SECOND_NS + nanoseconds
            if b"\r\n\r\n" in head:
                length -= len(part)
                continue
            head += part
            named = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
            length = int(named or 0) - len(head.partition(b"\r\n\r\n")[2])
        return arrived_ns

    def guarded(self, connection: socket.socket) -> None:
        try:
            self.serve(connection)
        except OSError:
            connection.close()
        finally:
            self.room.release()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--mark", metavar="FILE", help="made after so many answers that some were read for sure")
    parser.add_argument("--at-once", type=int, default=10_000, help="connections that are served; others wait")
    parser.add_argument("--delay-ms", type=float, default=0.0)
    parser.add_argument("--freeze-every", type=float, default=0.0)
    parser.add_argument("--freeze-seconds", type=float, default=0.5)
    for name in ("status-every", "error-every", "die-after", "hang-after"):
        parser.add_argument(f"--{name}", type=int, default=0)
    for name in ("close", "leak", "garbage", "one-by-one"):
        parser.add_argument(f"--{name}", action="store_true")
    if sys.platform == "linux":
        # The kernel may wake a waiting thread 50 µs late to save power; a latency that is known must not depend on it.
        ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1)
    trouble = Trouble(parser.parse_args())
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", trouble.options.port))
    listener.listen(1024)
    while True:
        trouble.room.acquire()
        connection, _ = listener.accept()
        threading.Thread(target=trouble.guarded, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    main()
