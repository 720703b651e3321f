"""How evenly one run, or the repeats of one variant, filled the nodes, beside what a random scheduler would give. Pure.

Counted are the pods that have a node at the end, but for those of the cluster itself and of DaemonSets, whose nodes
nobody chose; and the nodes that are there at the end, but for empty ones that are closed to ordinary pods.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from harness.expect.matching import SYSTEM_NAMESPACES
from harness.record.model import NodeHistory, PodHistory, Record
from harness.report.randomness import CONFIDENCE, Chances, Lots, chances, dispersion

Policy = Literal["spreading", "random", "packing", "unclear", "none"]

PODS = "pods"
# What kube-scheduler weighs first; of several that are used alike, the first is meant.
RESOURCES = ("cpu", "memory", PODS)
NEARLY = 1e-6
CLOSED_EFFECTS = frozenset({"NoSchedule", "NoExecute"})


@dataclass(frozen=True)
class Loads:
    """What the nodes of one run hold at the end.

    Args:
        counts: pods per node, by name.
        used: what those pods that have not finished ask for, of the resource that is used up most.
        capacity: what each node has of it for these pods.
        slots: how many such pods each node has room for; empty where pods differ in what they ask for.
        resource: that resource.
        alike: whether all nodes have the same, and all pods ask for the same.
        left_out: how many nodes were empty and closed.
    """

    counts: Mapping[str, int]
    used: Mapping[str, int]
    capacity: Mapping[str, int]
    slots: Mapping[str, int]
    resource: str
    alike: bool
    left_out: int = 0

    @property
    def pods(self) -> int:
        """Return how many pods were counted."""
        return sum(self.counts.values())

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """Return each node's part of the whole: equal for nodes that have the same, else by what they have."""
        weights = list(self.capacity.values())
        if not sum(weights) or len(set(weights)) == 1 or min(weights) <= 0:
            return (1 / len(weights),) * len(weights) if weights else ()
        return tuple(weight / sum(weights) for weight in weights)

    @cached_property
    def filled(self) -> tuple[float, ...]:
        """Return how full each node is: in pods where all are alike, else as a share of the resource."""
        if self.alike:
            return tuple(map(float, self.counts.values()))
        return tuple(self.used[name] / (self.capacity[name] or 1) for name in self.counts)

    @cached_property
    def lots(self) -> Lots:
        """Return the lots that a random scheduler would draw here."""
        return Lots.of(self.pods, self.shares, tuple(self.slots.values()))


@dataclass(frozen=True)
class Spread:
    """How evenly nodes were filled.

    `measure` says what `cv` and `max_over_mean` are of: `pods`, or the resource whose used share stands for a node.
    `index` is the dispersion index, `low` and `high` the band that holds 99 % of random placements, `evener` and
    `more_uneven` how many of them are as even or as uneven as this. `how` says how the band was found. Of repeats all
    figures are means, and the band is that of such a mean.
    """

    runs: int
    pods: int
    nodes: int
    empty: int
    left_out: int
    measure: str
    cv: float | None
    max_over_mean: float | None
    index: float | None
    low: float | None
    high: float | None
    evener: float | None
    more_uneven: float | None
    how: str
    policy: Policy

    def to_json(self) -> dict[str, Any]:
        """Return it as a program reads it."""
        return asdict(self)


def counted(pods: Sequence[PodHistory]) -> list[PodHistory]:
    """Return the pods whose places were chosen and are there at the end."""
    return [
        pod
        for pod in pods
        if pod.exists
        and pod.namespace not in SYSTEM_NAMESPACES
        and not (pod.owner is not None and pod.owner.kind == "DaemonSet")
    ]


def loads(record: Record) -> Loads:
    """Return what the nodes of a run hold."""
    chosen = [pod for pod in counted(record.pods) if pod.node]
    holding = Counter(pod.node for pod in chosen)
    present = sorted((node for node in record.nodes if node.exists), key=lambda node: node.name)
    nodes = [node for node in present if holding[node.name] or _open(node)]
    places = {node.name: node.observations[-1].allocatable for node in nodes}
    others, nothing = _reserved(record, {pod.uid for pod in chosen}), Counter[str]()
    room = {
        name: {key: int(has.get(key, 0)) - others.get(name, nothing)[key] for key in RESOURCES}
        for name, has in places.items()
    }
    active = [pod for pod in chosen if not pod.finished and pod.node in places]
    resource = _dominating(active, room)
    used = Counter[str]()
    for pod in active:
        used[pod.node or ""] += pod.requests.get(resource, 0)
    asks = {tuple(sorted(pod.requests.items())) for pod in chosen}
    same_asks = len(asks) <= 1
    same_nodes = len({tuple(has.values()) for has in room.values()}) <= 1
    return Loads(
        counts={name: holding[name] for name in places},
        used={name: used[name] for name in places},
        capacity={name: has[resource] for name, has in room.items()},
        slots={name: _slots(has, dict(next(iter(asks)))) for name, has in room.items()} if len(asks) == 1 else {},
        resource=resource,
        alike=same_asks and same_nodes,
        left_out=len(present) - len(nodes),
    )


