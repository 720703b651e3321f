"""Where the pods of the system run."""

import pytest

from harness.cluster.kind import system
from harness.cluster.kind.system import keep_to_control_plane
from harness.errors import ClusterError
from harness.kube import Object
from tests.unit.cluster.kind.given import KindKube

DEPLOYMENTS = "/apis/apps/v1/namespaces/kube-system/deployments"


def cluster(node: str | None) -> KindKube:
    """A cluster whose CoreDNS has one of its two pods on a node."""
    kube = KindKube("h-worker")
    head = {"name": "coredns", "namespace": "kube-system"}
    status = {"replicas": 2, "updatedReplicas": 2}
    kube.create(
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": head, "spec": {"replicas": 2}, "status": status}
    )
    for index, name in enumerate(("control-plane", node)):
        owner = {"kind": "ReplicaSet", "name": "coredns-1", "uid": "u"}
        metadata = {"name": f"coredns-1-{index}", "namespace": "kube-system", "ownerReferences": [owner]}
        spec = {"nodeName": name} if name else {}
        kube.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    return kube


def template(kube: KindKube) -> Object:
    found: Object = kube.request("GET", f"{DEPLOYMENTS}/coredns")["spec"].get("template", {})
    return found


@pytest.mark.parametrize("node", ["h-worker", None])
def test_a_deployment_that_strayed_is_brought_to_the_control_plane_without_a_scheduler(node: str | None) -> None:
    kube = cluster(node)
    keep_to_control_plane(kube)
    assert template(kube) == {"spec": {"nodeName": "control-plane"}}


def test_one_that_is_there_already_costs_no_rollout() -> None:
    kube = cluster("control-plane")
    keep_to_control_plane(kube)
    assert template(kube) == {}


def test_one_that_does_not_come_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "ROLLOUT_SECONDS", 0.0)
    kube = cluster("h-worker")
    kube.patch(f"{DEPLOYMENTS}/coredns", {"status": {"updatedReplicas": 1}})
    with pytest.raises(ClusterError, match="deployments/coredns on the control plane did not happen"):
        keep_to_control_plane(kube)
