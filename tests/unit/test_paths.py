import stat
import tempfile
from pathlib import Path

import pytest

from harness import paths


def test_every_folder_can_be_moved_by_its_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, folder in (("CACHE", paths.cache_folder), ("STATE", paths.state_folder), ("RUNS", paths.runs_folder)):
        monkeypatch.setenv(f"HARNESS_{name}", str(tmp_path / name))
        assert folder() == tmp_path / name


def test_the_cache_is_the_users_own_unless_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HARNESS_CACHE")
    assert "scheduler-harness" in str(paths.cache_folder())


def test_records_lie_below_the_working_folder_unless_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HARNESS_RUNS")
    assert paths.runs_folder() == Path("reports/runs")


def test_the_state_folder_is_made_and_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_STATE", str(tmp_path / "deep" / "state"))
    folder = paths.state_folder()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert paths.state_folder() == folder


def test_the_usual_state_folder_leaves_room_for_a_sockets_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HARNESS_STATE")
    monkeypatch.setattr(tempfile, "tempdir", "/tmp")  # noqa: S108 - only looked at
    longest = paths.state_folder() / "clusters" / ("c" * 30) / "etcd.sock"
    assert len(str(longest)) < 100


def test_what_ships_is_found_in_a_checkout_and_in_an_installed_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (paths.shipped("controlplane") / "go.mod").is_file()
    assert (paths.shipped("scenarios") / "lab").is_dir()
    monkeypatch.setattr(paths, "PACKAGE", tmp_path / "site-packages" / "harness")
    assert paths.shipped("scenarios") == tmp_path / "site-packages" / "harness" / "shipped" / "scenarios"
