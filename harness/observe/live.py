"""The cluster as it is right now: what still moves, kept up to date event by event so that asking costs nothing.

At rest is a pod that runs or has ended, or that a scheduler has definitely refused; a workload that has all its pods,
or says that it cannot get them.
"""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.clock import SYSTEM, Clock

Line = dict[str, Any]
ENDED = frozenset({"Succeeded", "Failed"})
# Their controllers keep a fixed number of pods alive, so the pods themselves can be counted against it.
COUNTED = frozenset({"ReplicaSet", "StatefulSet", "Job"})


class Live:
    """The last line of every object, and the set of those that still move."""

    def __init__(self, schedulers: Iterable[str] = (), clock: Clock = SYSTEM) -> None:
        self._schedulers = frozenset(schedulers)
        self._clock = clock
        self._changed = threading.Condition()
        self._pods: dict[str, Line] = {}
        self._nodes: dict[str, Line] = {}
        self._workloads: dict[str, Line] = {}
        self._alive_by_owner: Counter[str] = Counter()
        self._refused_by_owner: Counter[str] = Counter()
        self._restless: dict[str, Line] = {}
        self._refused = 0
        self._last_change = clock.now()

    def pod(self, line: Line) -> None:
        """Take in a pod's line."""
        with self._changed:
            self._count(self._pods.get(line["uid"]), -1)
            self._restless.pop(line["uid"], None)
            if line["event"] == "DELETED":
                self._pods.pop(line["uid"], None)
            else:
                self._pods[line["uid"]] = line
                self._count(line, 1)
                # Nodes come over another watch: one that is not seen yet may be there in a moment.
                if self._pod_moves(line) or (line["phase"] == "Pending" and line["node"]):
                    self._restless[line["uid"]] = line
            self._touch()

    def node(self, line: Line) -> None:
        """Take in a node's line."""
        with self._changed:
            if line["event"] == "DELETED":
                self._nodes.pop(line["name"], None)
            else:
                self._nodes[line["name"]] = line
            self._touch()

    def workload(self, line: Line) -> None:
        """Take in a workload's line."""
        with self._changed:
            if line["event"] == "DELETED":
                self._workloads.pop(line["uid"], None)
            else:
                self._workloads[line["uid"]] = line
            self._touch()

    def pods(self) -> list[Line]:
        """Return every pod there is."""
        with self._changed:
            return list(self._pods.values())

    def nodes(self) -> Mapping[str, Line]:
        """Return every node there is, by name."""
        with self._changed:
            return dict(self._nodes)

    def refused_with_error(self) -> int:
        """Return how many pods a scheduler failed on; it keeps retrying those from its backoff queue for ever."""
        with self._changed:
            return sum(1 for pod in self._pods.values() if _reason(pod) == "SchedulerError")

    def refused_by_known(self) -> int:
        """Return how many pods wait that one of the running schedulers refused."""
        with self._changed:
            return sum(
                1
                for pod in self._pods.values()
                if pod["scheduler"] in self._schedulers and not pod["terminating"] and not pod["node"] and _reason(pod)
            )

    def may_stir(self) -> bool:
        """Return whether something at rest may be woken by news that is still on its way.

        A refused pod is, by any change that could make room for it; a DaemonSet is, by a new node.
        """
        with self._changed:
            daemons = any(line["kind"] == "DaemonSet" for line in self._workloads.values())
            return daemons or self._refused > 0

    def moves(self) -> bool:
        """Return whether anything is not at rest; stops at the first that is not."""
        with self._changed:
            return next(self._movements(), None) is not None

    def movements(self) -> list[str]:
        """Return, in words, everything that is not at rest."""
        with self._changed:
            return list(self._movements())

    def forsaken(self) -> bool:
        """Return whether all that moves are pods that ask for a scheduler which does not run."""
        with self._changed:
            moving = [line for line in self._restless.values() if self._pod_moves(line)]
            waits = any(self._workload_moves(line) for line in self._workloads.values())
            return bool(moving) and not waits and all(map(self._is_forsaken, moving))

    def _is_forsaken(self, line: Line) -> bool:
        waiting = not line["terminating"] and not line["node"]
        return waiting and bool(self._schedulers) and line["scheduler"] not in self._schedulers

    def _movements(self) -> Iterator[str]:
        for line in self._restless.values():
            if why := self._pod_moves(line):
                yield f"pod {line['name']}: {why}"
        for line in self._workloads.values():
            if why := self._workload_moves(line):
                yield f"{line['kind']} {line['name']}: {why}"

    def quiet_seconds(self) -> float:
        """Return how long nothing has changed."""
        with self._changed:
            return self._clock.now() - self._last_change

    def touch(self) -> None:
        """Start the quiet time anew: something was just asked for whose effects have not arrived yet."""
        with self._changed:
            self._last_change = self._clock.now()

    def wait_for_change(self, timeout_seconds: float) -> None:
        """Return at the next change, or when the time is over."""
        with self._changed:
            self._changed.wait(timeout_seconds)

    def _touch(self) -> None:
        self._last_change = self._clock.now()
        self._changed.notify_all()

    def _count(self, line: Line | None, step: int) -> None:
        if line is None or line["terminating"] or line["phase"] in ENDED:
            return
        refused = step if line["node"] is None and _reason(line) else 0
        self._refused += refused
        if line["owner"]:
            self._alive_by_owner[line["owner"]["uid"]] += step
            self._refused_by_owner[line["owner"]["uid"]] += refused

    def _pod_moves(self, line: Line) -> str | None:
        if line["terminating"]:
            return "is being deleted"
        if line["phase"] != "Pending":
            return None
        if line["node"]:
            # Nothing will ever run it on a node that is not there; that is for the judge to say.
            gone = line["node"] not in self._nodes
            return None if gone or line["waits"] else f"is bound to {line['node']} and not running yet"
        if _reason(line):
            return None
        if line["scheduler"] in self._schedulers:
            return f"its scheduler {line['scheduler']} has not come to it yet"
        asks = f'it asks for schedulerName "{line["scheduler"]}"'
        known = ", ".join(sorted(self._schedulers))
        return f"no scheduler has looked at it: {asks}" + (f", running is: {known}" if known else "")

    def _workload_moves(self, line: Line) -> str | None:
        if not line["observed"]:
            return "its controller has not seen its newest form yet"
        if line["failing"] or line["finished"] or line["desired"] is None:
            return None
        counted = line["kind"] in COUNTED
        have = self._alive_by_owner[line["uid"]] if counted else line["current"]
        # An ordered StatefulSet creates no further pod while one is refused.
        stuck = line["kind"] == "StatefulSet" and self._refused_by_owner[line["uid"]] > 0
        return None if have == line["desired"] or stuck else f"has {have} of {line['desired']} pods"


def _reason(line: Line) -> str | None:
    """Return why a scheduler refused a pod, or None if it did not."""
    scheduled = line["scheduled"]
    return (scheduled["reason"] or "refused") if scheduled and scheduled["status"] == "False" else None
