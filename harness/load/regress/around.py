"""What else went on while a block was measured: it explains a noisy result, and decides nothing."""

import contextlib
import math
import time
from collections.abc import Iterable
from pathlib import Path

from harness.load.regress.cpu import switches

PRESSURE = Path("/proc/pressure/cpu")
STAT = Path("/proc/stat")
_MICROSECONDS = 1_000_000
_STEAL_COLUMN = 8


class Around:
    """Counts from one look to the next."""

    def __init__(self) -> None:
        self._pids: tuple[Iterable[int], Iterable[int]] = ((), ())
        self._last = self._read()

    def watch(self, base: Iterable[int], candidate: Iterable[int]) -> None:
        """Begin a block with the processes of both sides."""
        self._pids = (base, candidate)
        self._last = self._read()

    def block(self) -> tuple[float, ...]:
        """End a block: the columns that `pairs.AROUND` names."""
        now = self._read()
        seconds, stalled, stolen, base, candidate, own = (
            after - before for after, before in zip(now, self._last, strict=True)
        )
        seconds = seconds or math.nan
        return stalled / _MICROSECONDS / seconds, stolen / seconds, base, candidate, own / seconds

    def _read(self) -> tuple[float, ...]:
        interrupted = [float(switches(one)) for one in self._pids]
        return time.perf_counter(), _stalled(), _stolen(), *interrupted, time.process_time()


def _stalled() -> float:
    """Return the microseconds in which somebody waited for a processor."""
    with contextlib.suppress(OSError, ValueError, StopIteration):
        line = next(line for line in PRESSURE.read_text().splitlines() if line.startswith("some"))
        return float(line.rpartition("total=")[2])
    return math.nan


def _stolen() -> float:
    """Return the seconds of processor that the machine's host gave to others."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return float(STAT.read_text().splitlines()[0].split()[_STEAL_COLUMN]) / 100
    return math.nan
