import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from urllib3.exceptions import ProtocolError

from harness.clock import wait_until
from harness.cluster.existing.body import PodRules
from harness.cluster.existing.kube import ScopedKube
from harness.cluster.existing.undo import Journal
from harness.cluster.existing.wide import ClusterWide
from harness.cluster.follow import Change, Follower
from harness.errors import ApiError, ClusterError, InputError
from harness.kube import names
from harness.streaming import Stream
from harness.testing.kube import FakeStream
from tests.unit.cluster.existing.world import DEFAULT, NAMES, World, node, pod

PODS = "/api/v1/pods"


@pytest.fixture
def world() -> World:
    world = World()
    world.create(pod("theirs"), "default")
    world.create(node("real"))
    return world


def scoped(world: World, folder: Path, *, allowed: bool = False, own_nodes: bool = False) -> ScopedKube:
    wide = ClusterWide(world, NAMES, Journal(folder), allowed=allowed)
    return ScopedKube(world, NAMES, wide, lambda: PodRules(own_nodes=own_nodes))


@pytest.fixture
def kube(world: World, tmp_path: Path) -> ScopedKube:
    return scoped(world, tmp_path)


def test_what_is_created_lands_in_the_runs_own_namespace(world: World, kube: ScopedKube) -> None:
    made = kube.create(pod("mine"))
    assert made["metadata"]["namespace"] == "default"
    assert f"Pod {DEFAULT}/mine" in world.held()
    (namespace,) = [item for item in world.items("/api/v1/namespaces") if item["metadata"]["name"] == DEFAULT]
    assert namespace["metadata"]["labels"] == {
        "scheduler-harness.io/run": "0123abcd",
        "scheduler-harness.io/as": "default",
    }


def test_nothing_is_created_before_it_is_needed(world: World, kube: ScopedKube) -> None:
    before = world.held()
    assert kube.items("/api/v1/namespaces/default/pods") == []
    assert kube.items(PODS) == []
    assert world.held() == before


def test_only_the_runs_own_is_seen(world: World, kube: ScopedKube) -> None:
    kube.create(pod("mine"))
    kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team", "labels": {"tier": "x"}}})
    kube.create(pod("other"), "team")
    assert names(kube.items(PODS)) == ["mine", "other"]
    assert [item["metadata"]["namespace"] for item in kube.items(PODS)] == ["default", "team"]
    namespaces = kube.items("/api/v1/namespaces")
    assert names(namespaces) == ["default", "team"]
    assert namespaces[1]["metadata"]["labels"] == {"tier": "x"}
    assert kube.request("GET", "/api/v1/namespaces/team")["metadata"]["name"] == "team"
    assert names(kube.items("/api/v1/nodes")) == ["real"]


def test_a_namespace_that_nobody_created_is_not_there(world: World, kube: ScopedKube) -> None:
    kube.create(pod("mine"))
    before = names(world.items("/api/v1/namespaces"))
    kube.create(pod("lost"), "nowhere")
    # A real server refuses it; this one has no such rule. What counts is that nobody made the namespace.
    assert names(world.items("/api/v1/namespaces")) == before


def test_changes_and_deletions_reach_only_the_runs_own(world: World, kube: ScopedKube) -> None:
    world.create(pod("mine"), "default")
    kube.create(pod("mine"))
    kube.patch("/api/v1/namespaces/default/pods/mine", {"metadata": {"labels": {"a": "b"}}})
    kube.delete("/api/v1/namespaces/default/pods")
    assert "Pod default/mine" in world.held()
    assert f"Pod {DEFAULT}/mine" not in world.held()
    (untouched,) = [item for item in world.items(PODS) if item["metadata"]["name"] == "mine"]
    assert "labels" not in untouched["metadata"]


def test_a_watch_hands_over_the_runs_own_in_the_scenarios_words(world: World, kube: ScopedKube) -> None:
    seen: list[Change] = []
    with Follower(kube, PODS, seen.append):
        kube.create(pod("mine"))
        world.create(pod("more"), "default")
        kube.delete("/api/v1/namespaces/default/pods/mine")
        wait_until(lambda: len(seen) >= 2, what="two changes", timeout_seconds=30)
    assert [(one.event, one.item["metadata"]["name"], one.item["metadata"]["namespace"]) for one in seen] == [
        ("ADDED", "mine", "default"),
        ("DELETED", "mine", "default"),
    ]


class Cut(Stream):
    """A watch that the network ends after its first change."""

    def __init__(self, change: object) -> None:
        super().__init__(None)
        self._change = change

    def __iter__(self) -> Iterator[object]:  # type: ignore[override]
        yield self._change
        raise ProtocolError("Connection broken")


