"""Kind clusters that killed runs left, known by their containers alone: whose are deleted, and whose never are."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cluster import abandoned
from harness.cluster.folder import ClusterFolder, folders
from harness.cluster.kind import left
from harness.cluster.kind.containers import nodes
from harness.cluster.kind.owner import Owner
from harness.cluster.kind.provider import KindProvider
from harness.cluster.recovery import Sweeps, Swept
from harness.errors import InputError
from tests.unit.cluster.kind.given import Engine
from tests.unit.cluster.kind.world import World, up

US = Owner.here(keep=False)
GONE = replace(US, process="999999999")
NOTHING = Swept([], [])


def removed(engine: Engine) -> list[str]:
    return [call for call in engine.programs.said("docker") if call.startswith("rm")]


def doubt(why: str) -> Swept:
    return Swept([], [f'kind cluster c is left alone: {why}; "kind delete cluster --name c" removes it'])


def test_every_node_of_a_new_cluster_says_whose_it_is(world: World) -> None:
    for keep in (False, True):
        with up("mine", nodes=2, keep=keep):
            assert [node.owner for node in nodes("mine")] == [Owner.here(keep=keep)] * 3
            for node in world.engine.config()["nodes"]:
                assert node["extraMounts"][-1]["containerPath"] == Owner.here(keep=keep).place
                assert node["extraMounts"][-1]["readOnly"] is True
        world.kubes.clear()


def test_a_cluster_whose_owner_is_gone_is_deleted_although_no_folder_tells_of_it(engine: Engine) -> None:
    engine.add_left("c", GONE)
    assert folders() == []
    assert left.sweep() == Swept(["kind cluster c"], [])
    assert engine.containers() == []
    assert engine.programs.calls("kind") == []
    assert left.sweep() == NOTHING


def test_of_many_clusters_only_those_go(engine: Engine) -> None:
    engine.add_stranger("theirs")
    engine.add_left("first", GONE)
    engine.add_left("used", US)
    engine.add_left("kept", replace(GONE, keep="yes"))
    engine.add_left("second", replace(GONE, boot="another"))
    swept = left.sweep()
    assert swept.removed == ["kind cluster first", "kind cluster second"]
    assert [text.split()[2] for text in swept.doubts] == ["kept"]
    assert engine.containers() == ["theirs-control-plane", "used-control-plane", "kept-control-plane"]


def test_a_cluster_whose_owner_lives_is_passed_over(engine: Engine) -> None:
    engine.add_left("c", US)
    assert left.sweep() == NOTHING
    assert removed(engine) == []


def test_a_cluster_that_the_harness_did_not_make_is_not_even_mentioned(engine: Engine) -> None:
    engine.add_stranger("harness-c")
    assert left.sweep() == NOTHING
    assert removed(engine) == []


@pytest.mark.parametrize(
    ("owner", "why"),
    [
        (replace(GONE, keep="yes"), "it was made to be kept"),
        (replace(GONE, machine="other"), f"it was made on another machine ({US.host})"),
        (replace(GONE, host="far"), "it was made on another machine (far)"),
        (replace(GONE, user="4711"), "it was made by another user (uid 4711)"),
        (None, "it does not say whose it is"),
    ],
)
def test_what_cannot_be_proven_is_left_alone_and_told_with_the_reason_and_the_command(
    engine: Engine, owner: Owner | None, why: str
) -> None:
    engine.add_left("c", owner)
    assert left.sweep() == doubt(why)
    assert removed(engine) == []


@pytest.mark.parametrize("variable", ["tcp://10.0.0.1:2375", "ssh://far", None])
def test_on_an_engine_elsewhere_nothing_is_deleted(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, variable: str | None
) -> None:
    engine.add_left("c", GONE)
    if variable:
        monkeypatch.setenv("DOCKER_HOST", variable)
    else:
        engine.put_docker({'"context inspect"*': "echo ssh://far"})
    assert left.sweep() == doubt("it is on the container engine of another machine")
    assert removed(engine) == []


def test_where_nobody_tells_where_the_engine_is_nothing_is_deleted(engine: Engine) -> None:
    engine.add_left("c", GONE)
    engine.put_docker({'"context inspect"*': "echo unknown command >&2; exit 125"})
    assert left.sweep().removed == []
    assert engine.containers()


def test_a_cluster_of_which_one_node_is_somebody_elses_is_left_alone(engine: Engine, tmp_path: Path) -> None:
    engine.add_left("c", GONE)
    shown = f"printf 'id-1\\tc\\t{GONE.place}\\t/a\\nid-2\\tc\\t/lib\\t/lib\\n'"
    engine.put_docker({'"inspect --format {{.Id}}"*': shown})
    assert left.sweep() == doubt("it does not say whose it is")
    assert removed(engine) == []


def test_a_new_cluster_of_the_same_name_that_comes_meanwhile_is_spared(engine: Engine, tmp_path: Path) -> None:
    engine.add_left("c", GONE)
    asked = tmp_path / "asked"
    # Somebody else has swept before us, and made their own.
    first, then = (f"printf 'id-{one.process}\\tc\\t{one.place}\\t/a\\n'" for one in (GONE, US))
    engine.put_docker(
        {'"inspect --format {{.Id}}"*': f"if [ -e {asked} ]; then {then}; else touch {asked}; {first}; fi"}
    )
    left.sweep()
    assert removed(engine) == []


def test_a_container_that_was_still_being_made_goes_too(engine: Engine, tmp_path: Path) -> None:
    engine.add_left("c", GONE)
    listed, late = tmp_path / "engine" / "containers", tmp_path / "late"
    # The first removal is followed by one more container.
    engine.put_docker({"rm*": f"if [ -e {late} ]; then true >{listed}; else touch {late}; echo c-worker >{listed}; fi"})
    assert left.sweep().removed == ["kind cluster c"]
    assert engine.containers() == []
    assert [call.split()[-1] for call in removed(engine)] == ["id-of-c-control-plane", "id-of-c-worker"]


def test_without_an_engine_there_is_nothing_to_sweep(engine: Engine) -> None:
    engine.add_left("c", GONE)
    engine.put_docker({"version*": "echo Cannot connect >&2; exit 1"})
    assert KindProvider().sweep() == Swept()
    (engine.programs.folder / "docker").unlink()
    assert KindProvider().sweep() == Swept()


def test_what_went_and_what_stays_is_said(engine: Engine) -> None:
    assert isinstance(KindProvider(), Sweeps)
    engine.add_left("c", GONE)
    engine.add_left("d", replace(GONE, keep="yes"))
    said: list[str] = []
    doubts: list[str] = []
    abandoned.sweep(said.append, doubts.append)
    assert said == ["removed kind cluster c"]
    assert doubts == ['kind cluster d is left alone: it was made to be kept; "kind delete cluster --name d" removes it']


def test_a_removal_that_fails_is_said(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.cluster.kind.creation.REMOVAL_SECONDS", 0.0)
    engine.add_left("c", GONE)
    engine.put_docker({"rm*": "echo device or resource busy >&2; exit 1"})
    said: list[str] = []
    abandoned.sweep(said.append, said.append)
    (told,) = said
    assert "clusters of kind" in told
    assert "device or resource busy" in told


def test_a_new_cluster_takes_the_place_of_one_that_was_left(world: World) -> None:
    world.engine.add_left("mine", GONE)
    with up("mine", nodes=1):
        assert world.commands().count("create cluster") == 1
        assert [node.owner for node in nodes("mine")] == [US] * 2


@pytest.mark.parametrize("owner", [US, replace(GONE, host="far")])
def test_a_cluster_that_was_not_made_to_be_kept_is_not_taken_from_its_owner(world: World, owner: Owner) -> None:
    world.engine.add_left("mine", owner)
    told = rf'"mine" is there already .* process {owner.process} on {owner.host} made it. .*--cluster-name'
    with pytest.raises(InputError, match=told), up("mine", nodes=1):
        pytest.fail("it was taken")
    assert world.engine.containers() == ["mine-control-plane"]


def test_a_folder_that_a_killed_run_left_removes_no_cluster_that_is_another_process_own_now(engine: Engine) -> None:
    with ClusterFolder.create("mine") as folder:
        folder.announce(provider="kind", kind="mine")
        folder.leave()
    engine.add_left("mine", US)
    assert abandoned.remove(lambda _: None) == ["mine"]
    assert engine.containers() == ["mine-control-plane"]
    assert os.getpid() == int(US.process)
