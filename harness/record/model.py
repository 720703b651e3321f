"""What one run left behind, as frozen values: judging and reporting read these and nothing else.

Every `t` is in seconds since the run's start, taken when the watch delivered the change. Values are facts or derived
from facts of one object alone; anything that compares objects belongs to the expect stage.
"""

import bisect
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from harness.record.call import Call, Extender
from harness.record.observation import Condition, NodeObservation, Owner, PodObservation
from harness.scenario.model import Scenario

FORMAT = 1

Value = TypeVar("Value")


@dataclass(frozen=True)
class PodHistory:
    """One pod (one uid) from its creation to its deletion or the end of the run.

    `condition`, `labels`, `node`, `phase` are the last ones seen. `scheduled_t` is when PodScheduled became true or a
    node was set, whichever came first. A pod that was already `Succeeded` when first seen past Pending counts as having
    run by then.
    """

    uid: str
    namespace: str
    name: str
    labels: Mapping[str, str]
    owner: Owner | None
    scheduler: str
    priority: int
    requests: Mapping[str, int]
    observations: tuple[PodObservation, ...]
    conditions: tuple[Condition, ...]
    nodes: tuple[str, ...]
    created_t: float
    unschedulable_t: float | None
    scheduled_t: float | None
    bound_t: float | None
    running_t: float | None
    finished_t: float | None
    terminating_t: float | None
    deleted_t: float | None

    @property
    def full_name(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def phase(self) -> str:
        """Phase last seen: Pending, Running, Succeeded or Failed."""
        return self.observations[-1].phase

    @property
    def node(self) -> str | None:
        """Node last seen, or None if the pod was never bound."""
        return self.nodes[-1] if self.nodes else None

    @property
    def condition(self) -> Condition | None:
        """The PodScheduled condition last seen."""
        return self.conditions[-1] if self.conditions else None

    @property
    def nominated(self) -> str | None:
        """Node the pod was last promised by preemption."""
        return self.observations[-1].nominated

    @property
    def terminating(self) -> bool:
        """Whether the pod still existed at the end but was on its way out."""
        return self.exists and self.terminating_t is not None

    @property
    def exists(self) -> bool:
        """Whether the pod still existed when observing ended."""
        return self.deleted_t is None

    @property
    def finished(self) -> bool:
        """Whether the pod had Succeeded or Failed, and so holds no resources any more."""
        return self.finished_t is not None

    @property
    def pending(self) -> bool:
        """Whether the pod still waited for a node when observing ended. A bound pod is never pending."""
        return self.exists and not self.nodes and not self.finished and not self.terminating


@dataclass(frozen=True)
class NodeHistory:
    """One node (one uid); a node removed and added again under the same name is two histories."""

    uid: str
    name: str
    observations: tuple[NodeObservation, ...]
    added_t: float
    removed_t: float | None

    @property
    def labels(self) -> Mapping[str, str]:
        """Labels last seen."""
        return self.observations[-1].labels

    @property
    def exists(self) -> bool:
        """Whether the node still existed when observing ended."""
        return self.removed_t is None

    def at(self, t: float) -> NodeObservation:
        """Return the node as it stood at `t`; before its first observation, as it first was."""
        place = bisect.bisect_right(self.observations, t, key=lambda seen: seen.t)
        return self.observations[max(place - 1, 0)]

    def between(self, start_t: float, end_t: float) -> tuple[NodeObservation, ...]:
        """Return every state the node was in between two times, at least one."""
        first = bisect.bisect_right(self.observations, start_t, key=lambda seen: seen.t)
        last = bisect.bisect_right(self.observations, end_t, key=lambda seen: seen.t)
        return self.observations[max(first - 1, 0) : max(last, 1)]


@dataclass(frozen=True, slots=True)
class WorkloadHistory:
    """The last state of one workload.

    `desired` is how many active pods its controller wants now, if it says so; `finished` that it wants none any more.
    """

    uid: str
    kind: str
    namespace: str
    name: str
    owner: Owner | None
    desired: int | None
    observed: bool
    finished: bool
    current: int
    created_t: float
    changed_t: float
    deleted_t: float | None


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """A Kubernetes Event."""

    t: float
    uid: str
    reason: str
    type: str
    message: str
    object_kind: str
    object_namespace: str
    object_name: str
    object_uid: str
    count: int
    source: str


@dataclass(frozen=True, slots=True)
class StepMark:
    """The start, end or failure of one step."""

    t: float
    index: int
    op: str
    phase: str
    detail: Mapping[str, Any]


@dataclass(frozen=True)
class RunMeta:
    """What `run.json` says about the run as a whole; `extra` holds keys this version does not know."""

    id: str
    scenario: str
    size: str
    variant: str
    cluster: str
    status: str
    started_at: str
    settled: bool
    seed: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    duration_seconds: float | None = None
    observed_seconds: float | None = None
    ready_seconds: float | None = None
    versions: Mapping[str, Any] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    schedulers: tuple[Mapping[str, Any], ...] = ()
    unsettled: tuple[str, ...] = ()
    deaths: tuple[str, ...] = ()
    node_deaths: tuple[str, ...] = ()
    cpu_seconds: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Record:
    """Everything one run left behind. `warnings` says what is doubtful about the record itself."""

    path: Path
    meta: RunMeta
    scenario: Scenario
    pods: tuple[PodHistory, ...]
    nodes: tuple[NodeHistory, ...]
    workloads: tuple[WorkloadHistory, ...]
    events: tuple[ClusterEvent, ...]
    steps: tuple[StepMark, ...]
    end_t: float
    extenders: tuple[Extender, ...] = ()
    calls: tuple[Call, ...] = ()
    warnings: tuple[str, ...] = ()

    @cached_property
    def pods_by_uid(self) -> Mapping[str, PodHistory]:
        """Pods by uid."""
        return {pod.uid: pod for pod in self.pods}

    @cached_property
    def pods_by_owner(self) -> Mapping[str, tuple[PodHistory, ...]]:
        """Pods by the uid of the controller that owns them."""
        return _grouped((pod.owner.uid, pod) for pod in self.pods if pod.owner is not None)

    @cached_property
    def nodes_by_name(self) -> Mapping[str, tuple[NodeHistory, ...]]:
        """Every life of a node name, oldest first."""
        return _grouped((node.name, node) for node in sorted(self.nodes, key=lambda node: node.added_t))

    @cached_property
    def events_by_uid(self) -> Mapping[str, tuple[ClusterEvent, ...]]:
        """Events by the uid of the object they are about, oldest first."""
        return _grouped((event.object_uid, event) for event in sorted(self.events, key=lambda event: event.t))

    @cached_property
    def calls_by_uid(self) -> Mapping[str, tuple[Call, ...]]:
        """Calls of extenders by the uid of the pod they are about, oldest first."""
        return _grouped((call.uid, call) for call in sorted(self.calls, key=lambda call: call.t) if call.uid)

    def node_at(self, name: str, t: float) -> NodeHistory | None:
        """Return the life of a node name that fits `t` best, or None if no such node was ever seen.

        Nodes and pods arrive over separate watches, so a node may be seen a moment after a pod that is bound to it:
        without a life that began before `t`, the first one is meant.
        """
        lives = self.nodes_by_name.get(name, ())
        begun = [node for node in lives if node.added_t <= t]
        if begun:
            return begun[-1]
        return lives[0] if lives else None


def _grouped(pairs: Iterable[tuple[str, Value]]) -> dict[str, tuple[Value, ...]]:
    groups: defaultdict[str, list[Value]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return {key: tuple(values) for key, values in groups.items()}
