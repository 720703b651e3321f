from pathlib import Path

import pytest

from harness.errors import InputError
from harness.extender.subject import revision
from harness.extender.subject.parse import parse
from harness.extender.subject.program import program_of
from harness.process import run

MAIN = 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("%s") }\n'


def git(folder: Path, *arguments: str) -> None:
    named = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.test", "-c", "commit.gpgsign=false"]
    run(["git", "-C", str(folder), *named, *arguments])


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a Go folder of two versions, v1 and v2, and something that is not committed."""
    top = tmp_path / "work"
    folder = top / "cmd" / "extender"
    folder.mkdir(parents=True)
    git(tmp_path, "init", "--quiet", "--initial-branch=trunk", str(top))
    (top / "README").write_text("nothing yet\n")
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--message=empty")
    git(top, "tag", "v0")
    (top / "go.mod").write_text("module example.test/extender\n\ngo 1.21\n")
    for version in ("v1", "v2"):
        (folder / "main.go").write_text(MAIN % version)
        git(top, "add", "--all")
        git(top, "commit", "--quiet", f"--message={version}")
        git(top, "tag", version)
    (folder / "main.go").write_text(MAIN % "changed")
    return top


def built(text: str) -> str:
    subject = parse(text)
    return run([str(program_of(subject.folder / subject.target))])


def test_a_folder_is_built_as_each_revision_has_it(repository: Path) -> None:
    folder = repository / "cmd" / "extender"
    assert built(f"go:{folder}@v1") == "v1\n"
    assert built(f"go:{folder}@HEAD~1 -- -port {{port}}") == "v1\n"
    assert built(f"go:{folder}@trunk") == "v2\n"
    assert built(f"go:{folder}") == "changed\n"
    assert (folder / "main.go").read_text() == MAIN % "changed"


def test_the_repository_stays_as_it_is(repository: Path) -> None:
    before = run(["git", "-C", str(repository), "status", "--porcelain=v2", "--branch"])
    listed = sorted(str(path) for path in (repository / ".git").rglob("*") if path.is_file())
    revision.checked_out(repository / "cmd" / "extender", "v1")
    assert run(["git", "-C", str(repository), "status", "--porcelain=v2", "--branch"]) == before
    assert sorted(str(path) for path in (repository / ".git").rglob("*") if path.is_file()) == listed


def test_a_revision_is_taken_once_by_its_commit(repository: Path) -> None:
    folder = repository / "cmd" / "extender"
    assert revision.checked_out(folder, "v2") == revision.checked_out(folder, "trunk")
    assert revision.checked_out(folder, "v2") != revision.checked_out(folder, "v1")


def test_what_a_hook_of_git_sets_leads_nowhere_else(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", str(repository / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(repository / "elsewhere"))
    assert (revision.checked_out(repository / "cmd" / "extender", "v1") / "main.go").read_text() == MAIN % "v1"


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("v11", r"no revision 'v11'.*did you mean .*v1"),
        ("--help", r"no revision '--help'.*known: trunk"),
        ("v0", r"has no folder cmd/extender/"),
    ],
)
def test_what_cannot_be_taken_is_said_with_what_could(repository: Path, wanted: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        revision.checked_out(repository / "cmd" / "extender", wanted)


def test_a_folder_outside_of_every_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="in no Git repository"):
        program_of(Path(f"{tmp_path}@v1"))


def test_an_at_sign_in_a_name_is_no_revision(tmp_path: Path) -> None:
    plain = tmp_path / "extender@v1"
    plain.mkdir()
    assert revision.split(plain) is None
    assert revision.split(Path(f"{plain}@HEAD@{{1}}")) == (plain, "HEAD@{1}")
    assert revision.split(tmp_path / "missing@v1") is None
    with pytest.raises(InputError, match="no such folder"):
        program_of(tmp_path / "missing@v1")
