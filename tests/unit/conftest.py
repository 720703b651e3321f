"""Unit tests keep everything in their own folder, never see the caller's settings, and start no cluster."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.cluster.registry import CLUSTERS
from harness.testing import FakeProvider


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STATE", "CACHE", "RUNS"):
        monkeypatch.setenv(f"HARNESS_{name}", str(tmp_path / f".{name.lower()}"))
    monkeypatch.delenv("HARNESS_CONTROLPLANE", raising=False)
    # Clusters of kind are found without any folder, and those of this machine are none of theirs.
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    # pytest-xdist tells its workers how wide the terminal is.
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def fake_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProvider:
    """The provider called "fake"."""
    provider = FakeProvider(tmp_path / ".clusters")
    monkeypatch.setitem(sys.modules, "fake_clusters", SimpleNamespace(make=lambda: provider))
    monkeypatch.setitem(CLUSTERS.built_in, "fake", "fake_clusters:make")
    return provider
