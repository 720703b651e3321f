"""The two models of load: open, where requests come on a schedule, and closed, where schedulers wait for answers."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.load import samples
from harness.load.connection import Connection
from harness.load.engine import DEAD, PATIENCE_SECONDS, SECOND_NS, Engine
from harness.load.order import Request
from harness.load.samples import Samples
from harness.load.saturation import is_too_much
from harness.load.timer import Alarm

# So many arrivals are sent before the loop may look at answers again.
BURST = 32
LATE_SECONDS = 1
AWAKE_NS_MAX = 120_000
PAUSE_SECONDS = 0.01
BINDS_MAX = 256
REQUESTS_MIN = 5


class Open(Engine):
    """Sends on a schedule, and never waits for an answer first: it opens as many connections as that takes."""

    def begin(self) -> None:
        """Wait for the first arrival."""
        self._arrivals = self.part.offsets or ()
        self._next = 0
        self._taken_at = [0]
        # What a generator that cannot keep up has not sent by then, it does not send at all.
        self._last_ns = self.end_ns + LATE_SECONDS * SECOND_NS
        # Being woken takes about a tenth of a millisecond: we are awake a little before, for a twentieth of the time.
        gap_ns = self.part.seconds * SECOND_NS / max(len(self._arrivals), 1)
        self._awake_ns = int(min(AWAKE_NS_MAX, gap_ns / 20))
        self._alarm = Alarm(self.loop, self._dispatch)
        self._dispatch()

    def is_done(self) -> bool:
        """Tell whether everything was sent, or time is up."""
        return self._next >= len(self._arrivals) or time.perf_counter_ns() > self._last_ns

    def closing(self) -> None:
        """Count what was not sent."""
        self._alarm.close()
        self.seen.unsent = len(self._arrivals) - self._next

    def segment_over(self, number: int, cpu_share: float) -> None:
        """Send nothing more if the segment was too much for the extender, and tell whoever shares the load."""
        if not self.part.until_saturation or self.seen.saturated is not None:
            return
        # What was not answered yet when a segment ended is, as a rule, when the next one ends.
        for place in range(max(number - 1, 0), number + 1):
            if self._is_too_much(place, cpu_share):
                self.cease(place)
                self.on_saturation(place)
                return
        self._taken_at.append(len(self.taken))

    def cease(self, number: int) -> None:
        """Send nothing after a segment; what was sent by now is awaited."""
        if self.seen.saturated is None:
            self.seen.saturated = number
            self._arrivals = self._arrivals[: self._next]

    def _is_too_much(self, number: int, cpu_share: float) -> bool:
        """Judge a segment by what was due before the first request that is still open: all of that is answered."""
        first, end = self.part.marks[number : number + 2]
        if self._busy:
            end = min(end, (next(iter(self._busy)).intended - self.start_ns) / SECOND_NS)
        seen = samples.merged([Samples(self.taken.columns(self.start_ns, self._taken_at[number]))])
        return is_too_much(seen.where((seen["intended"] >= first) & (seen["intended"] < end)), first, end, cpu_share)

    def _dispatch(self) -> None:
        arrivals, start = self._arrivals, self.start_ns
        first, stride = self.part.share
        for _ in range(BURST):
            if self._next >= len(arrivals) or self._stopped:
                return
            due = start + int(arrivals[self._next] * SECOND_NS + 0.5)
            now = time.perf_counter_ns()
            if due - now > self._awake_ns:
                self._alarm.set(due - self._awake_ns)
                return
            while now < due:
                now = time.perf_counter_ns()
            if now > self._last_ns:
                return
            request = (first + self._next * stride) % len(self.part.requests)
            self._next += 1
            self.send(request, due, now)
        self._alarm.set(1)


@dataclass
class _Scheduler:
    """One scheduler of a closed load: the pod it is at, and how far it is with it."""

    cycle: int
    step: int = 0
    binds: int = 0
    waits: bool = False


class Closed(Engine):
    """Sends as kube-scheduler does: filter, then prioritize, then bind beside the next pod."""

    def begin(self) -> None:
        """Let every scheduler take its first pod."""
        self._timers: set[Any] = set()
        self._counted = 0
        self._since_ns = self.start_ns + int(self.part.marks[0] * SECOND_NS)
        self._last_ns = self.end_ns + PATIENCE_SECONDS * SECOND_NS
        self._numbers, self._stride = self.part.schedulers
        for number in self._numbers:
            self._later(_Scheduler(number), max(0.0, (self.start_ns - time.perf_counter_ns()) / SECOND_NS))

    def is_done(self) -> bool:
        """Tell whether time is up. Where a request takes longer than that, a few are awaited all the same."""
        now = time.perf_counter_ns()
        is_enough = self._counted >= REQUESTS_MIN or not self._numbers
        return now >= self.end_ns and (is_enough or now >= self._last_ns)

    def closing(self) -> None:
        """Stop waiting."""
        for timer in self._timers:
            timer.stop()
            timer.close()
        self._timers.clear()

    def came(self, connection: Connection, outcome: int) -> None:
        """Go on with the next step, the next pod, or a held bind."""
        scheduler, is_bind = connection.owner
        if outcome in samples.WAITED:
            # Nobody waits twice for one that hangs.
            self._counted = REQUESTS_MIN
        self._counted += connection.intended >= self._since_ns
        if is_bind:
            scheduler.binds -= 1
            if not scheduler.waits:
                return
            scheduler.waits = False
        elif outcome in DEAD or outcome in samples.OWN:
            # A pause, or a dead extender would be asked a hundred thousand times a second.
            self._skip(scheduler)
            self._later(scheduler, PAUSE_SECONDS)
            return
        elif outcome == samples.OK:
            scheduler.step += 1
        else:
            self._skip(scheduler)
        self._go_on(scheduler)

    def _skip(self, scheduler: _Scheduler) -> None:
        """Leave a pod whose filter failed, as kube-scheduler does; a failed prioritize is ignored there."""
        steps, _ = self.part.cycles[scheduler.cycle % len(self.part.cycles)]
        if scheduler.step == 0:
            scheduler.cycle += self._stride
        elif scheduler.step < len(steps):
            scheduler.step += 1

    def _go_on(self, scheduler: _Scheduler) -> None:
        now = time.perf_counter_ns()
        if self._stopped or (now >= self.end_ns and self.is_done()):
            return
        steps, binds = self.part.cycles[scheduler.cycle % len(self.part.cycles)]
        if scheduler.step >= len(steps):
            if scheduler.binds + len(binds) > BINDS_MAX:
                scheduler.waits = True
                self.seen.binds_held += 1
                return
            for request in binds:
                scheduler.binds += 1
                if not self.send(request, now, now, (scheduler, True)):
                    scheduler.binds -= 1
            scheduler.cycle += self._stride
            scheduler.step = 0
            steps, _ = self.part.cycles[scheduler.cycle % len(self.part.cycles)]
            if not steps:
                # Nothing but binds: the next one when the loop had its turn.
                self._later(scheduler, 0.0)
                return
        now = time.perf_counter_ns()
        if not self.send(steps[scheduler.step], now, now, (scheduler, False)):
            self._later(scheduler, PAUSE_SECONDS)

    def _later(self, scheduler: _Scheduler, seconds: float) -> None:
        timer: Any = self.loop.timer(seconds)

        def wake() -> None:
            self._timers.discard(timer)
            timer.close()
            self._go_on(scheduler)

        self._timers.add(timer)
        timer.start(wake)


def cycles_of(requests: Sequence[Request]) -> list[tuple[list[int], list[int]]]:
    """Return for each pod which requests a scheduler sends one after the other, and which beside them.

    Binds stand beside other calls; where nothing but binds is sent, they are sent one after the other.
    """
    pods: dict[int, tuple[list[int], list[int]]] = {}
    only_binds = all(request.verb == "bind" for request in requests)
    for number, request in enumerate(requests):
        steps, binds = pods.setdefault(request.pod, ([], []))
        (binds if request.verb == "bind" and not only_binds else steps).append(number)
    return list(pods.values())
