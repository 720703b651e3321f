"""Waits until a cluster has settled: every pod runs or is definitely refused, and nothing moves any more."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.clock import SYSTEM, Clock
from harness.cluster.base import Scheduler
from harness.errors import ClusterError
from harness.observe.live import Live
from harness.observe.metrics import queue_depth

# Longer than an event takes from the API server to a controller.
QUIET_SECONDS = 0.2
# The same on a machine that is busy: for what only looks at rest until a scheduler or controller has heard the news.
LONG_QUIET_SECONDS = 0.6
# Nobody will look at pods that ask for a scheduler which does not run: what they wait for is said soon.
FORSAKEN_SECONDS = 5.0
CHECK_SECONDS = 0.25
QUEUE_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Settled:
    """How a settle ended; `moving` says what still moved at the deadline, and is empty when all came to rest."""

    seconds: float
    moving: tuple[str, ...] = ()


Until = Callable[[Live], str | None]
"""Says what is still missing, or None."""


@dataclass(frozen=True)
class Settler:
    """Waits on the live view; the schedulers' queues tell what the API does not: refused pods due for a retry."""

    live: Live
    schedulers: Sequence[Scheduler]
    check: Callable[[], None]
    clock: Clock = SYSTEM
    busy: Callable[[], list[str]] = list
    """Tells, in words, what goes on that neither the API nor a queue shows: calls of extenders that wait."""

    closed: bool = False
    """Whether no other scheduler than these can ever come, since the cluster's pods run no programs."""

    def settle(self, timeout_seconds: float) -> Settled:
        """Return when everything is at rest, or at the deadline with what is not; sooner if nobody will look at it.

        Raises:
            ClusterError: a part of the cluster died meanwhile.
        """
        start = self.clock.now()
        self.live.touch()
        while True:
            self.check()
            waited = self.clock.now() - start
            restless_seconds = self._quiet_needed() - self.live.quiet_seconds()
            if waited >= timeout_seconds or self._forsaken():
                stir = ["objects keep changing, though none has far to go"] if restless_seconds > 0 else []
                return Settled(waited, tuple(self.live.movements() or self._queued() or stir))
            left = timeout_seconds - waited
            if self.live.moves():
                self.live.wait_for_change(min(CHECK_SECONDS, left))
            elif restless_seconds > 0:
                self.live.wait_for_change(min(restless_seconds, left))
            elif self._queued():
                self.live.wait_for_change(min(QUEUE_POLL_SECONDS, left))
            else:
                return Settled(waited)

    def wait(self, timeout_seconds: float, until: Until) -> Settled:
        """Return when `until` has nothing left to say, or at the deadline with what it says.

        Raises:
            ClusterError: a part of the cluster died meanwhile.
        """
        start = self.clock.now()
        while True:
            self.check()
            waited = self.clock.now() - start
            missing = until(self.live)
            if missing is None or waited >= timeout_seconds:
                return Settled(waited, (missing,) if missing else ())
            self.live.wait_for_change(min(CHECK_SECONDS, timeout_seconds - waited))

    def _quiet_needed(self) -> float:
        return LONG_QUIET_SECONDS if self.live.may_stir() else QUIET_SECONDS

    def _forsaken(self) -> bool:
        """Tell whether nothing moves but pods that no scheduler will ever look at."""
        quiet = self.closed and self.live.quiet_seconds() >= FORSAKEN_SECONDS
        return quiet and self.live.forsaken() and not self._queued()

    def _queued(self) -> list[str]:
        """Return, in words, the pods that a scheduler tries now or will try again by itself."""
        queued = self.busy()
        errors = self.live.refused_with_error()
        for scheduler in self.schedulers:
            try:
                depth = queue_depth(scheduler.page("/metrics"))
            except ClusterError:
                # A scheduler that is gone retries nothing; its end is reported by the cluster's own check.
                continue
            # A pod that the scheduler failed on is retried for ever: its condition is as definite as it gets.
            if depth.active or depth.backoff > errors:
                queued.append(
                    f"a scheduler holds {depth.active} pods to be tried and {depth.backoff} to be tried again"
                )
        return queued
