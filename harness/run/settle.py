"""Waits until a cluster has settled: every pod runs or is definitely refused, and nothing moves any more."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.clock import SYSTEM, Clock
from harness.cluster.base import Scheduler
from harness.errors import ClusterError, NoSuchPage
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
# A busy machine lets an answer time out; nobody who lives is silent for so long.
SILENT_SECONDS = 30.0
# Longer than an attempt takes; a pod that a scheduler has lost stands in no queue for ever.
ATTEMPT_SECONDS = 3.0


@dataclass(frozen=True)
class Settled:
    """How a settle ended; `moving` says what still moved at the deadline, and is empty when all came to rest."""

    seconds: float
    moving: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Queues:
    """What schedulers hold, in words; `patience_seconds` is how long that counts when it is only a guess."""

    told: list[str]
    patience_seconds: float | None = None
    silent: bool = False


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
        guessed_since: float | None = None
        self.live.touch()
        while True:
            self.check()
            waited = self.clock.now() - start
            restless_seconds = self._quiet_needed() - self.live.quiet_seconds()
            if waited >= timeout_seconds or self._forsaken():
                stir = ["objects keep changing, though none has far to go"] if restless_seconds > 0 else []
                return Settled(waited, tuple(self.live.movements() or self._queues().told or stir))
            left = timeout_seconds - waited
            if self.live.moves() or restless_seconds > 0:
                self.live.wait_for_change(min(CHECK_SECONDS if self.live.moves() else restless_seconds, left))
                guessed_since = None
                continue
            asked_at = self.clock.now()
            queues = self._queues()
            guessed_since = (guessed_since or asked_at) if queues.patience_seconds else None
            if guessed_since is not None and self.clock.now() - guessed_since >= (queues.patience_seconds or 0):
                return Settled(waited, tuple(queues.told if queues.silent else ()))
            if not queues.told:
                return Settled(waited)
            self.live.wait_for_change(min(CHECK_SECONDS if queues.silent else QUEUE_POLL_SECONDS, left))

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
        return quiet and self.live.forsaken() and not self._queues().told

    def _queues(self) -> "_Queues":
        """Return, in words, the pods that a scheduler tries now or will try again by itself, and who does not tell."""
        queued, silent = self.busy(), False
        held: int | None = 0
        errors = self.live.refused_with_error()
        for scheduler in self.schedulers:
            try:
                depth = queue_depth(scheduler.page("/metrics"))
            except NoSuchPage:
                held = None
                continue
            except ClusterError as error:
                # One that is gone is reported by the check. An answer that only did not come says nothing about pods.
                self.check()
                queued.append(f"a scheduler does not tell its queues: {error}")
                silent = True
                continue
            # A pod that the scheduler failed on is retried for ever: its condition is as definite as it gets.
            if depth.active or depth.backoff > errors:
                queued.append(
                    f"a scheduler holds {depth.active} pods to be tried and {depth.backoff} to be tried again"
                )
            held = None if held is None or not depth.told else held + depth.total
        if silent:
            return _Queues(queued, SILENT_SECONDS, silent=True)
        # While it is tried, a pod stands in no queue, and its condition is that of the attempt before.
        tried = 0 if held is None or queued else self.live.refused_by_known() - held
        if tried > 0:
            return _Queues([f"a scheduler tries {tried} refused pods again"], ATTEMPT_SECONDS)
        return _Queues(queued)
