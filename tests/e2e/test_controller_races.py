"""What happens between a decision of the controller and its Binding, at that very moment, on a real server."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from harness.clock import wait_until
from harness.cluster.embedded.cluster import EmbeddedCluster
from harness.controller.policies import LeastLoaded
from harness.controller.scheduler import Controller
from harness.kube import Kube
from harness.scenario.nodes import NodeGroup
from tests.processes import PATIENCE_SECONDS

pytestmark = [pytest.mark.embedded, pytest.mark.controller]

NAME = "raced"
POD = "/api/v1/namespaces/default/pods/it"


class Between(Kube):
    """A connection on which something happens just before the first Binding is sent."""

    happens: Callable[[], None] | None = None

    def request(self, method: str, path: str, **more: Any) -> Any:
        if path.endswith("/binding") and self.happens:
            happens, self.happens = self.happens, None
            happens()
        return super().request(method, path, **more)


@pytest.fixture
def cluster(shared: EmbeddedCluster) -> Iterator[EmbeddedCluster]:
    shared.add_nodes(NodeGroup.model_validate({"count": 2, "name": "node-{index}"}).expand())
    yield shared
    shared.reset()


@contextlib.contextmanager
def racing(cluster: EmbeddedCluster, happens: Callable[[Controller], None]) -> Iterator[tuple[Controller, list[str]]]:
    """Let a controller decide about a pod, and something happen before it binds it."""
    kube = Between.connect(cluster.scheduler_kubeconfig)
    assert isinstance(kube, Between)
    said: list[str] = []
    controller = Controller(kube, NAME, LeastLoaded(), said.append)
    kube.happens = lambda: happens(controller)
    controller.start()
    try:
        create(cluster.kube, "it")
        yield controller, said
    finally:
        controller.stop()
        kube.close()


def create(kube: Kube, name: str) -> None:
    spec = {"schedulerName": NAME, "containers": [{"name": "pause", "image": "pause"}]}
    kube.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})


def until(check: Callable[[], object], what: str) -> None:
    wait_until(lambda: bool(check()), what=what, timeout_seconds=2 * PATIENCE_SECONDS)


def bind(kube: Kube, node: str) -> None:
    target: Mapping[str, str] = {"apiVersion": "v1", "kind": "Node", "name": node}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "it"}, "target": target}
    kube.request("POST", f"{POD}/binding", body=body)


def goes_on(cluster: EmbeddedCluster) -> None:
    """Prove that a race was survived: the next pod is bound."""
    create(cluster.kube, "next")
    path = "/api/v1/namespaces/default/pods/next"
    until(lambda: cluster.kube.request("GET", path)["spec"].get("nodeName"), "the next pod being bound")


def test_a_pod_that_goes_before_its_binding_is_let_go(cluster: EmbeddedCluster) -> None:
    with racing(cluster, lambda _: cluster.kube.delete(POD, grace_seconds=0)) as (_, said):
        until(lambda: "default/it: was deleted in between (pod_deleted)" in said, "the race being told")
        goes_on(cluster)


def test_a_pod_that_somebody_else_bound_stays_there(cluster: EmbeddedCluster) -> None:
    with racing(cluster, lambda _: bind(cluster.kube, "node-2")) as (_, said):
        until(lambda: any("(bound_elsewhere)" in line for line in said), "the race being told")
        # node-1 was decided; a second Binding must not move it there.
        assert cluster.kube.request("GET", POD)["spec"]["nodeName"] == "node-2"
        goes_on(cluster)


def test_a_node_that_goes_before_the_binding_costs_its_pod_and_is_told(cluster: EmbeddedCluster) -> None:
    """The API server does not look whether the node is there, so only the controller can tell."""

    def gone(controller: Controller) -> None:
        cluster.kube.delete("/api/v1/nodes/node-1")
        until(lambda: not controller.state.has_node("node-1"), "the controller hearing of it")

    with racing(cluster, gone) as (_, said):
        until(lambda: any("(node_gone_after)" in line for line in said), "the race being told")
        assert cluster.kube.request("GET", POD)["spec"]["nodeName"] == "node-1"
        goes_on(cluster)
        assert cluster.kube.request("GET", "/api/v1/namespaces/default/pods/next")["spec"]["nodeName"] == "node-2"
