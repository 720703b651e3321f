import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from harness import toolchain
from harness.cluster.base import ClusterSpec
from harness.cluster.embedded import build
from harness.cluster.embedded.build import binaries_for, is_built
from harness.cluster.embedded.releases import release
from harness.errors import BuildError, CommandError, InputError
from harness.paths import cache_folder
from harness.toolchain import Toolchain

FACTS = {"kubernetes": "1.36.0", "etcd": "3.6.0", "kwok": "0.8.0"}


@pytest.fixture
def built(tmp_path: Path) -> Path:
    folder = tmp_path / "built"
    folder.mkdir()
    (folder / build.PROGRAM).touch()
    (folder / build.STAGES).touch()
    (folder / build.FACTS).write_text(json.dumps(FACTS))
    return folder


def test_a_named_folder_is_used_as_it_is(built: Path) -> None:
    binaries = binaries_for(ClusterSpec(binaries=built))
    assert binaries.folder == built
    assert (binaries.kubernetes, binaries.etcd, binaries.kwok) == ("1.36.0", "3.6.0", "0.8.0")
    assert binaries.program.is_file()
    assert binaries.stages.is_file()


def test_the_variable_names_a_folder_too_and_the_option_goes_before_it(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_CONTROLPLANE", str(built))
    assert binaries_for(ClusterSpec()).folder == built
    with pytest.raises(InputError, match="elsewhere: no built control plane there"):
        binaries_for(ClusterSpec(binaries=tmp_path / "elsewhere"))


@pytest.mark.parametrize("missing", [build.PROGRAM, build.STAGES, build.FACTS])
def test_a_named_folder_that_lacks_a_file_is_refused_with_what_is_expected(built: Path, missing: str) -> None:
    (built / missing).unlink()
    with pytest.raises(InputError) as caught:
        binaries_for(ClusterSpec(binaries=built))
    message = str(caught.value)
    assert message.startswith(f"{built}: no built control plane there")
    for part in (build.PROGRAM, build.STAGES, build.FACTS, "--controlplane-bin", "HARNESS_CONTROLPLANE"):
        assert part in message


@pytest.mark.parametrize("text", ["{half", "{}", "[]"])
def test_a_named_folder_whose_facts_cannot_be_read_is_refused(built: Path, text: str) -> None:
    (built / build.FACTS).write_text(text)
    with pytest.raises(InputError, match="no built control plane there"):
        binaries_for(ClusterSpec(binaries=built))


def test_a_named_folder_of_another_version_is_refused(built: Path) -> None:
    with pytest.raises(InputError, match=r"--kubernetes 1\.34: .* holds Kubernetes 1\.36\.0; name only one"):
        binaries_for(ClusterSpec(kubernetes="1.34", binaries=built))


class Go:
    """Stands where the compiler would."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, trouble: Exception | None = None) -> None:
        self.trouble = trouble
        self.compiled: list[str] = []
        monkeypatch.setattr(toolchain, "find", lambda minimum: Toolchain(Path("/go"), minimum, "PATH"))
        monkeypatch.setattr(build, "_compile", self.compile)
        monkeypatch.setattr(build, "run", lambda command: "stages")

    def compile(self, wanted: Any, go: Toolchain, output: Path) -> None:
        output.write_text("half a binary")
        if self.trouble:
            raise self.trouble
        self.compiled.append(wanted.version)


def test_what_is_built_once_is_taken_from_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    go = Go(monkeypatch)
    assert not is_built(release(None))
    first = binaries_for(ClusterSpec())
    assert is_built(release(None))
    assert binaries_for(ClusterSpec()) == first
    assert go.compiled == [release(None).version] == [first.kubernetes]
    assert first.folder.is_relative_to(cache_folder())
    assert first.stages.read_text() == "stages"


def test_every_release_has_its_own_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    go = Go(monkeypatch)
    folders = {binaries_for(ClusterSpec(kubernetes=minor)).folder for minor in ("1.35", "1.36")}
    assert len(folders) == len(go.compiled) == 2


def test_other_flags_and_other_sources_are_built_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    Go(monkeypatch)
    before = binaries_for(ClusterSpec()).folder
    monkeypatch.setattr(build, "FLAGS", ("-race",))
    flagged = binaries_for(ClusterSpec()).folder
    monkeypatch.undo()
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "main.go").write_text("package main")
    Go(monkeypatch)
    monkeypatch.setattr(build, "shipped", lambda name: tmp_path / "source")
    changed = binaries_for(ClusterSpec()).folder
    assert len({before.name, flagged.name, changed.name}) == 3


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (CommandError(["go", "build"], 1, "cannot find module"), ["cannot find module", "GOPROXY", "run again"]),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), ["No space left on device", "4 GB", "HARNESS_CACHE"]),
    ],
)
def test_a_build_that_fails_says_why_and_leaves_no_half_binary(
    monkeypatch: pytest.MonkeyPatch, trouble: Exception, told: list[str]
) -> None:
    Go(monkeypatch, trouble)
    with pytest.raises(BuildError) as caught:
        binaries_for(ClusterSpec())
    for words in told:
        assert words in str(caught.value)
    assert not [path for path in (cache_folder() / "controlplane").iterdir() if path.is_dir()]


def test_an_interrupted_build_leaves_no_half_binary(monkeypatch: pytest.MonkeyPatch) -> None:
    go = Go(monkeypatch)

    def interrupt(wanted: Any, go: Toolchain, output: Path) -> None:
        output.write_text("half a binary")
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "_compile", interrupt)
    with pytest.raises(KeyboardInterrupt):
        binaries_for(ClusterSpec())
    assert not is_built(release(None))
    monkeypatch.setattr(build, "_compile", go.compile)
    assert binaries_for(ClusterSpec()).program.is_file()
