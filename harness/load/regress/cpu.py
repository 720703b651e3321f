"""The processor time of a running subject, all its processes and threads together, in nanoseconds.

Linux tells the clock of any process to its owner in less than a microsecond; it counts threads that have ended too. It
does not count children that came and went, so those are looked for afterwards.
"""

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

from harness.extender.subject.start import Running

PROC = Path("/proc")
# A share of the time that came and went with short-lived children, above which the clocks miss too much.
LOST_SHARE_MAX = 0.1
# Children's times are counted in hundredths of a second.
TICK_SECONDS = 0.01


def clock_of(pid: int) -> int:
    """Return the id of a process's clock, as clock_getcpuclockid(3) makes it."""
    return (~pid << 3) | 2


def cannot_read(running: Running) -> str | None:
    """Say why the processor time of a subject cannot be read; None if it can."""
    if sys.platform != "linux":
        return f"{sys.platform} does not tell the clock of another process"
    if not running.restartable:
        return "it runs elsewhere"
    pids = pids_of(running)
    if not pids:
        return "it has no process of its own"
    try:
        for pid in pids:
            time.clock_gettime_ns(clock_of(pid))
    except OSError as error:
        return f"the system refuses its clock: {error.strerror}"
    return None


class TreeClock:
    """The clocks of all processes of a subject; `refresh` looks for new ones."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._ids: tuple[int, ...] = ()
        self.pids: tuple[int, ...] = ()
        self.refresh()
        self._lost_seconds_before = self._lost_seconds()

    def refresh(self) -> None:
        """Find the subject's processes again."""
        self.pids = pids_of(self._running)
        self._ids = tuple(map(clock_of, self.pids))

    def read(self) -> int:
        """Return the time that was used up to now; -1 if a process has gone, after which `refresh` is needed."""
        try:
            return sum(map(time.clock_gettime_ns, self._ids)) if self._ids else -1
        except OSError:
            return -1

    def lost_share(self, used_seconds: float) -> float:
        """Return which share of the time went to children that ended, and was seen by none of the clocks."""
        lost = self._lost_seconds() - self._lost_seconds_before
        return 0.0 if lost <= TICK_SECONDS else lost / (lost + used_seconds)

    def _lost_seconds(self) -> float:
        total = 0.0
        for pid in pids_of(self._running):
            with contextlib.suppress(psutil.Error):
                times = psutil.Process(pid).cpu_times()
                total += float(getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0))
        return total


def pids_of(running: Running) -> tuple[int, ...]:
    """Return the ids of a subject's processes, the one that was started first."""
    if running.child is None:
        return ()
    # Every process of a busy machine would be looked at for this; the kernel knows the children of one.
    if (PROC / str(running.child.pid) / "task" / str(running.child.pid) / "children").exists():
        return tuple(_below(running.child.pid))
    return tuple(process.pid for process in running.processes())


def _below(pid: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for thread in (PROC / str(pid) / "task").iterdir():
            with contextlib.suppress(OSError):
                for child in map(int, (thread / "children").read_text().split()):
                    yield child
                    yield from _below(child)


def switches(pids: Iterable[int]) -> int:
    """Return how often the threads of some processes were interrupted for others."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            for thread in (PROC / str(pid) / "task").iterdir():
                with contextlib.suppress(OSError, ValueError):
                    total += int((thread / "status").read_text().rpartition("nonvoluntary_ctxt_switches:")[2])
    return total
