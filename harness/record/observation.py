"""Single observations as the watches delivered them; the histories of `model` are made of these."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Owner:
    """The controller that owns an object."""

    kind: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class Condition:
    """A PodScheduled condition as it stood from `t` on."""

    t: float
    status: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class PodObservation:
    """One watch event of a pod.

    `seq` is its place in the stream and orders events of the same `t`. `waits` says why a container of a bound pod will
    not start by itself.
    """

    t: float
    seq: int
    event: str
    node: str | None
    nominated: str | None
    phase: str
    requests: Mapping[str, int]
    condition: Condition | None
    ready: bool
    waits: str | None
    terminating: bool


@dataclass(frozen=True, slots=True)
class NodeObservation:
    """One watch event of a node."""

    t: float
    event: str
    labels: Mapping[str, str]
    taints: tuple[Mapping[str, str], ...]
    unschedulable: bool
    ready: bool
    allocatable: Mapping[str, int]
