from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.cluster.base import Cluster
from harness.errors import ApiError, StepError
from harness.kube import names
from harness.observe.live import Live
from harness.run.steps import carry_out
from harness.testing import FakeKube
from tests.unit.run.given import NODES, PODS, StepBench, scenario, stage


@pytest.fixture
def bench(tmp_path: Path) -> StepBench:
    return StepBench(tmp_path)


def test_nodes_are_added(bench: StepBench) -> None:
    assert bench.do(op="addNodes", nodes=[{"count": 2}, {"name": "big", "cpu": 64}]) == {
        "nodes": ["node-1", "node-2", "big"],
        "warnings": [],
    }
    assert bench.node("big")["status"]["capacity"]["cpu"] == "64"


def test_a_cluster_of_real_nodes_cannot_be_given_more(bench: StepBench) -> None:
    real: Any = SimpleNamespace(name="kind-1", kube=bench.kube)
    cluster: Cluster = real
    made = scenario({"op": "addNodes", "nodes": [{}]})
    with pytest.raises(StepError, match='cluster "kind-1" has real nodes'):
        carry_out(made.steps[0], stage(cluster, Live(), made))


def test_a_removed_node_takes_its_pods_along(bench: StepBench) -> None:
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
    bench: StepBench, op: str, choice: dict[str, Any], message: str
) -> None:
    bench.nodes(2)
    with pytest.raises(StepError, match=message):
        bench.do(op=op, **choice)


def test_nodes_are_chosen_by_selector(bench: StepBench) -> None:
    bench.nodes(2, labels={"zone": "z{index}"})
    assert bench.do(op="updateNodes", selector="zone in (z2)", cordon=True) == {"nodes": ["node-2"]}
    assert bench.node("node-2")["spec"]["unschedulable"] is True
    assert "unschedulable" not in bench.node("node-1")["spec"]


def test_labels_are_set_and_removed(bench: StepBench) -> None:
    bench.nodes(1, labels={"old": "1", "kept": "1"})
    bench.do(op="updateNodes", names=["node-1"], labels={"old": None, "new": "2"})
    labels = bench.node()["metadata"]["labels"]
    assert "old" not in labels
    assert (labels["kept"], labels["new"]) == ("1", "2")


def test_taints_are_added_replaced_and_removed_and_the_others_kept(bench: StepBench) -> None:
    taints = [{"key": key, "value": "1", "effect": "NoSchedule"} for key in ("kept", "changed", "gone")]
    bench.nodes(1, taints=taints)
    added = [{"key": "changed", "value": "2", "effect": "NoExecute"}]
    bench.do(op="updateNodes", names=["node-1"], addTaints=added, removeTaints=["gone"])
    assert bench.node()["spec"]["taints"] == [taints[0], *added]


def test_capacity_is_changed_in_the_status(bench: StepBench) -> None:
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
    bench = StepBench(tmp_path, Contended())
    bench.nodes(1)
    bench.do(op="updateNodes", names=["node-1"], addTaints=[{"key": "ours", "effect": "NoSchedule"}])
    assert [taint["key"] for taint in bench.node()["spec"]["taints"]] == ["controllers-own", "ours"]


def test_a_drain_cordons_and_evicts_all_but_daemon_pods(bench: StepBench) -> None:
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
    bench = StepBench(tmp_path, kube)
    bench.nodes(1)
    bench.pod("web", "node-1")
    if error is None:
        bench.do(op="drain", names=["node-1"])
        return
    with pytest.raises((StepError, ApiError), match=error):
        bench.do(op="drain", names=["node-1"])
