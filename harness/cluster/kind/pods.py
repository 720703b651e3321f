"""Follows the cluster's own pods: whether a scheduler that was asked for is there, and whether it still lives."""

import threading
from collections.abc import Callable, Mapping
from typing import Self

from harness.clock import SYSTEM
from harness.cluster.follow import Change, Follower
from harness.errors import ClusterError
from harness.kube import Kube, Object
from harness.record import pulling

NAMESPACE = "kube-system"
CHECK_SECONDS = 0.25


class OwnPods:
    """Every pod of the cluster's own namespace, as it is now. A context manager."""

    def __init__(self, kube: Kube, check: Callable[[], None]) -> None:
        self._check = check
        self._changed = threading.Condition()
        self._pods: dict[str, Object] = {}
        self._follower = Follower(kube, f"/api/v1/namespaces/{NAMESPACE}/pods", self._take)

    def __enter__(self) -> Self:
        self._follower.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._follower.__exit__()

    def now(self) -> Mapping[str, Object]:
        """Return the pods by name."""
        with self._changed:
            return dict(self._pods)

    def wait(self, met: Callable[[Mapping[str, Object]], bool], what: str, timeout_seconds: float) -> None:
        """Return as soon as the pods are as wanted.

        Raises:
            ClusterError: they are not at the deadline, or a part of the cluster is gone.
        """
        end = SYSTEM.now() + timeout_seconds
        while True:
            # Not under the lock: what is asked for may take a request, and news must come in meanwhile.
            if met(self.now()):
                return
            with self._changed:
                self._changed.wait(CHECK_SECONDS)
            self._check()
            if self._follower.error:
                raise self._follower.error
            if SYSTEM.now() > end:
                raise ClusterError(f"{what}: not seen within {timeout_seconds:.0f} s; there are: {self._told()}")

    def _take(self, change: Change) -> None:
        name = change.item["metadata"]["name"]
        with self._changed:
            if change.event == "DELETED":
                self._pods.pop(name, None)
            else:
                self._pods[name] = change.item
            self._changed.notify_all()

    def _told(self) -> str:
        return "; ".join(f"{name} {trouble(pod) or pod['status'].get('phase')}" for name, pod in self.now().items())


def trouble(pod: Object) -> str | None:
    """Say what keeps a pod's containers from running, if something does."""
    for container in pod.get("status", {}).get("containerStatuses") or ():
        state = container.get("state", {})
        if waiting := state.get("waiting"):
            if waiting.get("reason") not in {"ContainerCreating", "PodInitializing"}:
                pull = pulling.in_status(pod["status"])
                return pull.sentence() if pull else f"{waiting.get('reason')}: {waiting.get('message', '')}"
        elif ended := state.get("terminated"):
            return f"ended with code {ended.get('exitCode')} ({ended.get('reason')})"
    return None


def restarts(pod: Object) -> int:
    """Return how often containers of a pod were started again."""
    return sum(one.get("restartCount", 0) for one in pod.get("status", {}).get("containerStatuses") or ())


def runs(pod: Object, container: str) -> bool:
    """Return whether a container of a pod runs."""
    statuses = pod.get("status", {}).get("containerStatuses") or ()
    return any(one["name"] == container and "running" in one.get("state", {}) for one in statuses)