def test_a_watch_that_the_network_ends_goes_on_where_it_stood(world: World, kube: ScopedKube) -> None:
    seen: list[Change] = []
    opened: list[str] = []
    later = threading.Event()

    def watch(path: str, resource_version: str) -> Stream:
        opened.append(resource_version)
        item = {"metadata": {"name": "x", "namespace": DEFAULT, "uid": "u", "resourceVersion": "77"}}
        if len(opened) == 1:
            return Cut({"type": "ADDED", "object": item})
        later.set()
        return FakeStream()

    world.watch = watch  # type: ignore[method-assign]
    with Follower(kube, PODS, seen.append) as follower:
        assert later.wait(30)
        assert follower.error is None
    assert opened[1] == "77"
    assert names([one.item for one in seen]) == ["x"]


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [("scheduling.k8s.io/v1", "PriorityClass"), ("rbac.authorization.k8s.io/v1", "ClusterRole")],
)
def test_what_is_in_no_namespace_is_not_created_unless_allowed(
    world: World, kube: ScopedKube, api_version: str, kind: str
) -> None:
    before = world.held()
    with pytest.raises(InputError, match=f"{kind} high: creating it needs --allow-cluster-wide"):
        kube.create({"apiVersion": api_version, "kind": kind, "metadata": {"name": "high"}})
    assert world.held() == before


def test_nodes_are_neither_changed_nor_deleted_unless_allowed(world: World, kube: ScopedKube) -> None:
    with pytest.raises(InputError, match="Node real: changing it needs --allow-cluster-wide"):
        kube.patch("/api/v1/nodes/real", {"spec": {"unschedulable": True}})
    with pytest.raises(InputError, match="Node real: deleting it needs --allow-cluster-wide"):
        kube.delete("/api/v1/nodes/real")
    with pytest.raises(InputError, match="every Node: deleting it needs"):
        kube.delete("/api/v1/nodes")
    assert "unschedulable" not in world.request("GET", "/api/v1/nodes/real")["spec"]


def test_allowed_does_not_mean_everything(world: World, tmp_path: Path) -> None:
    kube = scoped(world, tmp_path, allowed=True)
    world.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "theirs"}})
    classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
    with pytest.raises(InputError, match="PriorityClass theirs: the run did not create it, so it does not delete it"):
        kube.delete(f"{classes}/theirs")
    with pytest.raises(InputError, match="changes only what it can undo"):
        kube.patch(f"{classes}/theirs", {"value": 7})
    with pytest.raises(InputError, match="Node real: the run did not create it"):
        kube.delete("/api/v1/nodes/real")
    with pytest.raises(InputError, match="node real: its status is its kubelet's word"):
        kube.patch("/api/v1/nodes/real/status", {"status": {}})


def test_own_nodes_are_all_that_is_seen_where_there_are_some(world: World, tmp_path: Path) -> None:
    kube = scoped(world, tmp_path, allowed=True, own_nodes=True)
    kube.create(node("played"))
    assert names(kube.items("/api/v1/nodes")) == ["played"]
    with pytest.raises(ApiError, match="404"):
        kube.request("GET", "/api/v1/nodes/real")
    kube.patch("/api/v1/nodes/played", {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}})
    (real,) = [item for item in world.items("/api/v1/nodes") if item["metadata"]["name"] == "played"]
    assert [taint["key"] for taint in real["spec"]["taints"]] == ["k", "scheduler-harness.io/run"]
    kube.delete("/api/v1/nodes/played")
    assert names(world.items("/api/v1/nodes")) == ["real"]


def test_a_server_that_is_gone_is_told_without_its_address(world: World, kube: ScopedKube) -> None:
    def gone(*_: object, **__: object) -> object:
        raise ClusterError("GET /x: HTTPSConnectionPool(host='api.example.com', port=6443): refused")

    world.request = gone  # type: ignore[method-assign]
    world.watch = gone  # type: ignore[method-assign,assignment]
    for ask in (lambda: kube.items("/api/v1/namespaces/default/pods"), lambda: kube.watch("/api/v1/nodes", "1")):
        with pytest.raises(ClusterError, match=r"\(server\)") as caught:
            ask()
        assert "example" not in str(caught.value)
        assert caught.value.__cause__ is None


def test_whole_collections_of_others_cannot_be_deleted(world: World, kube: ScopedKube) -> None:
    before = world.held()
    for path in (PODS, "/api/v1/namespaces"):
        with pytest.raises(ApiError):
            kube.request("DELETE", path)
    assert world.held() == before
