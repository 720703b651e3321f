"""An extender with a known latency, and with every trouble that a load test has to tell of. Standard library only.

A thread per connection: a thread that waits is woken to within some hundredths of a millisecond, where an event loop
would round to whole ones. A freeze stops every answer at once, as a garbage collector does.
"""

import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import signal
import socket
import sys
import threading
import time

REPLY = b'{"Nodes":null,"NodeNames":["node-1"],"FailedNodes":{},"Error":"%s"}'
PR_SET_TIMERSLACK = 29
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
        self.waited: list[float] = []
        self.room = threading.Semaphore(options.at_once)
        self.turn: contextlib.AbstractContextManager[object] = contextlib.nullcontext()
        if options.one_by_one:
            self.turn = threading.Lock()

    def wait(self) -> None:
        """Take the time that was asked for, and sit out a freeze."""
        options = self.options
        began = time.perf_counter()
        if options.freeze_every:
            left = options.freeze_seconds - (time.monotonic() - self.started) % options.freeze_every
            if left > 0:
                self.never.wait(left)
        if options.delay_ms:
            self.never.wait(options.delay_ms / 1000)
        self.waited.append(time.perf_counter() - began)

    def tell(self) -> None:
        """Write down how long each answer was really held back; a busy machine wakes nobody on time."""
        if self.options.truth:
            pathlib.Path(self.options.truth).write_text(json.dumps(self.waited))

    def answer(self) -> bytes:
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
            self.wait()
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
        while self.read(connection):
            connection.sendall(self.answer())
            if self.options.mark and self.count >= MARKED:
                pathlib.Path(self.options.mark).touch()
            if self.options.close:
                break
        if self.options.leak:
            self.leaked.append(connection)
        else:
            connection.close()

    @staticmethod
    def read(connection: socket.socket) -> bool:
        """Read one request; false when there is none any more."""
        data = b""
        while b"\r\n\r\n" not in data:
            part = connection.recv(65536)
            if not part:
                return False
            data += part
        head, _, rest = data.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
        missing = length - len(rest)
        while missing > 0:
            part = connection.recv(1 << 20)
            if not part:
                return False
            missing -= len(part)
        return True

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
    parser.add_argument("--truth", metavar="FILE")
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

    def end(*_: object) -> None:
        trouble.tell()
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
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
