"""When an answer arrived: what the generator's own lateness must not change."""

import contextlib
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness.clock import SYSTEM, wait_until
from harness.load import samples
from harness.load.arrival import NOTE_BYTES, arrived_ns, ask_for_stamps
from harness.load.connection import Connection
from harness.load.loop import READ, Watcher
from tests.processes import PATIENCE_SECONDS

STAMP = 35
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
LATE_SECONDS = 0.3
MINUTE_NS = 60 * 1_000_000_000


class Held:
    """A watcher that calls nobody: the test does."""

    def __init__(self) -> None:
        self.callback: Callable[[], Any] = lambda: None

    def start(self, callback: Callable[..., Any], *_: Any) -> None:
        self.callback = callback

    def stop(self) -> None:
        pass

    def close(self) -> None:
        pass


class HeldLoop:
    def __init__(self) -> None:
        self.watchers: dict[int, Held] = {}

    def io(self, _: int, events: int) -> Watcher:
        return self.watchers.setdefault(events, Held())

    def timer(self, after: float, repeat: float = 0.0) -> Watcher:
        raise NotImplementedError


@contextlib.contextmanager
def _connected(finished: Callable[[Connection, int, int, int], None]) -> Iterator[tuple[HeldLoop, socket.socket]]:
    """Send a request; hand over the loop that has to be told of the answer, and the extender's end."""
    loop = HeldLoop()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        connection = Connection(loop, (socket.AF_INET, listener.getsockname()), finished, lambda _: None)
        connection.send(b"x", 0, time.perf_counter_ns(), time.perf_counter_ns())
        extender, _ = listener.accept()
        for watcher in list(loop.watchers.values()):
            watcher.callback()
        with extender, contextlib.closing(connection):
            assert extender.recv(1) == b"x"
            yield loop, extender


@pytest.fixture
def _stamps() -> Iterator[None]:
    """Keep a socket that asks for stamps until the test is over: the kernel begins some time after the first."""
    if sys.platform != "linux":
        pytest.skip("only Linux says when bytes arrived")
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as sender:
        receiver, _ = listener.accept()
        with receiver:
            ask_for_stamps(receiver)

            def is_stamped() -> bool:
                sender.sendall(b"x")
                return bool(receiver.recvmsg(1, NOTE_BYTES)[1])

            wait_until(is_stamped, what="a stamp", timeout_seconds=PATIENCE_SECONDS)
            yield


@pytest.mark.usefixtures("_stamps")
def test_an_answer_that_is_read_late_was_there_before() -> None:
    done: list[tuple[int, int]] = []
    with _connected(lambda _, outcome, __, now: done.append((outcome, now))) as (loop, extender):
        extender.sendall(ANSWER)
        SYSTEM.pause(LATE_SECONDS)
        read = time.perf_counter_ns()
        loop.watchers[READ].callback()
    ((outcome, arrived),) = done
    assert outcome == samples.OK
    assert arrived < read - LATE_SECONDS * 1e9 / 2


@pytest.mark.usefixtures("_stamps")
def test_an_answer_has_arrived_with_its_last_piece() -> None:
    done: list[int] = []
    with _connected(lambda _, __, ___, now: done.append(now)) as (loop, extender):
        extender.sendall(ANSWER[:-1])
        SYSTEM.pause(LATE_SECONDS)
        last = time.perf_counter_ns()
        extender.sendall(ANSWER[-1:])

        def read() -> bool:
            loop.watchers[READ].callback()
            return bool(done)

        wait_until(read, what="the answer", timeout_seconds=PATIENCE_SECONDS)
    assert done[0] > last - LATE_SECONDS * 1e9 / 2


def _note(wall_ns: int) -> list[tuple[int, int, bytes]]:
    return [(socket.SOL_SOCKET, STAMP, struct.pack("@qq", *divmod(wall_ns, 1_000_000_000)))]


@pytest.mark.parametrize("set_by_ns", [MINUTE_NS, -MINUTE_NS], ids=["ahead", "back"])
def test_a_clock_that_is_set_meanwhile_changes_nothing(set_by_ns: int) -> None:
    since = time.perf_counter_ns()
    arrived = arrived_ns(_note(time.time_ns() + set_by_ns), since)
    assert since <= arrived <= time.perf_counter_ns()


def test_without_a_stamp_it_arrived_when_it_was_read() -> None:
    before = time.perf_counter_ns()
    assert before <= arrived_ns([], 0) <= time.perf_counter_ns()
    assert before <= arrived_ns([(socket.SOL_SOCKET, STAMP + 1, b"")], 0) <= time.perf_counter_ns()
