"""An alarm clock for an event loop that is precise to some microseconds.

The loops' own timers wake with the millisecond of epoll, which would be a millisecond of lag in every open sample.
Linux offers timers that are file descriptors; elsewhere the loop's timer has to do.
"""

import ctypes
import os
import sys
import time
from collections.abc import Callable

from harness.load.loop import READ, Loop, Watcher

_CLOCK_MONOTONIC = 1
_ABSOLUTE = 1
_NONBLOCK = 0o4000
_SECOND_NS = 1_000_000_000


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _Setting(ctypes.Structure):
    _fields_ = (("interval", _Timespec), ("value", _Timespec))


class Alarm:
    """Calls back at one moment at a time; moments are those of `time.perf_counter_ns`."""

    def __init__(self, loop: Loop, callback: Callable[[], None]) -> None:
        self._loop = loop
        self._callback = callback
        self._fd = -1
        self._plain: Watcher | None = None
        # The performance counter is this very clock on Linux.
        if sys.platform == "linux":
            self._library = ctypes.CDLL(None, use_errno=True)
            self._setting = _Setting()
            self._reference = ctypes.byref(self._setting)
            self._fd = int(self._library.timerfd_create(_CLOCK_MONOTONIC, _NONBLOCK))
        self._watcher: Watcher | None = None
        if self._fd >= 0:
            self._watcher = loop.io(self._fd, READ)
            self._watcher.start(self._ring)

    def set(self, moment_ns: int) -> None:
        """Ring at a moment; at once, but not before the loop had its turn, if it has passed."""
        if self._watcher is None:
            self.stop()
            self._plain = self._loop.timer(max(0.0, (moment_ns - time.perf_counter_ns()) / _SECOND_NS))
            self._plain.start(self._callback)
            return
        # Zero would mean never.
        moment_ns = max(moment_ns, 1)
        value = self._setting.value
        value.seconds, value.nanoseconds = divmod(moment_ns, _SECOND_NS)
        self._library.timerfd_settime(self._fd, _ABSOLUTE, self._reference, None)

    def stop(self) -> None:
        """Give up what was set."""
        if self._plain is not None:
            self._plain.stop()
            self._plain.close()
            self._plain = None

    def close(self) -> None:
        """End it."""
        self.stop()
        if self._watcher is not None:
            self._watcher.stop()
            self._watcher.close()
            self._watcher = None
            os.close(self._fd)

    def _ring(self) -> None:
        try:
            os.read(self._fd, 8)
        except BlockingIOError:
            return
        self._callback()
