"""Makes the load: sends requests on time (open) or one after the other (closed), and takes a sample of each.

Runs in the callbacks of an event loop that it is given. What both models have in common is here: connections, time
limits, the end; see models.py for the two.
"""

import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from harness.extender.entry import Entry
from harness.extender.subject.reach import host_of, port_of
from harness.extender.subject.tls import tls_of
from harness.load import samples
from harness.load.connection import Connection
from harness.load.loop import Loop
from harness.load.samples import Taken

SECOND_NS = 1_000_000_000
TICK_SECONDS = 0.02
# After so many failures in a row, and so long without an answer, the extender is gone.
GONE_FAILURES = 50
GONE_SECONDS = 2.0
PATIENCE_SECONDS = 20
DEAD = frozenset((samples.REFUSED, samples.UNREACHABLE, samples.RESET, samples.CUT, samples.NO_TLS))


@dataclass
class Seen:
    """What an engine can say besides its samples."""

    ended: str = "complete"
    unsent: int = 0
    opened: int = 0
    open_max: int = 0
    binds_held: int = 0
    cpu_seconds: float = 0.0
    window_seconds: float = 0.0
    subject_cpu_seconds: float | None = None
    segments: list[tuple[float, float, float | None]] = field(default_factory=list)
    """CPU seconds, seconds and the extender's CPU seconds of each segment; the three before are of all of them."""
    saturated: int | None = None
    """The segment after which nothing was sent any more, because it was too much for the extender."""
    start_ns: int = 0


@dataclass(frozen=True)
class Part:
    """What one worker does of a phase.

    Args:
        target: who is asked.
        requests: what is sent, each with the number of its verb.
        seconds: how long requests are started.
        marks: when each segment begins; the CPU's share is counted from the first on, and anew at each.
        until_saturation: nothing is sent after a segment that was too much for the extender.
        offsets: when they are sent; None for a closed load.
        share: the number of this worker's first request, and how many workers take turns.
        schedulers: the numbers of this worker's schedulers of a closed load, and how many there are in all.
        cycles: for each pod, the requests that a scheduler sends one after the other, and those beside them.
        connections_max: how many may be open.
        overflow: what becomes of a request that would need one more.
        pids: the extender's processes.
    """

    target: Entry
    requests: Sequence[tuple[int, bytes]]
    seconds: float
    marks: Sequence[float] = (0.0,)
    until_saturation: bool = False
    offsets: Sequence[float] | None = None
    share: tuple[int, int] = (0, 1)
    schedulers: tuple[Sequence[int], int] = ((), 1)
    cycles: Sequence[tuple[Sequence[int], Sequence[int]]] = ()
    connections_max: int = 1024
    overflow: int = samples.OVERFLOW
    pids: Sequence[int] = ()


