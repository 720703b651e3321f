from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.cluster.base import Cluster
from harness.errors import ApiError, StepError
from harness.kube import Object, names
from harness.observe.live import Live
from harness.run.settle import Settled
from harness.run.steps import PARALLEL_FROM, carry_out
from harness.scenario.model import Scenario
from harness.scenario.nodes import NodeGroup
from harness.testing import FakeCluster, FakeKube
from tests.unit.run.given import scenario, stage, view

NODES = "/api/v1/nodes"
PODS = "/api/v1/namespaces/default/pods"


class Bench:
    """A fake cluster, the view of it, and a way to carry out one step at a time."""

    def __init__(self, folder: Path, kube: FakeKube | None = None) -> None:
        self.cluster = FakeCluster(folder, kube=kube)
        self.kube = self.cluster.kube
        self.live = view(self.kube)

    def do(self, made: Scenario | None = None, seed: int = 0, **step: Any) -> dict[str, Any]:
        made = made or scenario(step)
        return carry_out(made.steps[0], stage(self.cluster, self.live, made, seed=seed))

    def nodes(self, count: int, **group: Any) -> None:
        self.cluster.add_nodes(NodeGroup.model_validate({"count": count, **group}).expand())

    def pod(self, name: str, node: str | None = None, owner: str | None = None, **labels: str) -> None:
        owners = [{"kind": owner, "name": "o", "uid": "o", "controller": True}] if owner else []
        metadata = {"name": name, "labels": labels, "ownerReferences": owners}
        spec = {"nodeName": node} if node else {}
        self.kube.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})

    def node(self, name: str = "node-1") -> Object:
        found: Object = self.kube.request("GET", f"{NODES}/{name}")
        return found

    def pods(self) -> list[str]:
        return names(self.kube.items(PODS))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_create_makes_the_objects_it_is_given_in_order(bench: Bench) -> None:
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "own"}}
    assert bench.do(op="create", objects=[account, config]) == {"created": ["ServiceAccount/a", "ConfigMap/c"]}
    assert names(bench.kube.items("/api/v1/namespaces/own/configmaps")) == ["c"]


def test_create_fills_parameters_into_a_manifest(bench: Bench) -> None:
    manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: $replicas}\n"
    made = scenario({"op": "create", "file": "web.yaml"}, manifests={"web.yaml": manifest}, parameters={"replicas": 7})
    bench.do(made)
    (deployment,) = bench.kube.items("/apis/apps/v1/deployments")
    assert deployment["spec"]["replicas"] == 7


def test_create_of_an_unknown_kind_is_refused_by_the_server(bench: Bench) -> None:
    with pytest.raises(ApiError, match=r"the server knows no example\.com/v1 Gadget"):
        bench.do(op="create", objects=[{"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "g"}}])


def test_create_pods_counts_names_and_merges_the_spec_over_a_pause_pod(bench: Bench) -> None:
    bench.do(
        op="createPods",
        count=2,
        name="web-{index}",
        labels={"app": "web"},
        requests={"cpu": "1", "nvidia.com/gpu": "2"},
        spec={"schedulerName": "mine", "nodeSelector": {"zone": "a"}},
    )
    assert bench.pods() == ["web-1", "web-2"]
    made = bench.kube.items(PODS)[0]
    (container,) = made["spec"]["containers"]
    assert container["resources"]["requests"] == {"cpu": "1", "nvidia.com/gpu": "2"}
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "2"}
    assert made["spec"]["schedulerName"] == "mine"
    assert made["metadata"]["labels"] == {"app": "web"}


def test_few_pods_are_created_in_their_order_and_many_all_the_same(bench: Bench) -> None:
    bench.do(op="createPods", count=12)
    assert bench.pods() == [f"pod-{index}" for index in range(1, 13)]
    bench.do(op="createPods", count=PARALLEL_FROM, name="many-{index}")
    assert len(bench.pods()) == 12 + PARALLEL_FROM


def test_scale_changes_the_replicas_and_nothing_else(bench: Bench) -> None:
    spec = {"replicas": 1, "paused": True}
    bench.kube.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec})
    bench.do(op="scale", name="web", replicas=5)
    assert bench.kube.items("/apis/apps/v1/deployments")[0]["spec"] == {"replicas": 5, "paused": True}
    with pytest.raises(ApiError, match="404"):
        bench.do(op="scale", name="nobody", replicas=5)


