"""What is left of kind clusters whose owners were killed."""

from pathlib import Path
from typing import Any

import pytest

from harness.cluster import abandoned
from harness.cluster.folder import ClusterFolder, folders
from harness.cluster.kind.provider import KindProvider
from tests.unit.cluster.kind.given import Engine


def test_what_a_killed_owner_left_is_deleted_by_its_label(engine: Engine) -> None:
    engine.add_left("harness-c1")
    told = KindProvider().recover(Path("/nowhere"), {"provider": "kind", "kind": "harness-c1"})
    assert list(told) == ["kind cluster harness-c1"]
    assert engine.containers() == []
    # kind itself may not be there any more.
    assert engine.programs.calls("kind") == []
    assert list(KindProvider().recover(Path("/nowhere"), {"kind": "harness-c1"})) == []


@pytest.mark.parametrize("facts", [{}, {"kind": None}])
def test_what_was_never_made_is_left_alone(engine: Engine, facts: dict[str, Any]) -> None:
    engine.add_stranger("harness-c1")
    assert list(KindProvider().recover(Path("/nowhere"), facts)) == []
    assert engine.programs.calls("docker") == []


def test_what_cannot_be_removed_now_is_tried_again_next_time(engine: Engine) -> None:
    with ClusterFolder.create("killed") as folder:
        folder.announce(provider="kind", kind="killed")
        folder.leave()
    engine.put_docker({"version*": "echo Cannot connect >&2; exit 1"})
    said: list[str] = []
    assert abandoned.remove(said.append) == []
    assert "tried again next time" in said[0]
    assert [one.name for one in folders()] == ["killed"]
    engine.put_docker()
    engine.add_left("killed")
    said.clear()
    assert abandoned.remove(said.append) == ["killed"]
    assert said == ["removed kind cluster killed"]
    assert (folders(), engine.containers()) == ([], [])


def test_a_strangers_cluster_of_the_same_name_is_left_alone(engine: Engine) -> None:
    engine.add_stranger("mine")
    assert list(KindProvider().recover(Path("/nowhere"), {"kind": "mine"})) == []
    assert engine.containers() == ["mine-control-plane"]
