"""Follows everything a run is judged by, writes each change into the record, and keeps the live view."""

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from harness.cluster.base import Cluster
from harness.cluster.follow import Change, Follower
from harness.observe import lines
from harness.observe.live import Live
from harness.record.write import RecordWriter

WORKLOADS = {
    "Deployment": "/apis/apps/v1/deployments",
    "ReplicaSet": "/apis/apps/v1/replicasets",
    "StatefulSet": "/apis/apps/v1/statefulsets",
    "DaemonSet": "/apis/apps/v1/daemonsets",
    "Job": "/apis/batch/v1/jobs",
}


@dataclass(frozen=True)
class Observation:
    """What is being seen."""

    live: Live
    followers: tuple[Follower, ...]

    def check(self) -> None:
        """Raise when a watch was lost for good: what happened since would be missing from the record."""
        for follower in self.followers:
            if follower.error:
                raise follower.error


@contextlib.contextmanager
def observing(cluster: Cluster, record: RecordWriter, start: float, schedulers: Iterable[str]) -> Iterator[Observation]:
    """Observe until the context ends; what exists already is seen when this returns.

    Args:
        cluster: whose objects are followed; what the cluster itself is made of is left out.
        record: where every change is written.
        start: the clock's time that counts as zero.
        schedulers: the names of the schedulers that run, to tell which pods nobody will look at.
    """
    live = Live(schedulers)
    followers = tuple(_followers(cluster, record, live, start))
    with contextlib.ExitStack() as stack:
        # Entered in parallel: each one costs a round trip for its list and one for its watch.
        with ThreadPoolExecutor(len(followers)) as pool:
            entered = [pool.submit(follower.__enter__) for follower in followers]
        for follower, result in zip(followers, entered, strict=True):
            if result.exception() is None:
                stack.callback(follower.__exit__)
        for result in entered:
            result.result()
        yield Observation(live, followers)


def _followers(cluster: Cluster, record: RecordWriter, live: Live, start: float) -> Iterator[Follower]:
    def follow(
        path: str,
        stream: str,
        line: Callable[[Change, float], dict[str, Any]],
        take_in: Callable[[dict[str, Any]], None] | None,
    ) -> Follower:
        def on_change(change: Change) -> None:
            if cluster.is_own(change.item):
                return
            seen = line(change, change.arrived - start)
            # Written before it is acted on: what a verdict rests on is in the record whatever happens next.
            record.append(stream, seen)
            if take_in:
                take_in(seen)

        return Follower(cluster.kube, path, on_change)

    yield follow("/api/v1/nodes", "nodes", lines.node, live.node)
    yield follow("/api/v1/pods", "pods", lines.pod, live.pod)
    yield follow("/api/v1/events", "events", lines.event, None)
    for kind, path in WORKLOADS.items():
        yield follow(path, "workloads", functools.partial(lines.workload, kind=kind), live.workload)
