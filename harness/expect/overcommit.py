"""Replays who was on which node when, and finds bindings for which a node had no room.

kwok admits every pod, so nothing but this check notices a scheduler that fills a node twice. Only the moment of a
binding is judged, by the rule of NodeResourcesFit: the sum of requests with the new pod must not exceed what the node
has to give, for each resource the new pod asks for. A node that shrinks under running pods is nobody's wrong decision.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.expect.base import WATCH_SKEW_SECONDS, at, listed
from harness.expect.room import amount
from harness.record.model import NodeHistory, PodHistory, Record


@dataclass(frozen=True, slots=True)
class _Change:
    """A pod that holds `requests` on `node` from now on; None when it holds nothing any more."""

    seq: int
    t: float
    pod: PodHistory
    node: str | None
    requests: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Breach:
    """The first binding that was too much for one resource of one node."""

    t: float
    node: str
    resource: str
    used: int
    room: int
    pod: PodHistory
    others: tuple[str, ...]

    def __str__(self) -> str:
        beside = f" beside {listed(self.others)}" if self.others else ""
        return (
            f"{self.node}: {amount(self.resource, self.used)} of {amount(self.resource, self.room)} {self.resource} "
            f"taken at {at(self.t)}, when {self.pod.name} was bound{beside}"
        )


def breaches(record: Record) -> list[Breach]:
    """Return the first breach per node and resource, in the order in which they happened."""
    held: dict[str, tuple[str, Mapping[str, int]]] = {}
    used: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    names: defaultdict[str, dict[str, str]] = defaultdict(dict)
    found: dict[tuple[str, str], Breach] = {}
    for change in sorted(_changes(record), key=lambda change: change.seq):
        uid = change.pod.uid
        before = held.pop(uid, None)
        if before is not None:
            names[before[0]].pop(uid, None)
            for resource, number in before[1].items():
                used[before[0]][resource] -= number
        if change.node is None:
            continue
        held[uid] = change.node, change.requests
        for resource, number in change.requests.items():
            used[change.node][resource] += number
        if before is None or before[0] != change.node:
            for breach in _judge(record, change, used[change.node], names[change.node]):
                found.setdefault((breach.node, breach.resource), breach)
        names[change.node][uid] = change.pod.name
    return list(found.values())


def _changes(record: Record) -> Iterator[_Change]:
    for pod in record.pods:
        holding: tuple[str | None, Mapping[str, int]] = (None, {})
        for seen in pod.observations:
            gone = seen.event == "DELETED" or seen.phase in {"Succeeded", "Failed"}
            now = (None, {}) if gone or not seen.node else (seen.node, {**seen.requests, "pods": 1})
            if now != holding:
                yield _Change(seen.seq, seen.t, pod, *now)
                holding = now


def _judge(record: Record, change: _Change, used: Mapping[str, int], others: Mapping[str, str]) -> Iterator[Breach]:
    node = record.node_at(change.node or "", change.t)
    if node is None:
        # A node nobody has seen is the business of the ghostNode invariant.
        return
    room = _room(node, change.t)
    for resource, number in change.requests.items():
        if number > 0 and used[resource] > room.get(resource, 0):
            yield Breach(
                change.t,
                node.name,
                resource,
                used[resource],
                room.get(resource, 0),
                change.pod,
                tuple(sorted(others.values())),
            )


def _room(node: NodeHistory, t: float) -> dict[str, int]:
    """Return the most the node had to give around `t`; its changes arrive over another watch than the pods'."""
    room: dict[str, int] = {}
    for seen in node.between(t - WATCH_SKEW_SECONDS, t + WATCH_SKEW_SECONDS):
        for resource, number in seen.allocatable.items():
            room[resource] = max(room.get(resource, 0), number)
    return room
