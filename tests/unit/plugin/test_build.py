import json
import os
from pathlib import Path, PurePosixPath

import pytest

from harness.cluster.embedded.releases import release
from harness.errors import InputError, MissingToolError
from harness.paths import cache_folder
from harness.plugin import build
from harness.plugin.build import plugin_names, scheduler_for
from harness.plugin.source import PluginSource
from tests.unit.plugin.given import plugin


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What was built, where the compiler would stand."""
    made: list[Path] = []

    def into(self: build._Build, draft: Path) -> None:
        (draft / build.PROGRAM).write_text("program")
        (draft / build.FACTS).write_text(json.dumps({"plugins": ["Colors"]}))
        made.append(draft)

    monkeypatch.setattr(build._Build, "into", into)
    return made


def scheduler(folder: Path, *, minor: str | None = None, target: str = "", changes: Path | None = None) -> Path:
    return scheduler_for([PluginSource.parse(f"go:{folder}{target}")], release(minor), changes)


def test_the_same_sources_are_built_once_wherever_they_lie(tmp_path: Path, built: list[Path]) -> None:
    first = scheduler(plugin(tmp_path / "one"))
    assert scheduler(plugin(tmp_path / "two")) == first
    assert first.is_relative_to(cache_folder() / "schedulers")
    assert plugin_names(first) == ["Colors"]
    assert len(built) == 1


def test_whatever_makes_another_program_is_built_anew(
    tmp_path: Path, built: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = plugin(tmp_path / "colors")
    changes = tmp_path / "changes" / "pkg" / "scheduler"
    changes.mkdir(parents=True)
    (changes / "scheduler.go").write_text("one")
    programs = [scheduler(folder), scheduler(folder, minor="1.35"), scheduler(folder, target=":Other")]
    programs.append(scheduler(folder, changes=tmp_path / "changes"))
    (changes / "scheduler.go").write_text("two")
    programs.append(scheduler(folder, changes=tmp_path / "changes"))
    (folder / "more.go").write_text("package colors\n")
    programs.append(scheduler(folder))
    (folder / "below").mkdir()
    (folder / "below" / "deep.go").write_text("package below\n")
    programs.append(scheduler(folder))
    monkeypatch.setattr(build, "FLAGS", ("-race",))
    programs.append(scheduler(folder))
    assert len(set(programs)) == len(programs) == len(built)


def test_a_plugin_that_needs_a_newer_go_is_told_so(tmp_path: Path, built: list[Path]) -> None:
    folder = plugin(tmp_path)
    (folder / "go.mod").write_text("module example.com/me\n\ngo 1.99.0\n")
    with pytest.raises(MissingToolError, match=r"Go 1\.99\.0 or newer"):
        scheduler(folder)


def test_a_plugin_for_another_minor_is_refused_before_anything_is_compiled(tmp_path: Path) -> None:
    folder = plugin(tmp_path)
    (folder / "go.mod").write_text("module example.com/me\n\ngo 1.24.0\n\nrequire k8s.io/kubernetes v1.33.0\n")
    with pytest.raises(InputError, match=r"the plugin is for Kubernetes 1\.33"):
        scheduler(folder)
    assert not [path for path in (cache_folder() / "schedulers").iterdir() if path.is_dir()]


def test_old_builds_of_the_same_plugins_are_forgotten(tmp_path: Path, built: list[Path]) -> None:
    folder, builds = plugin(tmp_path / "colors"), []
    for number in range(build.BUILDS_KEPT + 2):
        (folder / "more.go").write_text(f"package colors\n\n// {number}\n")
        builds.append(scheduler(folder).parent)
    assert all(one.exists() for one in builds)
    for number, one in enumerate(builds):
        age = build.FORGOTTEN_SECONDS * 2 - number
        os.utime(one, (one.stat().st_mtime - age,) * 2)
    other = scheduler(folder, minor="1.35").parent
    assert all(one.exists() for one in builds)
    (folder / "more.go").write_text("package colors\n")
    last = scheduler(folder).parent
    left = [one.exists() for one in (*builds, last, other)]
    assert left == [False, False, *([True] * (build.BUILDS_KEPT + 2))]


def test_a_folder_that_stands_for_a_module_counts_as_source(tmp_path: Path, built: list[Path]) -> None:
    folder, library = plugin(tmp_path / "colors"), tmp_path / "library"
    library.mkdir()
    (library / "library.go").write_text("package library\n")
    (folder / "go.mod").write_text("module example.com/me\n\nreplace example.com/library => ../library\n")
    before = scheduler(folder)
    (library / "library.go").write_text("package library // changed\n")
    assert scheduler(folder) != before


SAID = """\
internal/goarch
# plugin.test/colors
../colors/colors.go:3:1: undefined: x
\thave (int)
/home/me/colors.go:4:1: undefined: y
modules/k8s.io_kubernetes/pkg/scheduler/scheduler.go:5:6: undefined: z
./main.go:20:3: cannot use plugin0.New as it is
"""


def test_the_compiler_is_quoted_with_the_paths_of_the_users_own_files() -> None:
    mine = Path("/home/me/changed/scheduler.go")
    changed = {"k8s.io/kubernetes": {PurePosixPath("pkg/scheduler/scheduler.go"): mine}}
    assert build._as_users_know_it(SAID, Path("/builds/1"), changed).splitlines() == [
        "# plugin.test/colors",
        "/builds/colors/colors.go:3:1: undefined: x",
        "\thave (int)",
        "/home/me/colors.go:4:1: undefined: y",
        "/home/me/changed/scheduler.go:5:6: undefined: z",
        "main.go (written by the harness):20:3: cannot use plugin0.New as it is",
    ]
