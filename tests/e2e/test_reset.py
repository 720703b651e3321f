"""Emptying a cluster between runs: complete, repeatable, and much cheaper than a new one."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from harness.clock import SYSTEM, wait_until
from harness.cluster.base import Cluster, ClusterSpec, PlaysNodes
from harness.cluster.registry import provider
from harness.errors import ApiError
from harness.kube import Kube
from harness.scenario.nodes import NodeGroup
from harness.variant.registry import variant
from tests.processes import PATIENCE_SECONDS

pytestmark = [pytest.mark.embedded, pytest.mark.xdist_group("reset")]

REPLICAS = 10
LABELS = {"app": "web"}
CUSTOM = "/apis/example.com/v1/widgets"
CONTAINERS = [{"name": "pause", "image": "registry.k8s.io/pause:3.10"}]
WIDGETS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        ],
    },
}


@dataclass(frozen=True)
class Timed:
    """A cluster with a scheduler, and how long it took until it was ready."""

    cluster: Cluster
    ready_seconds: float


@pytest.fixture(scope="module")
def new() -> Iterator[Timed]:
    start = SYSTEM.now()
    with provider("embedded").cluster(ClusterSpec()) as cluster, variant("default").install(cluster):
        yield Timed(cluster, SYSTEM.now() - start)


def everything(kube: Kube) -> set[str]:
    """Return what a cluster holds of all that tests create, without what it writes about itself."""
    found = set()
    for resource in list(kube.resources().values()):
        if "list" in resource.verbs and resource.plural not in {"events", "leases", "componentstatuses"}:
            for item in kube.items(resource.path()):
                metadata = item["metadata"]
                found.add(f"{resource.plural} {metadata.get('namespace', '')}/{metadata['name']}")
    return found


def deployment(replicas: int) -> dict[str, Any]:
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": CONTAINERS}}
    return {"spec": {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": template}}


def await_running(kube: Kube, count: int) -> None:
    def running() -> bool:
        phases = [pod["status"].get("phase") for pod in kube.items("/api/v1/pods")]
        return phases.count("Running") >= count

    wait_until(running, what=f"{count} running pods", timeout_seconds=PATIENCE_SECONDS)


def make(kube: Kube, kind: str, api_version: str, namespace: str = "default", **more: Any) -> None:
    kube.create({"apiVersion": api_version, "kind": kind, "metadata": {"name": "web"}, **more}, namespace)


def fill(cluster: Cluster, replicas: int) -> None:
    """Create nodes and a Deployment, and wait until its pods run."""
    assert isinstance(cluster, PlaysNodes)
    cluster.add_nodes(NodeGroup(count=3).expand())
    make(cluster.kube, "Deployment", "apps/v1", **deployment(replicas))
    await_running(cluster.kube, replicas)


def fill_with_everything(kube: Kube) -> None:
    """Create something of every kind that a scenario may use, also in a namespace of its own."""
    kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mine"}})
    accounts = "/api/v1/namespaces/mine/serviceaccounts"
    wait_until(lambda: kube.items(accounts), what="its service account", timeout_seconds=PATIENCE_SECONDS)
    budget = {"minAvailable": 1, "selector": {"matchLabels": LABELS}}
    job = {"template": {"spec": {"restartPolicy": "Never", "containers": CONTAINERS}}}
    for namespace in ("default", "mine"):
        make(kube, "StatefulSet", "apps/v1", namespace, spec={**deployment(1)["spec"], "serviceName": "web"})
        make(kube, "Job", "batch/v1", namespace, spec=job)
        make(kube, "ConfigMap", "v1", namespace, data={"a": "b"})
        make(kube, "ServiceAccount", "v1", namespace)
        make(kube, "Service", "v1", namespace, spec={"selector": LABELS, "ports": [{"port": 80}]})
        make(kube, "PodDisruptionBudget", "policy/v1", namespace, spec=budget)
    make(kube, "Deployment", "apps/v1", "mine", **deployment(REPLICAS))
    make(kube, "PriorityClass", "scheduling.k8s.io/v1", value=9)
    await_running(kube, 2 * REPLICAS)


def test_everything_is_gone_every_time(new: Timed) -> None:
    kube = new.cluster.kube
    before = everything(kube)
    for _ in range(2):
        fill(new.cluster, REPLICAS)
        fill_with_everything(kube)
        assert len(everything(kube) - before) > 2 * REPLICAS
        new.cluster.reset()
        assert everything(kube) == before


def test_it_is_much_cheaper_than_a_new_cluster(new: Timed) -> None:
    """Measured in the same minute on the same machine; the quickest of several, because others work here too."""
    costs = []
    for _ in range(5):
        fill(new.cluster, 2 * REPLICAS)
        start = SYSTEM.now()
        new.cluster.reset()
        costs.append(SYSTEM.now() - start)
    assert min(costs) < new.ready_seconds / 2, f"resets took {costs}, a new cluster {new.ready_seconds:.2f} s"


def test_kinds_of_the_users_own_are_known_once_defined_and_emptied_too(new: Timed) -> None:
    kube = new.cluster.kube
    kube.create(WIDGETS)
    wait_until(lambda: kube.knows("Widget", "example.com/v1"), what="the new kind", timeout_seconds=PATIENCE_SECONDS)
    kube.create({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}})
    new.cluster.reset()
    assert kube.items("/apis/apiextensions.k8s.io/v1/customresourcedefinitions") == []
    with pytest.raises(ApiError, match="404"):
        kube.items(CUSTOM)
