"""What must hold in every run without being written down: no cluster may break these, whatever the scheduler does."""

from collections.abc import Callable, Iterator

from harness.expect.base import WATCH_SKEW_SECONDS, Verdict, at, counted, limited, status_of
from harness.expect.matching import by_creation
from harness.expect.missing import missing
from harness.expect.overcommit import breaches
from harness.expect.waiting import images
from harness.record.model import PodHistory, Record

POD_GC_SECONDS = 60.0
"""How long a pod may outlive its node: podgc has a quarantine of 40 s and looks every 20 s."""


def overcommit(record: Record) -> Verdict:
    """Judge that no pod was bound to a node that had no room for it."""
    found = breaches(record)
    nodes = {breach.node for breach in found}
    return _verdict("overcommit", "overcommitted nodes", len(nodes), [str(breach) for breach in found])


def double_binding(record: Record) -> Verdict:
    """Judge that no pod was seen on two nodes."""
    lines = []
    for pod in sorted((pod for pod in record.pods if len(pod.nodes) > 1), key=by_creation):
        first = {node: next(seen.t for seen in pod.observations if seen.node == node) for node in pod.nodes}
        lines.append(f"{pod.name} → " + ", then ".join(f"{node} at {at(t)}" for node, t in first.items()))
    return _verdict("doubleBinding", "pods bound twice", len(lines), lines)


def ghost_node(record: Record) -> Verdict:
    """Judge that every pod was bound to a node that existed then, and that none was left behind on a removed one.

    A node that is removed later is no fault of the binding. A pod that is still alive on it when observing ends is one
    only after garbage collection had its time, `POD_GC_SECONDS`.
    """
    pods = sorted((pod for pod in record.pods if pod.nodes), key=by_creation)
    lines = [line for pod in pods for line in (*_ghosts(record, pod), *_left_behind(record, pod))]
    return _verdict("ghostNode", "pods on nodes that do not exist", len(lines), lines)


def missing_pod(record: Record) -> Verdict:
    """Judge that every pod that was asked for is there."""
    found = missing(record)
    lines = [line for lines in found for line in lines]
    return _verdict("missingPod", "missing pods", len(found), [*_images(record, lines), *lines], "case")


def settled(record: Record) -> Verdict:
    """Judge that everything came to rest before the deadline."""
    meta = record.meta
    lines = (
        list(meta.unsettled) if meta.status == "finished" else [f"the run did not finish: {meta.error or meta.status}"]
    )
    # Without a scheduler or a node nothing comes to rest; that it died is a verdict of its own.
    died = meta.deaths or meta.node_deaths
    number = 0 if meta.settled or (died and not meta.unsettled) else len(lines)
    return _verdict("settled", "still moving at the deadline", number, [*_images(record, lines), *lines])


def scheduler_alive(record: Record) -> Verdict:
    """Judge that no scheduler ended by itself."""
    return _verdict("schedulerAlive", "schedulers that died", len(record.meta.deaths), list(record.meta.deaths))


def nodes_alive(record: Record) -> Verdict:
    """Judge that no node ended by itself."""
    deaths = list(record.meta.node_deaths)
    return _verdict("nodesAlive", "nodes that died", len(deaths), deaths)


INVARIANTS: dict[str, Callable[[Record], Verdict]] = {
    "settled": settled,
    "schedulerAlive": scheduler_alive,
    "nodesAlive": nodes_alive,
    "overcommit": overcommit,
    "doubleBinding": double_binding,
    "ghostNode": ghost_node,
    "missingPod": missing_pod,
}


def _verdict(kind: str, title: str, number: int, lines: list[str], noun: str = "") -> Verdict:
    return Verdict(
        kind=kind,
        title=title,
        status=status_of(not number),
        expected="none",
        seen=(counted(number, noun) if noun else str(number)) if number else "none",
        evidence=limited(lines),
    )


def _images(record: Record, lines: list[str]) -> tuple[str, ...]:
    """Say which images did not come, where something else is to be explained."""
    return images(record, record.pods) if lines else ()


def _ghosts(record: Record, pod: PodHistory) -> Iterator[str]:
    for name in pod.nodes:
        t = next(seen.t for seen in pod.observations if seen.node == name)
        lives = record.nodes_by_name.get(name, ())
        if any(_alive(life.added_t, life.removed_t, t) for life in lives):
            continue
        if not lives:
            why = "no such node was ever seen"
        elif t < lives[0].added_t:
            why = f"it came only at {at(lives[0].added_t)}"
        else:
            gone = max(life.removed_t for life in lives if life.removed_t is not None and life.removed_t < t)
            why = f"it was removed at {at(gone)}"
        yield f"{pod.name} → {name} at {at(t)}: {why}"


def _alive(added_t: float, removed_t: float | None, t: float) -> bool:
    return added_t - WATCH_SKEW_SECONDS <= t and (removed_t is None or t <= removed_t + WATCH_SKEW_SECONDS)


def _left_behind(record: Record, pod: PodHistory) -> Iterator[str]:
    if not pod.exists or pod.finished or pod.node is None:
        return
    lives = record.nodes_by_name.get(pod.node, ())
    if not lives or any(life.removed_t is None for life in lives):
        return
    gone = max(life.removed_t or 0.0 for life in lives)
    # A pod bound after the removal is reported as a ghost already.
    if (pod.bound_t or 0.0) <= gone + WATCH_SKEW_SECONDS and record.end_t - gone > POD_GC_SECONDS:
        since = at(record.end_t - gone)
        yield f"{pod.name} is left on {pod.node}, which was removed at {at(gone)}, {since} before the end"
