import pytest

from harness.cluster.kind.leader import PATH, Leader
from harness.kube import Object
from harness.scenario.nodes import Taint
from tests.unit.cluster.kind.given import KindKube, Programs, spec


@pytest.fixture
def kube() -> KindKube:
    return KindKube()


@pytest.fixture
def leader(programs: Programs, kube: KindKube) -> Leader:
    programs.put("docker", {"inspect*": "echo 172.18.0.2"})
    return Leader(kube, "h-control-plane")


def node(kube: KindKube) -> Object:
    found: Object = kube.request("GET", PATH)
    return found


def test_it_knows_its_container_and_address(leader: Leader) -> None:
    assert (leader.container, leader.address) == ("h-control-plane", "172.18.0.2")


def test_a_scenario_may_declare_its_labels_and_taints(leader: Leader, kube: KindKube) -> None:
    taint = Taint(key="quiet", effect="NoExecute")
    leader.declare(spec("control-plane", labels={"zone": "a"}, taints=(taint,)))
    assert node(kube)["metadata"]["labels"] == {"kubernetes.io/hostname": "control-plane", "zone": "a"}
    assert node(kube)["spec"]["taints"] == [{"key": "quiet", "effect": "NoExecute"}]


def test_declared_without_taints_it_takes_pods(leader: Leader, kube: KindKube) -> None:
    leader.declare(spec("control-plane"))
    assert node(kube)["spec"]["taints"] == []


def test_it_gets_back_what_kubeadm_gave_it(leader: Leader, kube: KindKube) -> None:
    before = node(kube)
    leader.declare(spec("control-plane", labels={"zone": "a", "kubernetes.io/hostname": "other"}))
    # A step may have changed it since.
    kube.patch(PATH, {"metadata": {"labels": {"later": "1"}}})
    leader.restore()
    after = node(kube)
    assert after["metadata"]["labels"] == before["metadata"]["labels"]
    assert after["spec"] == before["spec"]
    assert after["spec"]["taints"][0]["key"] == "node-role.kubernetes.io/control-plane"


def test_what_was_not_declared_is_not_restored(leader: Leader, kube: KindKube) -> None:
    kube.requests.clear()
    leader.restore()
    leader.declare(spec("control-plane"))
    leader.restore()
    leader.restore()
    assert [method for method, _ in kube.requests if method != "GET"] == ["PATCH", "PATCH"]


def test_undeclared_it_is_the_clusters_own(leader: Leader, kube: KindKube) -> None:
    assert leader.is_undeclared(node(kube))
    leader.declare(spec("control-plane"))
    assert not leader.is_undeclared(node(kube))
    leader.restore()
    assert leader.is_undeclared(node(kube))


@pytest.mark.parametrize(
    "item",
    [
        {"metadata": {"name": "control-plane"}, "spec": {"containers": []}},
        {"metadata": {"name": "control-plane"}},
        {"metadata": {"name": "node-1"}, "spec": {"podCIDR": "10.244.1.0/24"}},
    ],
    ids=["a pod of its name", "something without a specification", "another node"],
)
def test_nothing_else_is_taken_for_it(leader: Leader, item: Object) -> None:
    assert not leader.is_undeclared(item)
