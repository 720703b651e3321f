"""Turns the lines of a record's streams into histories, in one pass each: a record may hold 50,000 pods.

Lines are trusted to have the keys that the recorder writes; a missing one raises KeyError, which the reader turns into
an error naming the file and line.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.record.model import ClusterEvent, NodeHistory, PodHistory, StepMark, WorkloadHistory
from harness.record.observation import Condition, NodeObservation, Owner, PodObservation

Line = Mapping[str, Any]


def pods(lines: Iterable[Line]) -> tuple[PodHistory, ...]:
    """Return one history per pod uid, in the order in which the pods were first seen."""
    seen: dict[str, list[PodObservation]] = {}
    last: dict[str, Line] = {}
    for seq, line in enumerate(lines):
        uid = line["uid"]
        seen.setdefault(uid, []).append(_pod_observation(seq, line))
        last[uid] = line
    return tuple(_pod(last[uid], tuple(observations)) for uid, observations in seen.items())


def nodes(lines: Iterable[Line]) -> tuple[NodeHistory, ...]:
    """Return one history per node uid, in the order in which the nodes were first seen."""
    seen: dict[str, list[NodeObservation]] = {}
    names: dict[str, str] = {}
    for line in lines:
        uid = line["uid"]
        names[uid] = line["name"]
        seen.setdefault(uid, []).append(
            NodeObservation(
                t=float(line["t"]),
                event=line["event"],
                labels=line.get("labels") or {},
                taints=tuple(line.get("taints") or ()),
                unschedulable=bool(line.get("unschedulable")),
                ready=bool(line.get("ready")),
                allocatable=line.get("allocatable") or {},
            )
        )
    return tuple(
        NodeHistory(
            uid=uid,
            name=names[uid],
            observations=tuple(observations),
            added_t=observations[0].t,
            removed_t=next((one.t for one in observations if one.event == "DELETED"), None),
        )
        for uid, observations in seen.items()
    )


def workloads(lines: Iterable[Line]) -> tuple[WorkloadHistory, ...]:
    """Return the last state of every workload, in the order in which they were first seen."""
    first_t: dict[str, float] = {}
    last: dict[str, Line] = {}
    for line in lines:
        first_t.setdefault(line["uid"], float(line["t"]))
        last[line["uid"]] = line
    return tuple(
        WorkloadHistory(
            uid=uid,
            kind=line["kind"],
            namespace=line["namespace"],
            name=line["name"],
            owner=_owner(line.get("owner")),
            desired=line.get("desired"),
            observed=bool(line.get("observed", True)),
            finished=bool(line.get("finished")),
            current=int(line.get("current") or 0),
            created_t=first_t[uid],
            changed_t=float(line["t"]),
            deleted_t=float(line["t"]) if line["event"] == "DELETED" else None,
        )
        for uid, line in last.items()
    )


def events(lines: Iterable[Line]) -> tuple[ClusterEvent, ...]:
    """Return one value per line."""
    return tuple(_event(line) for line in lines)


def steps(lines: Iterable[Line]) -> tuple[StepMark, ...]:
    """Return one mark per line."""
    return tuple(
        StepMark(
            t=float(line["t"]),
            index=int(line["index"]),
            op=line["op"],
            phase=line["phase"],
            detail=line.get("detail") or {},
        )
        for line in lines
    )


def _event(line: Line) -> ClusterEvent:
    about = line.get("object") or {}
    return ClusterEvent(
        t=float(line["t"]),
        uid=line["uid"],
        reason=line.get("reason") or "",
        type=line.get("type") or "",
        message=line.get("message") or "",
        object_kind=about.get("kind") or "",
        object_namespace=about.get("namespace") or "",
        object_name=about.get("name") or "",
        object_uid=about.get("uid") or "",
        count=int(line.get("count") or 1),
        source=line.get("source") or "",
    )


def _pod_observation(seq: int, line: Line) -> PodObservation:
    t = float(line["t"])
    scheduled = line.get("scheduled")
    return PodObservation(
        t=t,
        seq=seq,
        event=line["event"],
        node=line.get("node") or None,
        nominated=line.get("nominated") or None,
        phase=line.get("phase") or "Pending",
        requests=line.get("requests") or {},
        condition=scheduled
        and Condition(
            t=t,
            status=scheduled.get("status") or "Unknown",
            reason=scheduled.get("reason") or "",
            message=scheduled.get("message") or "",
        ),
        ready=bool(line.get("ready")),
        waits=line.get("waits"),
        terminating=bool(line.get("terminating")),
    )


def _pod(last: Line, seen: tuple[PodObservation, ...]) -> PodHistory:
    return PodHistory(
        uid=last["uid"],
        namespace=last["namespace"],
        name=last["name"],
        labels=last.get("labels") or {},
        owner=_owner(last.get("owner")),
        scheduler=last.get("scheduler") or "default-scheduler",
        priority=int(last.get("priority") or 0),
        requests=last.get("requests") or {},
        observations=seen,
        conditions=_conditions(seen),
        nodes=tuple(dict.fromkeys(one.node for one in seen if one.node)),
        created_t=seen[0].t,
        unschedulable_t=next((one.t for one in seen if one.condition and one.condition.status == "False"), None),
        scheduled_t=next((one.t for one in seen if one.node or _is_scheduled(one)), None),
        bound_t=next((one.t for one in seen if one.node), None),
        running_t=next((one.t for one in seen if one.phase in {"Running", "Succeeded"}), None),
        finished_t=next((one.t for one in seen if one.phase in {"Succeeded", "Failed"}), None),
        terminating_t=next((one.t for one in seen if one.terminating), None),
        deleted_t=next((one.t for one in seen if one.event == "DELETED"), None),
    )


def _is_scheduled(seen: PodObservation) -> bool:
    return seen.condition is not None and seen.condition.status == "True"


def _conditions(seen: Sequence[PodObservation]) -> tuple[Condition, ...]:
    """Return the conditions that differ from the one before, each with the time of its first sight."""
    changes: list[Condition] = []
    for one in seen:
        now = one.condition
        if now is None:
            continue
        before = changes[-1] if changes else None
        if before is None or (now.status, now.reason, now.message) != (before.status, before.reason, before.message):
            changes.append(now)
    return tuple(changes)


def _owner(value: Mapping[str, str] | None) -> Owner | None:
    return Owner(kind=value["kind"], name=value["name"], uid=value["uid"]) if value else None