def spread(runs: Sequence[Loads]) -> Spread:
    """Return how evenly repeats of the same filled the nodes; one run is its own mean."""
    first = runs[0]
    same = all((one.lots.pods, one.lots.nodes) == (first.lots.pods, first.lots.nodes) for one in runs)
    each = [_single(one) for one in runs]
    if len(runs) == 1 or not same or each[0].index is None:
        # Repeats that did not place the same number of pods have no band in common.
        return each[0] if len(runs) == 1 else replace(_means(each), policy="none")
    found = chances(first.lots)
    return _judged(_means(each), found.of_mean(len(runs)), found.how)


def _single(one: Loads) -> Spread:
    filled = np.asarray(one.filled)
    mean = float(filled.mean()) if len(filled) else 0.0
    bare = Spread(
        runs=1,
        pods=one.pods,
        nodes=len(one.counts),
        empty=sum(not count for count in one.counts.values()),
        left_out=one.left_out,
        measure=PODS if one.alike else one.resource,
        cv=float(filled.std()) / mean if mean else None,
        max_over_mean=float(filled.max()) / mean if mean else None,
        index=None,
        low=None,
        high=None,
        evener=None,
        more_uneven=None,
        how="",
        policy="none",
    )
    if not one.pods or len(one.counts) < 2:  # noqa: PLR2004 - that is what being uneven takes
        return bare
    found = chances(one.lots)
    return _judged(replace(bare, index=dispersion(list(one.counts.values()), one.shares)), found, found.how)


def _judged(bare: Spread, found: Chances, how: str) -> Spread:
    low, high = found.band()
    index = bare.index or 0.0
    evener, uneven = found.at_most(index), found.at_least(index)
    tail = (1 - CONFIDENCE) / 2
    policy: Policy = "random"
    if evener <= tail:
        policy = "spreading"
    elif uneven <= tail:
        policy = "packing"
    elif min(index - found.values[0], found.values[-1] - index) < NEARLY:
        # As even or uneven as can be, and so are too many random ones.
        policy = "unclear"
    return replace(bare, low=low, high=high, evener=evener, more_uneven=uneven, how=how, policy=policy)


def _means(each: Sequence[Spread]) -> Spread:
    def mean(name: str) -> float | None:
        values = [getattr(one, name) for one in each]
        return None if None in values else float(np.mean(values))

    return replace(
        each[0],
        runs=len(each),
        pods=round(float(np.mean([one.pods for one in each]))),
        empty=round(float(np.mean([one.empty for one in each]))),
        cv=mean("cv"),
        max_over_mean=mean("max_over_mean"),
        index=mean("index"),
        low=None,
        high=None,
        evener=None,
        more_uneven=None,
    )


def _open(node: NodeHistory) -> bool:
    last = node.observations[-1]
    return not last.unschedulable and not any(taint.get("effect") in CLOSED_EFFECTS for taint in last.taints)


def _reserved(record: Record, chosen: set[str]) -> dict[str, Counter[str]]:
    """Return what pods that are not counted take away from each node."""
    taken: dict[str, Counter[str]] = {}
    for pod in record.pods:
        if pod.node and pod.exists and not pod.finished and pod.uid not in chosen:
            taken.setdefault(pod.node, Counter()).update(pod.requests)
    return taken


def _dominating(pods: Sequence[PodHistory], room: Mapping[str, Mapping[str, int]]) -> str:
    """Return the resource of which the largest part is used."""

    def used(resource: str) -> float:
        total = sum(has[resource] for has in room.values())
        return sum(pod.requests.get(resource, 0) for pod in pods) / total if total > 0 else 0.0

    return max(RESOURCES, key=lambda resource: (used(resource), -RESOURCES.index(resource)))


def _slots(room: Mapping[str, int], asks: Mapping[str, int]) -> int:
    wanted = {resource: asks.get(resource, 0) for resource in RESOURCES}
    return max(0, min((room[key] // amount for key, amount in wanted.items() if amount > 0), default=0))
