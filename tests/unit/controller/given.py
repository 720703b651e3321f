"""An API server in memory that binds as the real one does, and pods and nodes to put there."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from harness.clock import wait_until
from harness.controller.fit import Pod, Room
from harness.controller.policies import LeastLoaded, Policy
from harness.controller.scheduler import Controller
from harness.errors import ApiError
from harness.kube import CONFLICT, Object
from harness.scenario.amounts import amounts
from harness.testing import FakeKube
from tests.processes import PATIENCE_SECONDS

NAME = "mine"


def node_item(
    name: str = "a", *, cpu: str = "4", pods: int = 110, labels: dict[str, str] | None = None, **spec: Any
) -> Object:
    allocatable = {"cpu": cpu, "memory": "8Gi", "pods": str(pods)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": spec,
        "status": {"allocatable": allocatable},
    }


def pod_item(name: str = "web", *, cpu: str | None = None, scheduler: str = NAME, **spec: Any) -> Object:
    requests = {"cpu": cpu} if cpu else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "schedulerName": scheduler,
            "containers": [{"name": "c", "resources": {"requests": requests}}],
            **spec,
        },
        "status": {"phase": "Pending"},
    }


def pod(name: str = "web", **more: Any) -> Pod:
    item = pod_item(name, **more)
    item["metadata"] |= {"uid": f"uid-{name}", "resourceVersion": "1"}
    return Pod.of(item)


def room(name: str = "a", taken: dict[str, str] | None = None, **more: Any) -> Room:
    return Room.of(node_item(name, **more), amounts(taken or {}))


class Api(FakeKube):
    """A fake API server; `before` is called with the method and path of every request, ahead of it."""

    def __init__(self) -> None:
        super().__init__()
        self.before: Callable[[str, str], None] = lambda method, path: None

    def request(self, method: str, path: str, **more: Any) -> Any:
        self.before(method, path)
        # The fake copies its answer after it has let go of its lock, and another thread may change the object then.
        with self._guard:
            if not path.endswith("/binding"):
                return super().request(method, path, **more)
            return self.bind(path.removesuffix("/binding"), more["body"])

    def bind(self, path: str, body: Object) -> Any:
        """Bind once, to anything, the right UID only."""
        with self._guard:
            return self._bind(path, body)

    def _bind(self, path: str, body: Object) -> Any:
        found = super().request("GET", path)
        if found["spec"].get("nodeName") or found["metadata"]["uid"] != body["metadata"]["uid"]:
            raise ApiError("POST", f"{path}/binding", CONFLICT, "the object has been modified")
        if "deletionTimestamp" in found["metadata"]:
            raise ApiError("POST", f"{path}/binding", CONFLICT, "pod is being deleted, cannot be assigned to a host")
        return super().request("PATCH", path, body={"spec": {"nodeName": body["target"]["name"]}})

    def add(self, *items: Object) -> None:
        for item in items:
            self.create(item)

    def pod(self, name: str = "web") -> Object:
        with self._guard:
            found: Object = super().request("GET", f"/api/v1/namespaces/default/pods/{name}")
        return found

    def nodes_of(self) -> dict[str, str]:
        """Return the node of every pod that has one."""
        return {
            item["metadata"]["name"]: item["spec"]["nodeName"]
            for item in self.items("/api/v1/pods")
            if item["spec"].get("nodeName")
        }

    def events(self, reason: str) -> list[Object]:
        return [item for item in self.items("/api/v1/events") if item["reason"] == reason]


class Running:
    """A controller at work, and what it said."""

    def __init__(self, controller: Controller, said: list[str]) -> None:
        self.controller = controller
        self.said = said

    def metric(self, series: str) -> float:
        lines = dict(line.rsplit(" ", 1) for line in self.controller.page().splitlines() if line[0] != "#")
        return float(lines[series])

    def races(self, kind: str) -> float:
        return self.metric(f'controller_races_total{{race="{kind}"}}')

    def attempts(self, result: str) -> float:
        return self.metric(f'scheduler_schedule_attempts_total{{profile="{NAME}",result="{result}"}}')

    def waiting(self, queue: str) -> float:
        return self.metric(f'scheduler_pending_pods{{queue="{queue}"}}')

    def has_said(self, text: str) -> bool:
        return any(text in line for line in self.said)


def until(check: Callable[[], object], what: str) -> None:
    wait_until(lambda: bool(check()), what=what, timeout_seconds=PATIENCE_SECONDS)


@contextlib.contextmanager
def running(api: Api, policy: Policy | None = None) -> Iterator[Running]:
    said: list[str] = []
    controller = Controller(api, NAME, policy or LeastLoaded(), said.append)
    controller.start()
    try:
        until(controller.began.is_set, "the controller's begin")
        yield Running(controller, said)
    finally:
        controller.stop()
