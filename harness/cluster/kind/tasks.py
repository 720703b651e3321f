"""Runs programs that come to an end, each in a pod of its own, and hands over what they wrote."""

import contextlib
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from harness.cluster.kind.config import CONTROL_PLANE, MOUNT
from harness.cluster.kind.pods import NAMESPACE, OwnPods, trouble
from harness.cluster.kind.tools import docker
from harness.errors import ApiError, ClusterError
from harness.kube import Kube, Object

OUT = "/out"
ADDRESS_VARIABLE = "POD_IP"
START_SECONDS = 180.0
STOP_SECONDS = 20
SAID_LINES = 12
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"

Furnish = Callable[[Sequence[Object]], AbstractContextManager[None]]
Seen = TypeVar("Seen")


@dataclass(frozen=True)
class Room:
    """Where tasks run: a cluster, the container of its control plane, and the folder that both share with us."""

    kube: Kube
    pods: OwnPods
    furnish: Furnish
    container: str
    shared: Path


class Tasks:
    """Pods that share a folder: what they write to /out is in `folder`. They go with the context that made this."""

    def __init__(self, room: Room, image: str, seconds: float, stack: contextlib.ExitStack) -> None:
        self._room = room
        self._image = image
        self._seconds = seconds
        self._stack = stack
        self._names: list[str] = []
        self._token = secrets.token_hex(4)
        # Who owns the folder here may be somebody else inside: a program that writes as them leaves nothing of root's.
        self._user = int(docker("exec", room.container, "stat", "--format=%u", MOUNT))
        self.folder = room.shared / f"task-{self._token}"
        self.folder.mkdir(mode=0o700)
        stack.callback(shutil.rmtree, self.folder, ignore_errors=True)

    def start(self, name: str, env: Mapping[str, str]) -> None:
        """Start a task."""
        self._stack.enter_context(self._room.furnish([self._pod(name, env)]))
        self._names.append(name)

    def address(self, name: str) -> str:
        """Return the address of a task's pod as soon as it has one.

        Raises:
            ClusterError: a task does not come up, or failed.
        """
        return self._seen(name, _address, f"an address of {self._called(name)}", START_SECONDS)

    def wait(self, name: str) -> int:
        """Return the exit code of a task when it has ended; it is ended when its time is up.

        Raises:
            ClusterError: a task does not come up, or another one failed meanwhile.
        """
        return self._seen(name, _exit_code, f"the end of {self._called(name)}", self._seconds + START_SECONDS)

    def stop(self, name: str) -> None:
        """Ask a task to end, and return when its pod is gone."""
        called = self._called(name)
        with contextlib.suppress(ClusterError, ApiError):
            self._room.kube.delete(f"{PODS}/{called}", grace_seconds=STOP_SECONDS)
            self._room.pods.wait(lambda pods: called not in pods, f"the end of {called}", 2 * STOP_SECONDS)

    def log(self, name: str) -> str:
        """Return what a task printed, or why that cannot be told."""
        try:
            return self._room.kube.text(f"{PODS}/{self._called(name)}/log")
        except (ApiError, ClusterError) as error:
            return f"(no log: {error})"

    def _seen(self, name: str, wanted: Callable[[Object], Seen | None], what: str, seconds: float) -> Seen:
        """Return what is wanted of a task's pod as soon as it is there."""
        found: list[Seen] = []

        def is_met(pods: Mapping[str, Object]) -> bool:
            value = wanted(pods.get(self._called(name), {}))
            if value is not None:
                found.append(value)
                return True
            for one in self._names:
                if why := _failure(pods.get(self._called(one), {})):
                    said = "\n".join(self.log(one).splitlines()[-SAID_LINES:])
                    raise ClusterError(f"{self._called(one)}: {why}\n{said}")
            return False

        self._room.pods.wait(is_met, what, seconds)
        return found[0]

    def _called(self, name: str) -> str:
        return f"task-{self._token}-{name}"

    def _pod(self, name: str, env: Mapping[str, str]) -> Object:
        address = {"name": ADDRESS_VARIABLE, "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
        container = {
            "name": "task",
            "image": self._image,
            "imagePullPolicy": "Never",
            "env": [address, *({"name": key, "value": value} for key, value in env.items())],
            "volumeMounts": [{"name": "out", "mountPath": OUT}],
            "securityContext": {"allowPrivilegeEscalation": False},
        }
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": self._called(name), "namespace": NAMESPACE},
            "spec": {
                # Also when nobody is left who would delete it.
                "activeDeadlineSeconds": max(1, round(self._seconds)),
                "restartPolicy": "Never",
                "nodeName": CONTROL_PLANE,
                "tolerations": [{"operator": "Exists"}],
                "automountServiceAccountToken": False,
                "enableServiceLinks": False,
                "securityContext": {"runAsUser": self._user, "runAsGroup": self._user},
                "containers": [container],
                "volumes": [{"name": "out", "hostPath": {"path": f"{MOUNT}/{self.folder.name}", "type": "Directory"}}],
            },
        }


@contextlib.contextmanager
def tasks(room: Room, image: str, seconds: float) -> Iterator[Tasks]:
    """Yield what runs an image in pods; none of them lives longer than `seconds`, or than the context."""
    with contextlib.ExitStack() as stack:
        yield Tasks(room, image, seconds, stack)


def _address(pod: Object) -> str | None:
    return pod.get("status", {}).get("podIP") or None


def _failure(pod: Object) -> str | None:
    """Say what keeps a pod from running, or that it ended badly; one that came to its end did not fail."""
    return None if _exit_code(pod) == 0 else trouble(pod)


def _exit_code(pod: Object) -> int | None:
    status = pod.get("status", {})
    for container in status.get("containerStatuses") or ():
        if ended := container.get("state", {}).get("terminated"):
            return int(ended["exitCode"])
    # Ended by its deadline, perhaps before a container was there.
    return 1 if status.get("phase") == "Failed" else None