def test_delete_by_name_wants_it_to_be_there(bench: Bench) -> None:
    bench.pod("a")
    assert bench.do(op="delete", kind="Pod", name="a") == {"deleted": ["a"]}
    assert bench.pods() == []
    with pytest.raises(ApiError, match="404"):
        bench.do(op="delete", kind="Pod", name="a")


def test_delete_by_selector_wants_a_match(bench: Bench) -> None:
    for name, app in (("a", "web"), ("b", "db"), ("c", "web")):
        bench.pod(name, app=app)
    assert bench.do(op="delete", kind="Pod", selector="app=web") == {"deleted": ["a", "c"]}
    assert bench.pods() == ["b"]
    with pytest.raises(StepError, match='no Pod in namespace "default" matches "app=web"'):
        bench.do(op="delete", kind="Pod", selector="app=web")


def test_nodes_are_added(bench: Bench) -> None:
    assert bench.do(op="addNodes", nodes=[{"count": 2}, {"name": "big", "cpu": 64}]) == {
        "nodes": ["node-1", "node-2", "big"]
    }
    assert bench.node("big")["status"]["capacity"]["cpu"] == "64"


def test_a_cluster_of_real_nodes_cannot_be_given_more(bench: Bench) -> None:
    real: Any = SimpleNamespace(name="kind-1", kube=bench.kube)
    cluster: Cluster = real
    made = scenario({"op": "addNodes", "nodes": [{}]})
    with pytest.raises(StepError, match='cluster "kind-1" has real nodes'):
        carry_out(made.steps[0], stage(cluster, Live(), made))


def test_a_removed_node_takes_its_pods_along(bench: Bench) -> None:
    bench.nodes(2)
    bench.pod("on-1", "node-1")
    bench.pod("on-2", "node-2")
    assert bench.do(op="removeNodes", names=["node-1"]) == {"nodes": ["node-1"], "pods": ["on-1"]}
    assert bench.pods() == ["on-2"]
    assert names(bench.kube.items(NODES)) == ["node-2"]


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"names": ["node-1", "nowhere"]}, "no such node: nowhere; there are: node-1, node-2"),
        ({"selector": "zone=b"}, 'no node matches "zone=b"; there are: node-1, node-2'),
    ],
)
@pytest.mark.parametrize("op", ["removeNodes", "drain"])
def test_nodes_that_are_not_there_are_refused_with_those_that_are(
    bench: Bench, op: str, choice: dict[str, Any], message: str
) -> None:
    bench.nodes(2)
    with pytest.raises(StepError, match=message):
        bench.do(op=op, **choice)


def test_nodes_are_chosen_by_selector(bench: Bench) -> None:
    bench.nodes(2, labels={"zone": "z{index}"})
    assert bench.do(op="updateNodes", selector="zone in (z2)", cordon=True) == {"nodes": ["node-2"]}
    assert bench.node("node-2")["spec"]["unschedulable"] is True
    assert "unschedulable" not in bench.node("node-1")["spec"]


def test_labels_are_set_and_removed(bench: Bench) -> None:
    bench.nodes(1, labels={"old": "1", "kept": "1"})
    bench.do(op="updateNodes", names=["node-1"], labels={"old": None, "new": "2"})
    labels = bench.node()["metadata"]["labels"]
    assert "old" not in labels
    assert (labels["kept"], labels["new"]) == ("1", "2")


def test_taints_are_added_replaced_and_removed_and_the_others_kept(bench: Bench) -> None:
    taints = [{"key": key, "value": "1", "effect": "NoSchedule"} for key in ("kept", "changed", "gone")]
    bench.nodes(1, taints=taints)
    added = [{"key": "changed", "value": "2", "effect": "NoExecute"}]
    bench.do(op="updateNodes", names=["node-1"], addTaints=added, removeTaints=["gone"])
    assert bench.node()["spec"]["taints"] == [taints[0], *added]


def test_capacity_is_changed_in_the_status(bench: Bench) -> None:
    bench.nodes(1)
    bench.do(op="updateNodes", names=["node-1"], capacity={"cpu": "8"})
    assert bench.node()["status"]["allocatable"] == {"cpu": "8", "memory": "16Gi", "pods": "110"}
    assert ("PATCH", f"{NODES}/node-1/status") in bench.kube.requests


class Contended(FakeKube):
    """A server on which a controller changes a node's taints just before ours arrive, once."""

    interfered = False

    def request(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, **more: Any) -> Any:
        if method == "PATCH" and "taints" in more["body"].get("spec", {}) and not self.interfered:
            self.interfered = True
            taint = {"key": "controllers-own", "effect": "NoSchedule"}
            super().request("PATCH", path, body={"spec": {"taints": [taint]}})
        return super().request(method, path, query=query, **more)


