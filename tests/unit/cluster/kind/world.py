"""An engine and what is made with it, as the provider of kind sees them."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.cluster.base import ClusterSpec, KindSpec
from harness.cluster.folder import folders
from harness.cluster.kind.cluster import ClusterOnKind
from harness.cluster.kind.provider import KindProvider
from harness.kube import Kube
from tests.unit.cluster.kind.given import Engine, KindKube

SYSTEM = ("kindnet", "kube-proxy")


class World:
    """An engine, and the API server of whatever cluster was made with it."""

    def __init__(self, engine: Engine, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.engine = engine
        self.here = folder / "here"
        self.here.mkdir()
        self.kubes: list[KindKube] = []
        monkeypatch.chdir(self.here)
        monkeypatch.setattr(Kube, "connect", self.connect)

    def connect(self, kubeconfig: Path, context: str | None = None) -> KindKube:
        assert "of-the-administrator" in kubeconfig.read_text()
        if not self.kubes:
            self.kubes.append(KindKube(*self.engine.containers()[:-1]))
            for name in SYSTEM:
                metadata = {"name": name, "namespace": "kube-system"}
                self.kubes[0].create({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata})
        return self.kubes[0]

    @property
    def kube(self) -> KindKube:
        return self.kubes[0]

    def commands(self) -> list[str]:
        return [" ".join(call[:2]) for call in self.engine.programs.calls("kind")]

    def workers(self) -> int:
        """Return how many workers the last cluster was created with."""
        return sum(node["role"] == "worker" for node in self.engine.config()["nodes"])


def facts() -> dict[str, Any]:
    (folder,) = folders()
    return folder.facts()


@contextlib.contextmanager
def up(name: str | None = None, nodes: int = 0, **kind: Any) -> Iterator[ClusterOnKind]:
    with KindProvider().cluster(ClusterSpec(name=name, nodes=nodes, kind=KindSpec(**kind))) as cluster:
        yield cluster
