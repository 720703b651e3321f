from pathlib import Path
from typing import Any

import pytest

from harness.cluster.base import Borrowed, Cluster, ExistingSpec, HasScheduler, KeepsLogs, PlaysNodes, RunsSchedulers
from harness.cluster.embedded.supervisor import Supervisor
from harness.cluster.existing import empty
from harness.cluster.existing.cluster import ExistingCluster
from harness.errors import ClusterError, InputError
from harness.kube import Object
from harness.scenario.nodes import NodeGroup
from harness.testing import ClusterContract
from harness.variant.base import Installed
from harness.variant.registry import variant
from tests.unit.cluster.existing.world import DEFAULT, NAMES, World, node, pod

ACCOUNT: Object = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "mine", "namespace": "kube-system"},
}
RIGHTS: Object = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "mine"},
    "subjects": [{"kind": "ServiceAccount", "name": "mine", "namespace": "kube-system"}],
}
CLASS: Object = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}}


class Made:
    """Borrows the same world as often as a test likes."""

    def __init__(self, folder: Path) -> None:
        self.world = World()
        self.world.create(node("node-1"))
        self.world.create(pod("theirs"), "default")
        self._folder = folder
        self._count = 0

    def __call__(self, **allowed: Any) -> ExistingCluster:
        self._count += 1
        folder = self._folder / str(self._count)
        folder.mkdir()
        (folder / "kubeconfig").write_text("{}")

        def no_binaries() -> Any:
            raise AssertionError("nothing here may be built")

        return ExistingCluster(
            folder=folder,
            context="lab",
            kubeconfig=folder / "kubeconfig",
            whole=self.world,
            names=NAMES,
            versions={"kubernetes": "1.36.4"},
            allowed=ExistingSpec(**allowed),
            binaries=no_binaries,
            supervisor=Supervisor(None, folder / "logs"),
        )


@pytest.fixture
def borrow(tmp_path: Path) -> Made:
    return Made(tmp_path)


@pytest.mark.parametrize("promise", [one for one in ClusterContract.promises() if one != "shows_added_nodes"])
def test_it_keeps_the_promises_of_a_cluster(promise: str, borrow: Made) -> None:
    cluster: Cluster = borrow()
    getattr(ClusterContract(lambda: None), promise)(cluster)  # type: ignore[arg-type,return-value]


def test_it_has_the_abilities_that_later_stages_ask_for(borrow: Made) -> None:
    cluster = borrow()
    for ability in (Borrowed, HasScheduler, KeepsLogs, PlaysNodes, RunsSchedulers):
        assert isinstance(cluster, ability)


@pytest.mark.parametrize("allowed", [False, True])
def test_a_reset_leaves_what_was_there_before_and_nothing_else(borrow: Made, allowed: bool) -> None:
    cluster = borrow(allow_cluster_wide=allowed)
    before = borrow.world.held()
    for _ in range(2):
        cluster.kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
        cluster.kube.create(pod("mine"))
        cluster.kube.create(pod("mine"), "team")
        if allowed:
            cluster.kube.create(CLASS)
            cluster.kube.patch("/api/v1/nodes/node-1", {"spec": {"unschedulable": True}})
        cluster.reset()
        assert borrow.world.held() == before
        assert "unschedulable" not in borrow.world.request("GET", "/api/v1/nodes/node-1")["spec"]


def test_another_runs_namespaces_are_left_alone(borrow: Made) -> None:
    cluster = borrow()
    labels = {"scheduler-harness.io/run": "0123abcd"}
    for name, own in (("h-99999999-default", {"scheduler-harness.io/run": "99999999"}), ("copied", labels)):
        borrow.world.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": own}})
    before = borrow.world.held()
    cluster.kube.create(pod("mine"))
    assert cluster.end() == [f"namespace {DEFAULT}"]
    assert borrow.world.held() == before


