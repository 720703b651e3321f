import pytest

from harness.cluster.furnish import furnished
from harness.cluster.reset import Baseline
from harness.errors import ApiError
from harness.kube import Object
from harness.testing import FakeCluster, FakeKube
from tests.unit.cluster.test_reset import deletions, held, make

ACCOUNT: Object = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "mine", "namespace": "kube-system"},
}
RIGHTS: Object = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "mine"},
}
SETTINGS: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}
ALL = [ACCOUNT, RIGHTS, SETTINGS]
THERE = ["ServiceAccount kube-system/mine", "ClusterRoleBinding mine", "ConfigMap default/settings"]


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> FakeCluster:
    return FakeCluster(tmp_path_factory.mktemp("cluster"))


def test_objects_are_there_for_as_long_as_the_context_lasts(cluster: FakeCluster) -> None:
    before = held(cluster.kube)
    with cluster.furnish(ALL):
        assert held(cluster.kube) == [*before, *THERE]
    assert held(cluster.kube) == before


def test_the_last_one_goes_first(cluster: FakeCluster) -> None:
    with cluster.furnish(ALL):
        assert deletions(cluster.kube) == []
    assert deletions(cluster.kube) == [
        "/api/v1/namespaces/default/configmaps/settings",
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/mine",
        "/api/v1/namespaces/kube-system/serviceaccounts/mine",
    ]


def test_they_outlast_resets_and_nothing_else_does(cluster: FakeCluster) -> None:
    with cluster.furnish(ALL):
        furnished_state = held(cluster.kube)
        for _ in range(2):
            make(cluster.kube, "Pod", "p")
            make(cluster.kube, "ConfigMap", "beside")
            make(cluster.kube, "ServiceAccount", "beside", namespace="kube-system")
            make(cluster.kube, "ClusterRoleBinding", "beside", "rbac.authorization.k8s.io/v1")
            cluster.reset()
            assert held(cluster.kube) == furnished_state


def test_a_reset_afterwards_takes_what_somebody_made_under_the_same_name(cluster: FakeCluster) -> None:
    before = held(cluster.kube)
    with cluster.furnish([SETTINGS]):
        pass
    make(cluster.kube, "ConfigMap", "settings")
    cluster.reset()
    assert held(cluster.kube) == before


def test_one_that_is_gone_already_is_not_missed(cluster: FakeCluster) -> None:
    before = held(cluster.kube)
    with cluster.furnish(ALL):
        cluster.kube.delete("/api/v1/namespaces/default/configmaps/settings")
    assert held(cluster.kube) == before


def test_when_one_is_refused_those_before_it_go_again(cluster: FakeCluster) -> None:
    make(cluster.kube, "ConfigMap", "settings")
    before = held(cluster.kube)
    with pytest.raises(ApiError, match="already exists"), cluster.furnish(ALL):
        pytest.fail("the context began")
    assert held(cluster.kube) == before, "what somebody else made stays, what was made here goes"


def test_an_error_inside_leaves_nothing_behind(cluster: FakeCluster) -> None:
    before = held(cluster.kube)
    with pytest.raises(ZeroDivisionError), cluster.furnish(ALL):
        raise ZeroDivisionError
    assert held(cluster.kube) == before


def test_a_name_that_the_server_chose_is_kept_too() -> None:
    kube = FakeKube()
    baseline = Baseline(kube, kube.inventory)
    named: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "settings-"}}
    with furnished(kube, baseline, [named]):
        (only,) = held(kube)
        baseline.restore(lambda: None)
        assert held(kube) == [only]
    assert held(kube) == []


def test_two_sets_do_not_disturb_each_other(cluster: FakeCluster) -> None:
    before = held(cluster.kube)
    with cluster.furnish([ACCOUNT]):
        with cluster.furnish([SETTINGS]):
            pass
        cluster.reset()
        assert held(cluster.kube) == [*before, THERE[0]]
