from pathlib import Path, PurePosixPath

import pytest

from harness.errors import InputError
from harness.plugin import changes

SCHEDULER = "pkg/scheduler/scheduler.go"


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_go", ".go")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def original(tmp_path: Path) -> Path:
    folder = tmp_path / "original"
    for name in (SCHEDULER, "pkg/scheduler/framework/types.go", "pkg/other/types.go"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("package x\n")
    return folder


def checked(folder: Path, original: Path) -> set[str]:
    files = changes.read(folder)[changes.KUBERNETES]
    changes.check(files, original, "1.36.4")
    return {str(path) for path in files}


def test_files_are_taken_by_their_place_in_the_source_tree(tmp_path: Path) -> None:
    folder = write(tmp_path / "mine", pkg__scheduler__scheduler_go="", **{"README.md": "", ".git__x": ""})
    (folder / "staging/src/k8s.io/kube-scheduler/framework").mkdir(parents=True)
    (folder / "staging/src/k8s.io/kube-scheduler/framework/types.go").write_text("")
    found = changes.read(folder)
    assert found["k8s.io/kube-scheduler"].keys() == {PurePosixPath("framework/types.go")}
    assert found[changes.KUBERNETES][PurePosixPath(SCHEDULER)] == folder / SCHEDULER
    assert PurePosixPath("README.md") not in found[changes.KUBERNETES]


def test_a_changed_file_replaces_the_one_of_its_path(tmp_path: Path, original: Path) -> None:
    assert checked(write(tmp_path / "mine", pkg__scheduler__scheduler_go=""), original) == {SCHEDULER}


@pytest.mark.parametrize(
    "files",
    [
        {"pkg__scheduler__scheduler_go": "", "pkg__scheduler__extra_go": ""},
        {"pkg__scheduler__scheduler_go": 'import "k8s.io/kubernetes/pkg/mine"', "pkg__mine__mine_go": ""},
        {
            "pkg__scheduler__scheduler_go": 'import "k8s.io/kubernetes/pkg/mine"',
            "pkg__mine__mine_go": 'import "k8s.io/kubernetes/pkg/deep"',
            "pkg__deep__deep_go": "",
        },
    ],
    ids=["beside", "imported", "imported by an added one"],
)
def test_a_file_may_be_added_that_a_changed_one_needs(tmp_path: Path, original: Path, files: dict[str, str]) -> None:
    assert len(checked(write(tmp_path / "mine", **files), original)) == len(files)


def test_a_file_that_is_nowhere_is_refused_with_near_ones(tmp_path: Path, original: Path) -> None:
    folder = write(tmp_path / "mine", pkg__scheduler__scheduler_go="", pkg__scheduler__frmework__types_go="")
    with pytest.raises(InputError) as caught:
        checked(folder, original)
    message = str(caught.value)
    assert message.startswith(f"{folder}/pkg/scheduler/frmework/types.go: Kubernetes 1.36.4 has no")
    assert "near ones: pkg/scheduler/framework/types.go, pkg/other/types.go" in message


@pytest.mark.parametrize(("name", "told"), [("nowhere", "no such folder"), ("empty", "no changed files there")])
def test_a_folder_without_changes_is_refused(tmp_path: Path, name: str, told: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=told):
        changes.read(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- {old: 5, new: x}", "edit 1: old: 5 seen, text expected"),
        ("- {old: a, new: b}\n- {old: x, new: null}", "edit 2: new: null seen, text expected"),
        ("- {old: [", "no YAML"),
        ("old: a", "a list of {old: …, new: …} expected"),
        ("- {old: a}", "a list of {old: …, new: …} expected"),
    ],
)
def test_an_edit_that_is_none_is_told_with_its_file_before_anything_is_built(
    tmp_path: Path, text: str, told: str
) -> None:
    folder = write(tmp_path / "mine", **{"pkg__scheduler__scheduler_go.edits.yaml": text})
    with pytest.raises(InputError) as caught:
        changes.read(folder)
    assert str(caught.value).startswith(f"{folder}/{SCHEDULER}.edits.yaml: {told}")
