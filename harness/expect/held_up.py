"""Tells what kept a scheduler from pods that it has said nothing about: an extender that did not answer."""

import bisect
import itertools
from collections.abc import Sequence

from harness.expect.base import at
from harness.record.call import Call
from harness.record.model import PodHistory, Record

_SHARE = 0.5


class HeldUp:
    """Knows what the schedulers of a run waited for."""

    def __init__(self, record: Record) -> None:
        self._end_t = record.end_t
        self._last = {call.uid: call for call in record.calls if call.uid}
        by_extender: dict[str, list[Call]] = {}
        for call in record.calls:
            by_extender.setdefault(call.extender, []).append(call)
        self._waits = {name: _Waits(calls, record.end_t) for name, calls in by_extender.items()}

    def by(self, pod: PodHistory) -> str | None:
        """Return what the scheduler of a pod waited for; None when no call tells."""
        if last := self._last.get(pod.uid):
            return f"its scheduler is at it: {_state(last)}"
        for name, waits in self._waits.items():
            if waits.since(pod.created_t) > _SHARE * (self._end_t - pod.created_t):
                return f"its turn did not come: most of the time its scheduler waited for extender {name}"
        return None


class _Waits:
    """How long the calls to one extender took together, since any moment."""

    def __init__(self, calls: Sequence[Call], end_t: float) -> None:
        spans = sorted((call.t, end_t if call.end_t is None else call.end_t) for call in calls)
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]
        self._sums = [0.0, *itertools.accumulate(end - start for start, end in spans)]

    def since(self, t: float) -> float:
        index = bisect.bisect_left(self._starts, t)
        under_way = max(0.0, self._ends[index - 1] - t) if index else 0.0
        return self._sums[-1] - self._sums[index] + under_way


def _state(call: Call) -> str:
    asked = f"{call.kind or call.path} by extender {call.extender}"
    if call.seconds is None:
        return f"{asked} was not answered until the end"
    return f"{asked} ended after {at(call.seconds)} ({call.ending})"