class Engine:
    """What open and closed loads have in common: connections, time limits, the end."""

    def __init__(self, loop: Loop, part: Part, finished: Callable[[], None]) -> None:
        self.loop = loop
        self.part = part
        self.taken = Taken()
        self.seen = Seen()
        self._finished = finished
        self.on_saturation: Callable[[int], None] = lambda _: None
        self._address = _resolved(part.target.url_prefix)
        self._tls = tls_of(part.target.url_prefix, part.target)
        self._timeout_ns = int(part.target.timeout_seconds * SECOND_NS)
        # In the order of sending, so that the first is the first to be late.
        self._busy: dict[Connection, None] = {}
        self._idle: list[Connection] = []
        self._open = 0
        self._stopped = False
        self._failures = 0
        self._answered_ns = 0
        self._cpu: list[tuple[int, float, float | None]] = []
        self._ticker = loop.timer(TICK_SECONDS, repeat=TICK_SECONDS)
        self.start_ns = self.end_ns = 0

    def start(self) -> None:
        """Begin; `finished` is called when all is over."""
        self.start_ns = self.seen.start_ns = self._answered_ns = time.perf_counter_ns() + SECOND_NS // 50
        self.end_ns = self.start_ns + int(self.part.seconds * SECOND_NS)
        self._ticker.start(self._tick)
        self.begin()

    def begin(self) -> None:
        """Send the first requests."""
        raise NotImplementedError

    def came(self, connection: Connection, outcome: int) -> None:
        """React to the end of a request."""

    def segment_over(self, number: int, cpu_share: float) -> None:
        """React to the end of a segment that has another one after it; `cpu_share` is what this process used of it."""

    def is_done(self) -> bool:
        """Tell whether no further request will be started."""
        raise NotImplementedError

    def send(self, request: int, intended: int, now: int, owner: Any = None) -> bool:
        """Send one request on an idle connection, or on a new one; False if there can be none."""
        verb, data = self.part.requests[request]
        if self._idle:
            connection = self._idle.pop()
        elif self._open >= self.part.connections_max:
            self.taken.add(intended, now, max(now, intended + self._timeout_ns), verb, self.part.overflow, 0)
            return False
        else:
            connection = Connection(self.loop, self._address, self._over, self._dropped, self._tls)
            self._open += 1
            self.seen.opened += 1
            self.seen.open_max = max(self.seen.open_max, self._open)
        self._busy[connection] = None
        connection.owner = owner
        connection.send(data, verb, intended, now)
        return True

    def stop(self, reason: str) -> None:
        """End at once; what is open is unanswered."""
        if self._stopped:
            return
        self._stopped = True
        self.seen.ended = reason
        self._ticker.stop()
        self._ticker.close()
        now = time.perf_counter_ns()
        for connection in list(self._busy):
            if reason == "interrupted":
                # Not given its time, it has not failed: nothing is known of it.
                connection.close()
            else:
                connection.give_up(samples.UNANSWERED, max(now, connection.sent + self._timeout_ns))
        for connection in self._idle:
            connection.close()
        self._idle.clear()
        self._count_cpu(now)
        self.closing()
        self._finished()

    def closing(self) -> None:
        """Give up what a kind of engine holds."""

    def _over(self, connection: Connection, outcome: int, status: int, now: int) -> None:
        self._busy.pop(connection, None)
        self.taken.add(connection.intended, connection.sent, now, connection.verb, outcome, status)
        if connection.is_open:
            self._idle.append(connection)
        else:
            self._open -= 1
        if outcome in DEAD:
            self._failures += 1
        else:
            self._failures = 0
            if outcome <= samples.REPLY_ERROR:
                self._answered_ns = now
        if not self._stopped:
            self.came(connection, outcome)

    def _dropped(self, connection: Connection) -> None:
        self._open -= 1
        if connection in self._idle:
            self._idle.remove(connection)

    def _tick(self) -> None:
        now = time.perf_counter_ns()
        marks, done = self.part.marks, len(self._cpu)
        while done < len(marks) and now >= self.start_ns + marks[done] * SECOND_NS:
            self._cpu.append((now, time.process_time(), _cpu_of(self.part.pids)))
            if done:
                used, seconds, _ = _between(*self._cpu[-2:])
                self.segment_over(done - 1, used / seconds)
            done += 1
        limit = now - self._timeout_ns
        while self._busy and (first := next(iter(self._busy))).sent < limit:
            first.give_up(samples.TIMEOUT, now)
        if self._failures >= GONE_FAILURES and now - self._answered_ns > GONE_SECONDS * SECOND_NS:
            self.stop("gone")
        elif (self.is_done() and not self._busy) or now > self.end_ns + self._timeout_ns + PATIENCE_SECONDS * SECOND_NS:
            self.stop("complete")

    def _count_cpu(self, now: int) -> None:
        if not self._cpu:
            return
        # Waiting for the last answers is no work.
        read = [*self._cpu, (min(now, self.end_ns), time.process_time(), _cpu_of(self.part.pids))]
        self.seen.segments = [_between(one, other) for one, other in pairwise(read)]
        whole = _between(read[0], read[-1])
        self.seen.cpu_seconds, self.seen.window_seconds, self.seen.subject_cpu_seconds = whole


def _between(
    one: tuple[int, float, float | None], other: tuple[int, float, float | None]
) -> tuple[float, float, float | None]:
    """Return what was used between two readings: CPU seconds, seconds, CPU seconds of the extender."""
    (since, own, subject), (until, own_after, after) = one, other
    used = None if subject is None or after is None else after - subject
    return own_after - own, max(until - since, 1) / SECOND_NS, used


def _resolved(url: str) -> tuple[int, Any]:
    family, _, _, _, place = socket.getaddrinfo(host_of(url), port_of(url), type=socket.SOCK_STREAM)[0]
    return int(family), place


def _cpu_of(pids: Sequence[int]) -> float | None:
    """Return the CPU seconds of processes, which Linux tells by clocks of their own; None where it does not."""
    if not pids:
        return None
    try:
        return sum(time.clock_gettime((~pid << 3) | 2) for pid in pids)
    except OSError:
        return None