def test_furniture_outlasts_resets_and_what_stands_beside_it_does_not(borrow: Made) -> None:
    cluster = borrow(allow_cluster_wide=True)
    before = borrow.world.held()
    with cluster.furnish([ACCOUNT, RIGHTS]):
        made = borrow.world.request("GET", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/mine")
        assert made["subjects"][0]["namespace"] == "h-0123abcd-kube-system"
        account = "/api/v1/namespaces/h-0123abcd-kube-system/serviceaccounts/mine"
        uid = borrow.world.request("GET", account)["metadata"]["uid"]
        cluster.kube.create(pod("beside"), "kube-system")
        cluster.kube.create(CLASS)
        cluster.kube.create(pod("mine"))
        cluster.reset()
        # The same one: its tokens still count.
        assert borrow.world.request("GET", account)["metadata"]["uid"] == uid
        kept = [*before, "ClusterRoleBinding mine", "Namespace h-0123abcd-kube-system"]
        assert borrow.world.held() == sorted(kept)
        # Another scenario can begin.
        cluster.kube.create(pod("beside"), "kube-system")
    cluster.reset()
    assert borrow.world.held() == before


def test_furniture_that_is_not_allowed_leaves_nothing_behind(borrow: Made) -> None:
    cluster = borrow()
    with (
        pytest.raises(InputError, match="ClusterRoleBinding mine: creating it needs"),
        cluster.furnish([ACCOUNT, RIGHTS]),
    ):
        raise AssertionError("it should not have come to this")
    cluster.end()
    assert not [key for key in borrow.world.held() if "mine" in key or "h-0123" in key]


def test_nodes_are_matched_once_and_not_added(borrow: Made) -> None:
    cluster = borrow()
    declared = NodeGroup.model_validate({"count": 1, "cpu": "4", "memory": "16Gi", "pods": 110}).expand()
    assert cluster.add_nodes(declared) == []
    with pytest.raises(InputError, match=r"nodes node-1: a cluster cannot be given more .*--kwok-nodes"):
        cluster.add_nodes(declared)
    cluster.reset()
    assert cluster.add_nodes(declared) == []
    assert cluster.add_nodes(()) == ()


def test_nodes_of_names_that_are_taken_are_not_played(borrow: Made) -> None:
    cluster = borrow(allow_cluster_wide=True, kwok_nodes=True)
    with pytest.raises(InputError, match="nodes node-1: the cluster has nodes of these names already"):
        cluster.add_nodes(NodeGroup().expand())


def test_the_default_variant_is_the_clusters_own_scheduler(borrow: Made) -> None:
    with variant("default").install(borrow()) as installed:
        assert isinstance(installed, Installed)
        assert list(installed.schedulers) == ["default-scheduler"]
        assert "the cluster's own" in installed.config.lower()


def test_a_namespace_that_does_not_go_is_told_with_what_holds_it(borrow: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = borrow()
    cluster.kube.create(pod("mine"))
    monkeypatch.setattr(empty, "PATIENCE_SECONDS", 0.2)
    said = [
        {"status": "True", "message": "Some content in the namespace has finalizers remaining: a/b in 1 instances"},
        {"status": "False", "message": "All is well"},
    ]

    def delete(path: str, **_: object) -> None:
        borrow.world.patch(f"/api/v1/namespaces/{DEFAULT}", {"status": {"conditions": said}})

    monkeypatch.setattr(borrow.world, "delete", delete)
    with pytest.raises(
        ClusterError, match=rf"namespace {DEFAULT}: Some content .* finalizers remaining: a/b"
    ) as caught:
        cluster.reset()
    assert "All is well" not in str(caught.value)


def test_what_does_not_go_beside_furniture_is_named(borrow: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = borrow()
    monkeypatch.setattr(empty, "PATIENCE_SECONDS", 0.2)
    with cluster.furnish([ACCOUNT]):
        cluster.kube.create(pod("stuck"), "kube-system")
        real = borrow.world.delete

        def delete(path: str, **others: Any) -> None:
            if "stuck" not in path:
                real(path, **others)

        monkeypatch.setattr(borrow.world, "delete", delete)
        with pytest.raises(ClusterError, match=r"1 objects will not go .*/pods/stuck; a finalizer may hold them"):
            cluster.reset()
        monkeypatch.undo()


def seen(name: str, **spec: object) -> dict[str, object]:
    status = {"nodeInfo": {}, "conditions": [{"type": "Ready", "status": "True"}]}
    return {"metadata": {"name": name, "uid": f"uid-{name}"}, "spec": spec, "status": status}


def test_a_node_that_takes_no_pods_is_in_view_only_if_it_is_declared(borrow: Made) -> None:
    cluster = borrow()
    taints = [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]
    cluster.expect(["node-1"])
    assert cluster.is_own(seen("control-plane", taints=taints))
    assert not cluster.is_own(seen("spare"))
    assert not cluster.is_own(seen("spare", unschedulable=True)), "cordoned by a step, and still in view"
    cluster.expect(["control-plane"])
    assert not cluster.is_own(seen("control-plane", taints=taints))
    assert not cluster.is_own({"metadata": {"name": "p", "namespace": "default", "uid": "u"}, "status": {}})
