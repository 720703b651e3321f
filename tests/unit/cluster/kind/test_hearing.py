"""Nodes are handed over when schedulers have had the time to hear of them."""

from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from harness.cluster.kind import cluster as module
from harness.cluster.kind.cluster import ClusterOnKind
from harness.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Scheduler:
    """A scheduler that notes when it was asked."""

    config = ""

    def __init__(self, name: str, said: list[str], trouble: ClusterError | None = None) -> None:
        self.name, self.said, self.trouble = name, said, trouble

    def page(self, path: str) -> str:
        self.said.append(f"{self.name} {path}")
        if self.trouble:
            raise self.trouble
        return "ok"


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    told: list[str] = []
    monkeypatch.setattr(module, "SYSTEM", SimpleNamespace(pause=lambda _: told.append("pause")))
    return told


def made(tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch) -> ClusterOnKind:
    def register(specs: list[object]) -> list[str]:
        said.append(f"{len(specs)} nodes")
        return ["short of memory"]

    parts: Any = SimpleNamespace(
        kube=None, pool=SimpleNamespace(register=register), leader=SimpleNamespace(container="c"), pods=None, token=""
    )

    @contextmanager
    def stock(config: Scheduler, log: Path) -> "Iterator[Scheduler]":
        yield config

    # What it is made of looks at a cluster that is not there.
    monkeypatch.setattr(module, "Baseline", lambda *_: None)
    monkeypatch.setattr(module, "SchedulerRoom", lambda *_: SimpleNamespace(stock=stock))
    return ClusterOnKind(tmp_path, tmp_path, tmp_path / "kubeconfig", {}, parts)


def test_every_scheduler_that_runs_answers_after_the_nodes_are_there(
    tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = made(tmp_path, said, monkeypatch)
    one: Any = Scheduler("one", said)
    two: Any = Scheduler("two", said, ClusterError("no pages"))
    node: Any = SimpleNamespace(name="node-1")
    with cluster.scheduler(one, "one"), cluster.scheduler(two, "two"):
        assert cluster.add_nodes([node]) == ["short of memory"]
    assert said == ["1 nodes", "one /healthz", "two /healthz", "pause"]
    said.clear()
    cluster.add_nodes([node])
    assert said == ["1 nodes", "pause"]
    said.clear()
    cluster.add_nodes([])
    assert said == ["0 nodes"]
