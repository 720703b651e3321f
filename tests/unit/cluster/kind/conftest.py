"""Tests of kind see no container engine and no kind but those that they put there themselves."""

from pathlib import Path

import pytest

from tests.unit.cluster.kind.given import Engine, Programs
from tests.unit.cluster.kind.world import World


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """The only folder on PATH; empty."""
    return Programs(tmp_path / "bin", monkeypatch)


@pytest.fixture
def engine(programs: Programs, tmp_path: Path) -> Engine:
    """A container engine and kind, on PATH."""
    return Engine(programs, tmp_path / "engine")


@pytest.fixture
def world(engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> World:
    """An engine with the API server of whatever is made with it."""
    return World(engine, monkeypatch, tmp_path)
