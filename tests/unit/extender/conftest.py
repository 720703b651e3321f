"""What several tests about extenders need and is slow to make."""

from pathlib import Path

import pytest

from harness.extender.tap import program


@pytest.fixture(scope="session")
def cache_with_tap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that has the tap's program: built once, not once per test."""
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(cache))
        program()
    return cache


@pytest.fixture
def built_tap(own_folders: None, cache_with_tap: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tap's program is there already."""
    monkeypatch.setenv("HARNESS_CACHE", str(cache_with_tap))
