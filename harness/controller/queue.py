"""The pods that wait, in the queues that kube-scheduler has: active, backoff, unschedulable, gated.

A pod that was refused waits in `unschedulable` until something changes that could help it, and after that at least as
long as its back-off says. Nothing here takes a lock: the queue belongs to one `State`, which does.
"""

import heapq
import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from harness.clock import Clock
from harness.controller.fit import Pod

# As kube-scheduler has them.
BACKOFF_SECONDS = 1.0
BACKOFF_SECONDS_MAX = 10.0

Where = Literal["active", "backoff", "unschedulable", "gated", "busy"]


@dataclass(slots=True)
class _Entry:
    pod: Pod
    turn: int
    where: Where
    attempts: int = 0
    due: float = 0.0
    woken: bool = False


class Queue:
    """Which pod comes next: the highest priority, and among equals the one that has waited longest in `active`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: dict[str, _Entry] = {}
        self._turns = itertools.count()
        # Both may hold what is out of date: a pod that left, or that waits elsewhere by now.
        self._active: list[tuple[int, int, str]] = []
        self._backoff: list[tuple[float, str]] = []

    def offer(self, pod: Pod) -> None:
        """Take in a pod that waits for a node, or what is new about it."""
        entry = self._entries.get(pod.uid)
        if entry is None:
            entry = self._entries[pod.uid] = _Entry(pod, next(self._turns), "gated")
            if not pod.gated:
                self._activate(entry)
            return
        changed, entry.pod = entry.pod.wishes != pod.wishes, pod
        if entry.where == "gated" and not pod.gated:
            self._activate(entry)
        elif changed:
            self._wake(entry)

    def drop(self, uid: str) -> Where | None:
        """Let a pod go; return where it was."""
        entry = self._entries.pop(uid, None)
        return entry.where if entry else None

    def holds(self, uid: str) -> bool:
        """Return whether a pod still waits, or is being worked on."""
        return uid in self._entries

    def pop(self) -> tuple[Pod, int] | None:
        """Return the next pod and which attempt this is; it is busy until somebody says how the attempt went."""
        self._flush()
        while self._active:
            _, turn, uid = heapq.heappop(self._active)
            entry = self._entries.get(uid)
            if entry and entry.where == "active" and entry.turn == turn:
                entry.where, entry.woken, entry.attempts = "busy", False, entry.attempts + 1
                return entry.pod, entry.attempts
        return None

    def idle_seconds(self) -> float | None:
        """Return how long there is nothing to do if nothing changes; None if that is for ever."""
        self._flush()
        if any(self._is_current(item) for item in self._active):
            return 0.0
        return max(0.0, self._backoff[0][0] - self._clock.now()) if self._backoff else None

    def wake(self) -> None:
        """Something changed that could help: give every refused pod another try."""
        for entry in self._entries.values():
            self._wake(entry)

    def refused(self, uid: str) -> None:
        """An attempt found no node: wait for a change, which may have come meanwhile."""
        if entry := self._finished(uid):
            entry.where = "unschedulable"
            if entry.woken:
                self._wake(entry)

    def failed(self, uid: str) -> None:
        """An attempt went wrong: try again after the back-off, whatever happens."""
        if entry := self._finished(uid):
            self._put_back(entry)

    def again(self, uid: str) -> None:
        """An attempt was overtaken by events: try again at once."""
        if entry := self._finished(uid):
            self._activate(entry)

    def depths(self) -> Mapping[str, int]:
        """Return how many pods are in each queue; those that are being worked on count as active."""
        found = Counter(entry.where for entry in self._entries.values())
        return {
            "active": found["active"] + found["busy"],
            "backoff": found["backoff"],
            "gated": found["gated"],
            "unschedulable": found["unschedulable"],
        }

    def _finished(self, uid: str) -> _Entry | None:
        entry = self._entries.get(uid)
        if entry is None or entry.where != "busy":
            return None
        pause = min(BACKOFF_SECONDS * 2 ** (min(entry.attempts, 10) - 1), BACKOFF_SECONDS_MAX)
        entry.due = self._clock.now() + pause
        return entry

    def _wake(self, entry: _Entry) -> None:
        if entry.where == "busy":
            entry.woken = True
        elif entry.where == "unschedulable" and entry.due > self._clock.now():
            self._put_back(entry)
        elif entry.where == "unschedulable":
            self._activate(entry)

    def _put_back(self, entry: _Entry) -> None:
        entry.where = "backoff"
        heapq.heappush(self._backoff, (entry.due, entry.pod.uid))

    def _activate(self, entry: _Entry) -> None:
        entry.where, entry.turn = "active", next(self._turns)
        heapq.heappush(self._active, (-entry.pod.priority, entry.turn, entry.pod.uid))

    def _flush(self) -> None:
        """Move what has waited long enough, and forget what has left."""
        while self._backoff:
            due, uid = self._backoff[0]
            entry = self._entries.get(uid)
            current = entry is not None and entry.where == "backoff" and entry.due == due
            if current and due > self._clock.now():
                return
            heapq.heappop(self._backoff)
            if entry and current:
                self._activate(entry)

    def _is_current(self, item: tuple[int, int, str]) -> bool:
        entry = self._entries.get(item[2])
        return entry is not None and entry.where == "active" and entry.turn == item[1]
