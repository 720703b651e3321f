"""Which pods are elsewhere than in another run, pod by pod, or workload by workload where names are drawn. Pure.

A ReplicaSet or a Job gives its pods random names, and any of them does for any other: of these only the number per
node means something.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from harness.record.model import PodHistory, Record
from harness.report.spread import counted

What = Literal["moved", "newly-pending", "no-longer-pending", "only-here", "only-there"]

# Other owners give names that repeat, or nobody does.
NAMING_AT_RANDOM = frozenset({"ReplicaSet", "ReplicationController", "Job"})


@dataclass(frozen=True)
class Move:
    """One pod that is elsewhere; None stands for no node."""

    pod: str
    what: What
    there: str | None
    here: str | None


@dataclass(frozen=True)
class WorkloadMoves:
    """The pods of one workload in both runs: how many per node, and how many without one."""

    workload: str
    there: Mapping[str, int]
    here: Mapping[str, int]
    pending_there: int
    pending_here: int

    @property
    def moved(self) -> int:
        """Return how many pods with a node in both runs have another one; the fewest that explain the counts."""
        less = sum(max(0, count - self.here.get(node, 0)) for node, count in self.there.items())
        more = sum(max(0, count - self.there.get(node, 0)) for node, count in self.here.items())
        return min(less, more)

    @property
    def nodes(self) -> list[str]:
        """Return the nodes whose number differs."""
        names = sorted({*self.there, *self.here})
        return [name for name in names if self.there.get(name, 0) != self.here.get(name, 0)]


@dataclass(frozen=True)
class Moves:
    """All differences between two placements; `pods` is how many the first one has."""

    pods: int
    named: tuple[Move, ...] = ()
    workloads: tuple[WorkloadMoves, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def moved(self) -> int:
        """Return how many pods have another node."""
        return self.counts["moved"]

    @property
    def share(self) -> float:
        """Return which part of the pods is elsewhere, or lost or won a node."""
        return sum(self.counts.values()) / self.pods if self.pods else 0.0


def moves(here: Record, there: Record) -> Moves:
    """Return what differs in `here` from `there`."""
    mine, mine_drawn = _split(here)
    theirs, theirs_drawn = _split(there)
    named = tuple(_named(mine, theirs))
    workloads = tuple(
        _workload(name, mine_drawn.get(name, []), theirs_drawn.get(name, []))
        for name in dict.fromkeys([*theirs_drawn, *mine_drawn])
    )
    counts = Counter[str](move.what for move in named)
    for one in workloads:
        counts["moved"] += one.moved
        counts["newly-pending"] += max(0, one.pending_here - one.pending_there)
        counts["no-longer-pending"] += max(0, one.pending_there - one.pending_here)
        sizes = [
            sum(placed.values()) + pending
            for placed, pending in ((one.there, one.pending_there), (one.here, one.pending_here))
        ]
        counts["only-there"] += max(0, sizes[0] - sizes[1])
        counts["only-here"] += max(0, sizes[1] - sizes[0])
    return Moves(len(counted(there.pods)), named, workloads, counts)


def _split(record: Record) -> tuple[dict[str, PodHistory], dict[str, list[PodHistory]]]:
    """Return pods whose names repeat, by name, and the others by workload."""
    owners = {workload.uid: workload for workload in record.workloads}
    by_name: dict[str, PodHistory] = {}
    by_workload: dict[str, list[PodHistory]] = {}
    for pod in counted(record.pods):
        if pod.owner is None or pod.owner.kind not in NAMING_AT_RANDOM:
            by_name[_short(pod)] = pod
            continue
        kind, name = pod.owner.kind, pod.owner.name
        # The name of a ReplicaSet depends on its template, which depends on the variant: its Deployment's does not.
        above = owners[pod.owner.uid].owner if pod.owner.uid in owners else None
        if above is not None:
            kind, name = above.kind, above.name
        where = "" if pod.namespace == "default" else f"{pod.namespace}/"
        by_workload.setdefault(f"{kind} {where}{name}", []).append(pod)
    return by_name, by_workload


def _named(mine: Mapping[str, PodHistory], theirs: Mapping[str, PodHistory]) -> Iterator[Move]:
    for name in dict.fromkeys([*theirs, *mine]):
        here, there = mine.get(name), theirs.get(name)
        if here is None or there is None:
            what: What = "only-there" if here is None else "only-here"
            yield Move(name, what, there.node if there else None, here.node if here else None)
        elif here.node != there.node:
            what = "moved"
            if here.node is None:
                what = "newly-pending"
            elif there.node is None:
                what = "no-longer-pending"
            yield Move(name, what, there.node, here.node)


def _workload(name: str, here: list[PodHistory], there: list[PodHistory]) -> WorkloadMoves:
    placed = [Counter(pod.node for pod in pods if pod.node) for pods in (there, here)]
    waiting = [sum(pod.node is None for pod in pods) for pods in (there, here)]
    return WorkloadMoves(name, placed[0], placed[1], *waiting)


def _short(pod: PodHistory) -> str:
    return pod.name if pod.namespace == "default" else pod.full_name
