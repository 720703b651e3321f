import json
from pathlib import Path
from typing import Any

import pytest

from harness.cluster.base import ClusterSpec, KindSpec
from harness.cluster.folder import ClusterFolder, folders
from harness.cluster.kind import provider
from harness.cluster.kind.cluster import Parts
from harness.cluster.kind.provider import KindProvider
from harness.errors import CommandError, InputError, MissingToolError
from tests.unit.cluster.kind.given import spec
from tests.unit.cluster.kind.world import SYSTEM, World, facts, up


def test_a_new_cluster_has_parked_workers_and_says_what_it_is_made_of(world: World) -> None:
    with up() as cluster:
        assert dict(cluster.versions) == {"kubernetes": "1.34.4", "kind": "0.33.0", "docker": "28.1.1"}
        name = f"harness-{cluster.name}"
        assert cluster.leader == f"{name}-control-plane"
        assert cluster.containers() == {one: one for one in (f"{name}-worker", f"{name}-worker2", f"{name}-worker3")}
        assert world.kube.names("nodes") == {"control-plane"}
        assert facts()["versions"] == dict(cluster.versions)
        assert (facts()["provider"], facts()["kind"]) == ("kind", name)
        cluster.check()


def test_at_the_end_nothing_is_left(world: World) -> None:
    with up():
        pass
    assert world.commands()[-1] == "delete cluster"
    assert world.engine.containers() == []
    assert folders() == []
    assert list(world.here.iterdir()) == []


def test_nodes_are_declared_and_the_cluster_can_be_emptied(world: World) -> None:
    with up(nodes=2) as cluster:
        assert cluster.add_nodes([spec("node-1"), spec("node-2", cpu="64"), spec("control-plane")]) == [
            "node-2: 64 cpu declared, 8 is what this machine has"
        ]
        assert world.kube.names("nodes") == {"control-plane", "node-1", "node-2"}
        leader = world.kube.request("GET", "/api/v1/nodes/control-plane")
        assert (leader["spec"]["taints"], cluster.is_own(leader)) == ([], False)
        world.kube.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}})
        cluster.reset()
        assert world.kube.names("nodes") == {"control-plane"}
        assert world.kube.names("pods") == set()
        assert cluster.is_own(world.kube.request("GET", "/api/v1/nodes/control-plane"))
        assert world.kube.names("daemonsets") == set(SYSTEM)


def test_the_systems_pods_keep_to_the_control_plane(world: World) -> None:
    with up():
        for name in SYSTEM:
            item = world.kube.request("GET", f"/apis/apps/v1/namespaces/kube-system/daemonsets/{name}")
            selector = item["spec"]["template"]["spec"]["nodeSelector"]
            assert selector == {"node-role.kubernetes.io/control-plane": ""}


def test_who_binds_gets_a_kubeconfig_of_a_scheduler_and_not_the_administrators(world: World) -> None:
    with up() as cluster:
        document = json.loads(cluster.scheduler_kubeconfig.read_text())
        assert document["users"] == [{"name": "kind", "user": {"token": "token of harness-scheduler"}}]
        assert cluster.scheduler_kubeconfig.stat().st_mode & 0o777 == 0o600


def test_who_shows_what_a_cluster_is_made_of_shows_no_token(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Parts] = []

    def parts(*given: Any) -> Parts:
        made.append(Parts(*given))
        return made[-1]

    monkeypatch.setattr(provider, "Parts", parts)
    with up():
        assert made[0].token == "token of harness-reader"
        assert made[0].token not in repr(made[0])


@pytest.mark.parametrize(("nodes", "chosen", "expected"), [(0, None, 3), (5, None, 5), (5, 2, 2)])
def test_there_are_as_many_workers_as_are_declared_or_chosen(
    world: World, nodes: int, chosen: int | None, expected: int
) -> None:
    with up(nodes=nodes, workers=chosen):
        assert world.workers() == expected


