"""Tells the story of one pod of a saved record in words: what happened to it, why, and what could be done."""

import difflib
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from harness.errors import RecordError
from harness.expect.base import counted, limited, listed
from harness.expect.evidence import event_line, latest_events, waited_seconds
from harness.expect.explain import UNKNOWN_PLUGIN, explain
from harness.expect.held_up import HeldUp
from harness.expect.moves import moves
from harness.expect.room import amount, nodes_at, used_at
from harness.expect.traced import done_by_plugins
from harness.expect.transcript import said_by_extenders
from harness.expect.waiting import images, missing_image, starts
from harness.record.model import PodHistory, Record
from harness.record.observation import Condition

_PREEMPTED_BY = re.compile(r"Preempted by (?P<type>\S+) (?P<uid>\S+) on node (?P<node>\S+)")
_NEAREST_MAX = 5
_NODES_SHOWN_MAX = 8
_EVENTS_SHOWN_MAX = 20


@dataclass(frozen=True)
class PodStory:
    """The story of one pod; every part is a list of sentences, empty where there is nothing to say."""

    pod: str
    headline: str
    timeline: tuple[str, ...]
    reasons: tuple[str, ...]
    extenders: tuple[str, ...]
    plugins: tuple[str, ...]
    preemption: tuple[str, ...]
    events: tuple[str, ...]
    moves: tuple[str, ...]

    def text(self) -> str:
        """Return the story as it is printed."""
        parts = [self.headline]
        for title, lines in (
            ("What happened", self.timeline),
            ("Why", self.reasons),
            ("What extenders said", self.extenders),
            ("What plugins did", self.plugins),
            ("Preemption", self.preemption),
            ("Events", self.events),
            ("What could help", self.moves),
        ):
            if lines:
                parts.append("\n".join([f"{title}:", *(f"  {line}" for line in lines)]))
        return "\n\n".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Return the story as JSON values."""
        return asdict(self)


def why(record: Record, pod_name: str) -> str:
    """Explain one pod in words.

    Raises:
        RecordError: no pod, or more than one, is meant by the name; lists the nearest.
    """
    return tell(record, pod_name).text()


def tell(record: Record, pod_name: str, *, calls: bool = True) -> PodStory:
    """Return the story of one pod.

    Args:
        record: where the pod was seen.
        pod_name: its name, or `namespace/name`.
        calls: tell also what extenders and plugins did, for which the whole cassette and trace are read.

    Raises:
        RecordError: no pod, or more than one, is meant by the name; lists the nearest.
    """
    pod = find_pod(record, pod_name)
    missing = missing_image(record, pod)
    return PodStory(
        pod=pod.full_name,
        headline=_headline(record, pod),
        timeline=tuple(line for _, line in sorted(_timeline(pod), key=lambda one: one[0])),
        reasons=tuple(_reasons(record, pod)),
        extenders=tuple(said_by_extenders(record, pod)) if calls else (),
        plugins=tuple(done_by_plugins(record, pod)) if calls else (),
        preemption=tuple(_preemption(record, pod)),
        events=limited(
            [event_line(event) for event in latest_events(record.events_by_uid.get(pod.uid, ()))], _EVENTS_SHOWN_MAX
        ),
        moves=(*(missing.ways_out(record.meta.cluster) if missing else ()), *moves(record, pod)),
    )


def find_pod(record: Record, name: str) -> PodHistory:
    """Return the pod meant by a name, `namespace/name`, or an unambiguous beginning of either.

    Of several pods that bore the same name one after the other, the last is meant.

    Raises:
        RecordError: no pod, or more than one, is meant; lists the nearest.
    """

    def label(pod: PodHistory) -> str:
        return pod.full_name if "/" in name else pod.name

    exact = {pod.full_name: pod for pod in record.pods if label(pod) == name}
    found = exact or {pod.full_name: pod for pod in record.pods if name and label(pod).startswith(name)}
    if len(found) == 1:
        return next(iter(found.values()))
    where = f"record {record.meta.id}"
    if found:
        raise RecordError(
            f"{where}: {len(found)} pods are meant by {name!r}, one expected; give one of {listed(found)}"
        )
    known = {label(pod): None for pod in record.pods}
    nearest = difflib.get_close_matches(name, known, n=_NEAREST_MAX, cutoff=0.5) or list(known)
    raise RecordError(
        f"{where}: no pod {name!r} among {len(record.pods)}; the nearest: {listed(nearest) or 'there is no pod at all'}"
    )


def _headline(record: Record, pod: PodHistory) -> str:
    waited = _at(waited_seconds(record, pod))
    if not pod.exists:
        place = f" from {pod.node}" if pod.node else " without ever having had a node"
        return f"{pod.full_name} was deleted at {_at(pod.deleted_t or 0.0)}{place}."
    if pod.pending:
        return f"{pod.full_name} waits for a node, {waited} after it was created."
    if pod.node is None:
        return f"{pod.full_name} is {pod.phase} and never had a node."
    return f"{pod.full_name} is {pod.phase} on {pod.node}, bound {waited} after it was created."


def _timeline(pod: PodHistory) -> Iterator[tuple[float, str]]:
    """Yield what happened with its time; the caller puts it in order, and equal times keep this order."""

    def line(t: float, what: str) -> tuple[float, str]:
        return t, f"{_at(t)}  {what}"

    owner = f" by {pod.owner.kind} {pod.owner.name}" if pod.owner else ""
    asks = ", ".join(f"{amount(key, number)} {key}" for key, number in sorted(pod.requests.items()) if key != "pods")
    yield line(
        pod.created_t,
        f"created{owner} for {pod.scheduler}, priority {pod.priority}, asking for {asks or 'nothing'}",
    )
    for condition in pod.conditions:
        # Of a bound pod the binding says the same.
        if condition.status != "True" or not pod.nodes:
            yield line(condition.t, _condition(pod, condition))
    nominated = None
    for seen in pod.observations:
        if seen.nominated and seen.nominated != nominated:
            yield line(seen.t, f"promised node {seen.nominated} by preemption")
        nominated = seen.nominated
    for node in pod.nodes:
        t = next(seen.t for seen in pod.observations if seen.node == node)
        yield line(t, f"bound to {node}, {_at(t - pod.created_t)} after creation")
    for reached_t, what in (
        (pod.running_t, "running"),
        (pod.finished_t, f"finished as {pod.phase}"),
        (pod.terminating_t, "told to terminate"),
        (pod.deleted_t, "gone"),
    ):
        if reached_t is not None:
            yield line(reached_t, what)


def _condition(pod: PodHistory, condition: Condition) -> str:
    if condition.status == "True":
        return "PodScheduled is true"
    said = explain(condition.message).summary() if condition.message else "no message"
    return f"not scheduled after {_at(condition.t - pod.created_t)}: {condition.reason}: {said}"


def _reasons(record: Record, pod: PodHistory) -> Iterator[str]:
    if pod.pending:
        yield from _waiting_reasons(record, pod)
        return
    if starts(pod):
        yield from _not_started(record, pod)
    yield from _placed_reasons(record, pod)


def _not_started(record: Record, pod: PodHistory) -> Iterator[str]:
    waits = pod.observations[-1].waits
    if missing := missing_image(record, pod):
        yield f"it does not start for want of {missing.what()}"
    elif waits:
        yield f"it does not start: {waits}"
    else:
        yield from images(record, [pod])


def _waiting_reasons(record: Record, pod: PodHistory) -> Iterator[str]:
    condition = pod.condition
    if condition is None:
        silence = f"no scheduler has said anything about it; it asks for the one named {pod.scheduler}"
        yield HeldUp(record).by(pod) or silence
        return
    taken_apart = explain(condition.message)
    if taken_apart.total is not None:
        yield f"none of {counted(taken_apart.total, 'node')} was accepted ({condition.reason}):"
    for plugin, reasons in taken_apart.by_plugin().items():
        yield f"{plugin or UNKNOWN_PLUGIN}: {', '.join(str(reason) for reason in reasons)}"
    if taken_apart.general:
        yield f"{taken_apart.general_plugin or condition.reason}: {taken_apart.general}"
    if taken_apart.preemption:
        yield f"preemption did not help: {taken_apart.preemption}"


def _placed_reasons(record: Record, pod: PodHistory) -> Iterator[str]:
    """Say what is known about the choice of the node; the scheduler keeps its scores to itself."""
    if pod.node is None or pod.bound_t is None:
        return
    if pod.observations[0].node:
        yield "it had its node when it was first seen: its creator set it, or it was bound before observing began"
        return
    used = used_at(record, pod.bound_t, but=pod)
    nodes = nodes_at(record, pod.bound_t)
    yield f"{counted(len(nodes), 'node')} existed when it was bound to {pod.node}; what was taken before it:"
    load = []
    for node in nodes:
        taken, room = used.get(node.name, {}), node.at(pod.bound_t).allocatable
        cpu = f"{amount('cpu', taken.get('cpu', 0))} of {amount('cpu', room.get('cpu', 0))} cpu"
        cordoned = ", cordoned" if node.at(pod.bound_t).unschedulable else ""
        tainted = ", tainted" if node.at(pod.bound_t).taints else ""
        load.append(f"{node.name}: {counted(taken.get('pods', 0), 'pod')}, {cpu}{cordoned}{tainted}")
    yield from limited(sorted(load, key=lambda line: not line.startswith(f"{pod.node}:")), _NODES_SHOWN_MAX)
    if len(nodes) > 1:
        yield "the plugins' scores that decided among them are not recorded; kube-scheduler logs them from -v=10 on"


def _preemption(record: Record, pod: PodHistory) -> Iterator[str]:
    for event in latest_events(event for event in record.events if event.reason == "Preempted"):
        found = _PREEMPTED_BY.search(event.message)
        preemptor = record.pods_by_uid.get(found["uid"]) if found else None
        if event.object_uid == pod.uid:
            by = f"{preemptor.full_name} (priority {preemptor.priority})" if preemptor else event.message
            yield f"it was the victim of {by} at {_at(event.t)}"
        elif found and found["uid"] == pod.uid:
            yield f"{event.object_namespace}/{event.object_name} had to leave {found['node']} for it at {_at(event.t)}"
    if pod.pending and pod.nominated:
        yield f"it waits for its victims on {pod.nominated} to go"


def _at(t: float) -> str:
    """Return a time in milliseconds' resolution: one pod's story is often over within a few."""
    return f"{t:.3f} s"
