import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.cluster import abandoned
from harness.cluster.folder import ClusterFolder, folder_of, folders
from harness.cluster.registry import CLUSTERS
from harness.errors import ClusterError


class Leaving:
    """A provider whose clusters leave something elsewhere; at first it cannot be reached."""

    def __init__(self) -> None:
        self.reachable = False
        self.asked: list[tuple[str, Mapping[str, Any]]] = []

    def recover(self, folder: Path, facts: Mapping[str, Any]) -> Sequence[str]:
        self.asked.append((folder.name, facts))
        if not self.reachable:
            raise ClusterError("nobody answers")
        return ["namespace a", "node b"]


@pytest.fixture
def leaving(monkeypatch: pytest.MonkeyPatch) -> Leaving:
    provider = Leaving()
    monkeypatch.setitem(sys.modules, "leaving_clusters", SimpleNamespace(make=lambda: provider))
    monkeypatch.setitem(CLUSTERS.built_in, "leaving", "leaving_clusters:make")
    return provider


def left(name: str, provider: str) -> None:
    with ClusterFolder.create(name) as folder:
        folder.announce(provider=provider)
        folder.leave()


def test_a_folder_that_is_to_be_left_stays_and_has_no_owner() -> None:
    left("mine", "embedded")
    assert folder_of("mine").path.is_dir()
    assert not folder_of("mine").is_owned()


def test_what_is_left_elsewhere_goes_first_and_the_folder_stays_until_it_could(leaving: Leaving) -> None:
    left("theirs", "leaving")
    said: list[str] = []
    assert abandoned.remove(said.append) == []
    (told,) = said
    assert told.startswith("theirs: what it left could not be removed, and is tried again next time: nobody answers")
    assert told.endswith(f"delete {folder_of('theirs').path}")
    assert folder_of("theirs").path.is_dir()
    leaving.reachable = True
    said.clear()
    assert abandoned.remove(said.append) == ["theirs"]
    assert said == ["removed namespace a", "removed node b"]
    assert folders() == []
    assert {(name, facts["provider"]) for name, facts in leaving.asked} == {("theirs", "leaving")}


def test_an_owner_that_lives_is_not_recovered_from(leaving: Leaving) -> None:
    with ClusterFolder.create("mine") as folder:
        folder.announce(provider="leaving")
        assert abandoned.remove(lambda _: None) == []
    assert leaving.asked == []


@pytest.mark.parametrize("provider", ["embedded", "unheard-of", ""])
def test_others_leave_nothing_elsewhere(provider: str) -> None:
    left("mine", provider)
    assert abandoned.remove(lambda _: None) == ["mine"]
