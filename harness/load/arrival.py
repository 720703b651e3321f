"""When bytes arrived, by the kernel's word: a client that is woken late to read them adds nothing to a latency.

Being woken takes a tenth of a millisecond where processors are virtual, and more where they are busy; an extender that
answers in one millisecond would seem to take a fifth longer. Linux stamps what it receives; elsewhere, arrived is read.
"""

import socket
import struct
import sys
import time
from collections.abc import Sequence
from typing import Any

NOTE_BYTES = 64
_SO_TIMESTAMPNS = 35
_STAMP = struct.Struct("@qq")
_SECOND_NS = 1_000_000_000


def ask_for_stamps(connection: Any) -> None:
    """Have a socket tell, with what is read of it, when that arrived; the kernel begins some milliseconds later."""
    if sys.platform == "linux":
        connection.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)


def arrived_ns(notes: Sequence[tuple[int, int, bytes]], since_ns: int) -> int:
    """Return when the last of what was read arrived, in the time of `time.perf_counter_ns`.

    Args:
        notes: what `recvmsg` told beside it.
        since_ns: it cannot have been before. A stamp is of the clock on the wall, which may be set while we wait.
    """
    wall_ns = time.time_ns()
    now_ns = time.perf_counter_ns()
    for level, kind, stamp in notes:
        if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPNS:
            seconds, nanoseconds = _STAMP.unpack(stamp)
            waited_ns: int = wall_ns - seconds * _SECOND_NS - nanoseconds
            if 0 <= waited_ns <= now_ns - since_ns:
                return now_ns - waited_ns
    return now_ns