def test_the_users_configuration_is_merged_and_its_option_goes_before_the_variable(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_variable, by_option = tmp_path / "variable.yaml", tmp_path / "option.yaml"
    by_variable.write_text("kind: Cluster\nfeatureGates: {ByVariable: true}\nnodes: [{role: worker, image: own}]\n")
    by_option.write_text("kind: Cluster\nfeatureGates: {ByOption: true}\n")
    monkeypatch.setenv("KIND_CONFIG_EXTRA", str(by_variable))
    with up(nodes=1):
        assert world.engine.config()["featureGates"] == {"ByVariable": True}
        assert [node.get("image") for node in world.engine.config()["nodes"]] == [None, "own"]
    world.kubes.clear()
    with up(nodes=1, config=by_option):
        assert world.engine.config()["featureGates"] == {"ByOption": True}
    world.kubes.clear()
    monkeypatch.setenv("KIND_CONFIG_EXTRA", "")
    with up(nodes=1):
        assert "featureGates" not in world.engine.config()


def test_a_configuration_that_cannot_be_used_stops_before_anything_is_created(world: World, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("nodes: [{role: control-plane}, {role: control-plane}]\n")
    with pytest.raises(InputError, match="2 control planes"), up(config=bad):
        pytest.fail("there is a cluster")
    assert world.commands() == []
    assert folders() == []


@pytest.mark.parametrize(("named", "expected"), [(None, "--image=own/node:1"), ("named:2", "--image=named:2")])
def test_the_nodes_image_is_the_one_named_or_that_of_the_variable(
    world: World, monkeypatch: pytest.MonkeyPatch, named: str | None, expected: str
) -> None:
    monkeypatch.setenv("KIND_NODE_IMAGE", "own/node:1")
    with up(image=named):
        (create,) = [call for call in world.engine.programs.calls("kind") if call[0] == "create"]
        assert [word for word in create if word.startswith("--image")] == [expected]


def test_each_node_sees_a_private_folder_of_the_cluster(world: World) -> None:
    with up() as cluster:
        sources = {mount["hostPath"] for node in world.engine.config()["nodes"] for mount in node["extraMounts"]}
        assert sources == {str(cluster.folder / "shared")}
        assert (cluster.folder / "shared").stat().st_mode & 0o777 == 0o700


def test_a_cluster_that_cannot_be_created_leaves_nothing(world: World) -> None:
    world.engine.put_kind({'"create cluster"*': "echo ERROR: no room >&2; exit 1"})
    with pytest.raises(CommandError, match="ERROR: no room"), up():
        pytest.fail("there is a cluster")
    assert folders() == []
    assert world.commands()[-1] == "delete cluster"


def test_whatever_fails_after_its_creation_it_is_deleted(world: World) -> None:
    world.engine.put_docker({'*"images ls -q"': "echo containerd is away >&2; exit 1"})
    with pytest.raises(CommandError, match="containerd is away"), up():
        pytest.fail("there is a cluster")
    assert world.engine.containers() == []
    assert folders() == []


@pytest.mark.parametrize("keep", [True, False])
def test_before_anything_is_made_it_is_written_down_what_to_delete(world: World, keep: bool) -> None:
    told = world.engine.programs.folder / "told"
    find = f"cat $HARNESS_STATE/clusters/mine/cluster.json >{told}; exit 1"
    world.engine.put_kind({'"create cluster"*': find})
    with pytest.raises(CommandError), up("mine", keep=keep):
        pytest.fail("there is a cluster")
    assert {"provider": "kind", "kind": "mine"}.items() <= json.loads(told.read_text()).items()


@pytest.mark.parametrize("asked_for", ["1.34", "1.34.4", "v1.34", "1"])
def test_the_version_that_was_asked_for_is_that_of_the_image(world: World, asked_for: str) -> None:
    with KindProvider().cluster(ClusterSpec(kubernetes=asked_for)) as cluster:
        assert cluster.versions["kubernetes"] == "1.34.4"


@pytest.mark.parametrize("asked_for", ["1.3", "1.35", "1.34.40"])
def test_another_version_is_told_with_the_next_move_and_nothing_stays(world: World, asked_for: str) -> None:
    told = rf"--kubernetes {asked_for}: the image of the nodes has Kubernetes 1\.34\.4; choose .* --kind-image"
    with pytest.raises(InputError, match=told), KindProvider().cluster(ClusterSpec(kubernetes=asked_for)):
        pytest.fail("there is a cluster")
    assert (world.engine.containers(), folders()) == ([], [])


def test_a_strangers_cluster_is_refused_and_left_alone(world: World) -> None:
    world.engine.add_stranger("mine")
    with pytest.raises(InputError, match="is not the harness's"), up("mine"):
        pytest.fail("it was taken")
    assert world.engine.containers() == ["mine-control-plane"]
    assert world.kubes == []


def test_without_an_engine_there_is_no_cluster(world: World) -> None:
    (world.engine.programs.folder / "docker").unlink()
    with pytest.raises(MissingToolError, match="docker is not installed"):
        KindProvider().prepare(ClusterSpec())
    with pytest.raises(MissingToolError, match="docker is not installed"), up():
        pytest.fail("there is a cluster")
    assert world.commands() == []


def test_preparing_finds_what_is_needed_and_creates_nothing(world: World, tmp_path: Path) -> None:
    KindProvider().prepare(ClusterSpec())
    with pytest.raises(InputError, match="--kind-bin"):
        KindProvider().prepare(ClusterSpec(kind=KindSpec(program=tmp_path / "nowhere")))
    assert world.commands() == []


def test_a_new_cluster_removes_what_killed_owners_left(world: World) -> None:
    with ClusterFolder.create("killed") as folder:
        folder.announce(provider="kind", kind="killed", keep=False)
        folder.leave()
    with up("mine"):
        assert [one.name for one in folders()] == ["mine"]
    asked = [call for call in world.engine.programs.said("docker") if call.startswith("ps --all --quiet")]
    assert any(call.endswith("cluster=killed") for call in asked)
