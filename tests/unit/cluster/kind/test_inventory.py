from typing import Any

import pytest

from harness.cluster.kind.inventory import inventory, is_own_namespace
from harness.errors import ApiError
from harness.kube import Resource
from harness.testing import FakeKube
from harness.testing.kube import VERBS, resources

LEASES = Resource("coordination.k8s.io/v1", "Lease", "leases", namespaced=True, verbs=VERBS)
READ_ONLY = Resource("x.example.com/v1", "Reading", "readings", namespaced=False, verbs=frozenset({"get", "list"}))
OLD = Resource("x.example.com/v1beta1", "Thing", "things", namespaced=True, verbs=VERBS)
NEW = Resource("x.example.com/v1", "Thing", "things", namespaced=True, verbs=VERBS)


class Refusing(FakeKube):
    """A server that answers lists of one kind with an error."""

    def __init__(self, plural: str, status: int) -> None:
        super().__init__()
        self.plural, self.status = plural, status

    def request(self, method: str, path: str, **others: Any) -> Any:
        if method == "GET" and path.endswith(f"/{self.plural}"):
            raise ApiError(method, path, self.status, "refused")
        return super().request(method, path, **others)


def config_map(kube: FakeKube, namespace: str, name: str = "c") -> None:
    kube.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}})


def listed(kube: FakeKube) -> set[str]:
    return {str(key) for key in inventory(kube)}


def test_everything_of_every_kind_is_listed_with_its_address() -> None:
    kube = FakeKube()
    config_map(kube, "default")
    config_map(kube, "theirs", "d")
    kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "theirs"}})
    kube.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}})
    assert listed(kube) == {
        "ConfigMap default/c",
        "ConfigMap theirs/d",
        "Namespace theirs",
        "Deployment default/web",
    }


@pytest.mark.parametrize("namespace", ["kube-system", "kube-public", "kube-node-lease", "local-path-storage"])
def test_what_is_in_the_clusters_own_namespaces_is_left_out(namespace: str) -> None:
    kube = FakeKube()
    config_map(kube, namespace)
    config_map(kube, "default")
    assert listed(kube) == {"ConfigMap default/c"}
    assert is_own_namespace({"metadata": {"name": "c", "namespace": namespace}})


@pytest.mark.parametrize("metadata", [{"name": "kube-system"}, {"name": "c", "namespace": "kube-systems"}])
def test_other_names_are_nobodys(metadata: dict[str, str]) -> None:
    assert not is_own_namespace({"metadata": metadata})


def test_what_the_control_plane_makes_by_itself_is_left_out() -> None:
    kube = FakeKube([*resources(), LEASES])
    kube.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}})
    kube.create({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}})
    assert listed(kube) == set()


def test_what_cannot_be_deleted_is_not_asked_for() -> None:
    kube = FakeKube([*resources(), READ_ONLY])
    listed(kube)
    assert not [path for _, path in kube.requests if "readings" in path]


def test_a_kind_of_several_versions_is_asked_for_once() -> None:
    kube = FakeKube([OLD, NEW])
    listed(kube)
    assert len(kube.requests) == 1


@pytest.mark.parametrize("status", [404, 405])
def test_a_kind_that_went_meanwhile_or_has_no_list_is_passed_over(status: int) -> None:
    kube = Refusing("jobs", status)
    config_map(kube, "default")
    assert listed(kube) == {"ConfigMap default/c"}


def test_any_other_refusal_shows() -> None:
    with pytest.raises(ApiError, match="403 refused"):
        listed(Refusing("jobs", 403))
