import pytest

from harness.cluster import reset
from harness.cluster.reset import Baseline, Key
from harness.errors import ClusterError
from harness.kube import Object
from harness.testing import FakeKube


def make(kube: FakeKube, kind: str, name: str, api_version: str = "v1", namespace: str = "default") -> Object:
    return kube.create({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}}, namespace)


def held(kube: FakeKube) -> list[str]:
    return [str(key) for key in kube.inventory()]


def deletions(kube: FakeKube) -> list[str]:
    return [path for method, path in kube.requests if method == "DELETE"]


@pytest.fixture
def kube() -> FakeKube:
    """A server that holds what a new cluster holds."""
    kube = FakeKube()
    make(kube, "Namespace", "default")
    make(kube, "ConfigMap", "root-ca")
    return kube


@pytest.fixture
def baseline(kube: FakeKube) -> Baseline:
    return Baseline(kube, kube.inventory)


def test_only_what_was_made_since_is_deleted(kube: FakeKube, baseline: Baseline) -> None:
    before = held(kube)
    make(kube, "ConfigMap", "mine")
    make(kube, "Node", "n")
    make(kube, "Namespace", "own")
    make(kube, "Pod", "p", namespace="own")
    make(kube, "PriorityClass", "high", "scheduling.k8s.io/v1")
    baseline.restore(lambda: None)
    assert held(kube) == before


def test_an_empty_cluster_is_asked_to_delete_nothing(kube: FakeKube, baseline: Baseline) -> None:
    baseline.restore(lambda: None)
    assert deletions(kube) == []


def test_owners_go_before_what_they_own(kube: FakeKube, baseline: Baseline) -> None:
    make(kube, "Pod", "web-1-a")
    make(kube, "ReplicaSet", "web-1", "apps/v1")
    make(kube, "Deployment", "web", "apps/v1")
    make(kube, "Job", "j", "batch/v1")
    baseline.restore(lambda: None)
    assert [path.split("/")[-2] for path in deletions(kube)] == ["deployments", "jobs", "replicasets", "pods"]


def test_many_of_a_kind_go_in_one_request(kube: FakeKube, baseline: Baseline) -> None:
    for number in range(5):
        make(kube, "Pod", f"p{number}")
    baseline.restore(lambda: None)
    assert deletions(kube) == ["/api/v1/namespaces/default/pods"]


def test_where_something_is_to_stay_each_goes_by_its_name(kube: FakeKube, baseline: Baseline) -> None:
    for number in range(2):
        make(kube, "ConfigMap", f"mine-{number}")
    baseline.restore(lambda: None)
    assert deletions(kube) == [f"/api/v1/namespaces/default/configmaps/mine-{number}" for number in range(2)]
    assert "ConfigMap default/root-ca" in held(kube)


def test_what_comes_back_is_deleted_again(kube: FakeKube, baseline: Baseline) -> None:
    """As a controller does that has not yet seen that its workload is gone."""
    revived: list[Object] = []

    def revive(event: str, item: Object) -> None:
        if event == "DELETED" and not revived:
            revived.append(make(kube, "Pod", "again"))

    kube.listeners.append(revive)
    make(kube, "Pod", "p")
    baseline.restore(lambda: None)
    assert revived
    assert "Pod default/again" not in held(kube)


def test_a_namespace_goes_last_and_without_waiting_for_its_controller(kube: FakeKube, baseline: Baseline) -> None:
    make(kube, "Namespace", "own")
    make(kube, "Pod", "p", namespace="own")
    baseline.restore(lambda: None)
    changes = [request for request in kube.requests if request[0] in {"DELETE", "PUT"}]
    assert changes == [
        ("DELETE", "/api/v1/namespaces/own/pods/p"),
        ("DELETE", "/api/v1/namespaces/own"),
        ("PUT", "/api/v1/namespaces/own/finalize"),
    ]


def test_news_about_the_deletion_does_not_keep_a_reset_going(kube: FakeKube, baseline: Baseline) -> None:

    def tell(event: str, item: Object) -> None:
        if event == "DELETED":
            make(kube, "Event", f"e-{item['kind']}")

    kube.listeners.append(tell)
    make(kube, "Pod", "p")
    baseline.restore(lambda: None)
    assert "Event default/e-Pod" in held(kube)


def test_what_will_not_go_is_named_at_the_deadline(kube: FakeKube, monkeypatch: pytest.MonkeyPatch) -> None:
    pods = kube.resource_of("Pod")
    inventory: list[Key] = []
    baseline = Baseline(kube, lambda: inventory)
    inventory += [Key(pods, "default", "stuck"), Key(None, None, "odd/thing")]
    monkeypatch.setattr(reset, "TIMEOUT_SECONDS", 0.05)
    with pytest.raises(ClusterError, match=r"2 objects .*: Pod default/stuck, stored object odd/thing; a finalizer"):
        baseline.restore(lambda: None)


def test_a_dead_part_ends_a_reset_at_once(kube: FakeKube, baseline: Baseline) -> None:
    def check() -> None:
        raise ClusterError("the cluster lost a part")

    make(kube, "Pod", "p")
    with pytest.raises(ClusterError, match="lost a part"):
        baseline.restore(check)
