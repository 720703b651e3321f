from pathlib import Path

import pytest

from harness.cluster.embedded import etcd
from harness.cluster.embedded.inventory import inventory
from harness.kube import Resource
from harness.testing import FakeKube

SOCKET = Path("etcd.sock")


def resource(version: str, kind: str, plural: str, *, namespaced: bool = True) -> Resource:
    return Resource(version, kind, plural, namespaced, frozenset())


KNOWN = [
    resource("v1", "Pod", "pods"),
    resource("v1", "Node", "nodes", namespaced=False),
    resource("v1", "Service", "services"),
    resource("v1", "Endpoints", "endpoints"),
    resource("v1", "Event", "events"),
    resource("v1", "Namespace", "namespaces", namespaced=False),
    resource("v1", "ReplicationController", "replicationcontrollers"),
    resource("apps/v1", "Deployment", "deployments"),
    resource("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", namespaced=False),
    resource("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", namespaced=False),
    resource("example.com/v1", "Widget", "widgets"),
    resource("example.com/v1", "Machine", "machines", namespaced=False),
    resource("example.com/v1", "OtherPod", "pods"),
    resource("coordination.k8s.io/v1", "Lease", "leases"),
]


def listed(monkeypatch: pytest.MonkeyPatch, *stored: str) -> list[str]:
    asked: list[tuple[Path, str]] = []

    def keys(etcd_socket: Path, prefix: str) -> list[str]:
        asked.append((etcd_socket, prefix))
        return [f"{prefix}{key}" for key in stored]

    monkeypatch.setattr(etcd, "keys", keys)
    found = [str(key) for key in inventory(FakeKube(KNOWN), SOCKET)]
    assert asked == [(SOCKET, "/registry/")]
    return found


@pytest.mark.parametrize(
    ("stored", "address"),
    [
        ("pods/default/a", "Pod default/a"),
        ("minions/node-1", "Node node-1"),
        ("services/specs/default/web", "Service default/web"),
        ("services/endpoints/default/web", "Endpoints default/web"),
        ("controllers/default/old", "ReplicationController default/old"),
        ("deployments/x/web", "Deployment x/web"),
        ("namespaces/own", "Namespace own"),
        ("priorityclasses/high", "PriorityClass high"),
        ("example.com/widgets/default/w", "Widget default/w"),
        ("example.com/machines/m", "Machine m"),
        ("example.com/pods/default/a", "OtherPod default/a"),
        ("apiextensions.k8s.io/customresourcedefinitions/w", "CustomResourceDefinition w"),
        ("leases/default/mine", "Lease default/mine"),
        ("unheardof/default/x", "stored object unheardof/default/x"),
    ],
)
def test_a_stored_object_is_found_again_in_the_api(monkeypatch: pytest.MonkeyPatch, stored: str, address: str) -> None:
    assert listed(monkeypatch, stored) == [address]


def test_what_the_control_plane_writes_about_itself_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    own = ("leases/kube-system/apiserver-x", "masterleases/127.0.0.1", "ranges/serviceips", "namespaces/kube-system")
    assert listed(monkeypatch, *own, "pods/default/a") == ["Pod default/a"]