def test_a_change_by_somebody_else_meanwhile_is_not_lost(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Contended())
    bench.nodes(1)
    bench.do(op="updateNodes", names=["node-1"], addTaints=[{"key": "ours", "effect": "NoSchedule"}])
    assert [taint["key"] for taint in bench.node()["spec"]["taints"]] == ["controllers-own", "ours"]


def test_a_drain_cordons_and_evicts_all_but_daemon_pods(bench: Bench) -> None:
    bench.nodes(2)
    bench.pod("web", "node-1", "ReplicaSet")
    bench.pod("agent", "node-1", "DaemonSet")
    bench.pod("other", "node-2")
    assert bench.do(op="drain", names=["node-1"]) == {"nodes": ["node-1"], "pods": ["web"]}
    assert bench.node()["spec"]["unschedulable"] is True
    assert ("POST", f"{PODS}/web/eviction") in bench.kube.requests
    assert bench.pods() == ["agent", "other"]


class Refusing(FakeKube):
    """A server that refuses evictions with a status."""

    status = 429

    def request(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, **more: Any) -> Any:
        if path.endswith("/eviction"):
            raise ApiError(method, path, self.status, "the disruption budget needs 1 healthy pod")
        return super().request(method, path, query=query, **more)


@pytest.mark.parametrize(
    ("status", "error"), [(429, "drain: pod web may not be evicted: .*disruption budget"), (500, "500"), (404, None)]
)
def test_a_refused_eviction_is_told_and_a_pod_that_is_gone_is_fine(
    tmp_path: Path, status: int, error: str | None
) -> None:
    kube = Refusing()
    kube.status = status
    bench = Bench(tmp_path, kube)
    bench.nodes(1)
    bench.pod("web", "node-1")
    if error is None:
        bench.do(op="drain", names=["node-1"])
        return
    with pytest.raises((StepError, ApiError), match=error):
        bench.do(op="drain", names=["node-1"])


def churned(folder: Path, seed: int) -> list[list[str]]:
    folder.mkdir()
    bench = Bench(folder)
    for number in range(9, 0, -1):
        bench.pod(f"p{number}", app="web")
    bench.pod("spared", app="db")
    detail = bench.do(seed=seed, op="churn", selector="app=web", count=2, rounds=3)
    assert "spared" in bench.pods()
    assert len(bench.pods()) == 4
    return [one["deleted"] for one in detail["rounds"]]


def test_churn_deletes_what_the_seed_says(tmp_path: Path) -> None:
    first = churned(tmp_path / "1", seed=1)
    assert first == churned(tmp_path / "2", seed=1)
    assert first != churned(tmp_path / "3", seed=2)
    assert [len(names) for names in first] == [2, 2, 2]


def test_churn_needs_enough_pods(bench: Bench) -> None:
    bench.pod("only", app="web")
    with pytest.raises(StepError, match='churn: round 1: 1 pods match "app=web", 2 are to be deleted'):
        bench.do(op="churn", selector="app=web", count=2, rounds=1)


def test_churn_stops_when_it_does_not_settle(bench: Bench) -> None:
    for name in ("a", "b"):
        bench.pod(name)
    made = scenario({"op": "churn", "count": 1, "rounds": 2})
    on = stage(bench.cluster, bench.live, made, settle=lambda seconds: Settled(seconds, ("pod x: moves",)))
    detail = carry_out(made.steps[0], on)
    assert len(detail["rounds"]) == 1
    assert detail["moving"] == ["pod x: moves"]


@pytest.mark.parametrize(("own", "waited"), [({"timeoutSeconds": 5}, 5), ({}, 30)])
def test_settle_has_its_own_deadline_or_the_scenarios(bench: Bench, own: dict[str, int], waited: int) -> None:
    asked: list[float] = []

    def settle(seconds: float) -> Settled:
        asked.append(seconds)
        return Settled(1.5)

    made = scenario({"op": "settle", **own}, timeoutSeconds=30)
    detail = carry_out(made.steps[0], stage(bench.cluster, bench.live, made, settle=settle))
    assert detail == {"seconds": 1.5, "moving": []}
    assert asked == [waited]


def test_what_is_no_step_is_refused(bench: Bench) -> None:
    with pytest.raises(StepError, match="str: no such step"):
        carry_out("jump", stage(bench.cluster, bench.live, scenario({"op": "settle"})))
