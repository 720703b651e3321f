"""Clusters of kind that are kept: given back, taken again, and replaced when nobody could give them back."""

from pathlib import Path

import pytest

from harness import progress
from harness.cluster.base import ClusterSpec, KindSpec
from harness.cluster.folder import ClusterFolder, folders
from harness.cluster.kind.cluster import ClusterOnKind
from harness.cluster.kind.provider import KindProvider
from harness.errors import CommandError, InputError
from tests.unit.cluster.kind.given import CAPACITY, spec
from tests.unit.cluster.kind.world import World, facts, up


def test_a_cluster_to_be_kept_whose_run_was_killed_is_replaced_by_the_next_run(world: World) -> None:
    with up("mine", nodes=1, keep=True):
        known = facts()
    world.kubes.clear()
    # As a kill leaves it, while it is made or amid a run.
    with ClusterFolder.create("mine") as folder:
        folder.announce(**known)
        folder.leave()
    world.engine.add_left("mine")
    with up("mine", nodes=1, keep=True) as cluster:
        assert cluster.add_nodes([spec("node-1")]) == []
    assert [call for call in world.engine.programs.said("docker") if call.startswith("rm ")]
    assert world.commands().count("create cluster") == 2


def test_a_cluster_that_cannot_be_given_back_is_not_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []
    monkeypatch.setattr(progress, "note", notes.append)

    def fails(_: ClusterOnKind) -> None:
        raise CommandError(["docker", "exec", "mine-worker"], 1, "container is not running")

    monkeypatch.setattr(ClusterOnKind, "give_back", fails)
    with up("mine", nodes=1, keep=True):
        pass
    assert world.engine.containers() == []
    assert "kind cluster mine is deleted and not kept" in notes[-1]


def test_a_kept_cluster_is_given_back_as_kind_made_it_and_taken_again(world: World) -> None:
    with up("mine", nodes=2, keep=True) as cluster:
        cluster.add_nodes([spec("node-1")])
        assert cluster.kubeconfig == world.here / ".pytest-kind" / "mine" / "kubeconfig"
    assert world.kube.names("nodes") == {"control-plane", "mine-worker", "mine-worker2"}
    assert folders() == []
    for name in ("mine-worker", "mine-worker2"):
        world.kube.patch(f"/api/v1/nodes/{name}", {"status": {"capacity": CAPACITY}})
    with up("mine", nodes=2, keep=True) as cluster:
        assert world.kube.names("nodes") == {"control-plane"}
        assert cluster.add_nodes([spec("node-1"), spec("node-2")]) == []
    assert world.commands().count("create cluster") == 1
    assert "delete cluster" not in world.commands()


@pytest.mark.parametrize("keep", [True, False])
def test_a_kept_cluster_is_taken_from_anywhere_with_the_folder_that_its_nodes_have(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: bool
) -> None:
    with up("mine", nodes=1, keep=True):
        pass
    world.kube.patch("/api/v1/nodes/mine-worker", {"status": {"capacity": CAPACITY}})
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with up("mine", nodes=1, keep=keep) as cluster:
        cluster.add_nodes([spec("node-1")])
        shared = world.here / ".pytest-kind" / "mine" / "shared"
        assert (shared / "mine-worker" / "flags.env").read_text().count("--hostname-override=node-1") == 1
    assert bool(world.engine.containers()) is keep


def test_a_new_cluster_for_every_run_is_not_kept(world: World) -> None:
    given = ClusterSpec(name="mine", fresh=True, kind=KindSpec(keep=True))
    with pytest.raises(InputError, match=r"--fresh .* --keep-cluster"), KindProvider().cluster(given):
        pytest.fail("there is a cluster")
    assert world.commands() == []
