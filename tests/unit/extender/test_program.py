from pathlib import Path

import pytest

from harness.errors import BuildError, InputError
from harness.extender.subject.program import program_of
from harness.process import run

MAIN = 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println(%s) }\n'


@pytest.fixture
def module(tmp_path: Path) -> Path:
    folder = tmp_path / "extender"
    folder.mkdir()
    (folder / "go.mod").write_text("module example.test/extender\n\ngo 1.21\n")
    (folder / "main.go").write_text(MAIN % '"one"')
    return folder


def test_a_folder_is_built_once_per_state_of_its_sources(module: Path) -> None:
    first = program_of(module)
    assert run([str(first)]) == "one\n"
    changed = first.stat().st_mtime_ns
    assert program_of(module) == first
    assert first.stat().st_mtime_ns == changed
    (module / "main.go").write_text(MAIN % '"two"')
    assert run([str(program_of(module))]) == "two\n"


def test_what_a_program_takes_from_other_folders_counts_too(module: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "go.mod").write_text("module example.test/other\n\ngo 1.21\n")
    (other / "word.go").write_text('package other\n\nconst Word = "one"\n')
    (module / "go.mod").write_text(
        "module example.test/extender\n\ngo 1.21\n\nrequire example.test/other v0.0.0\n\n"
        "replace example.test/other => ../other\n"
    )
    main = 'package main\n\nimport "fmt"\nimport "example.test/other"\n\nfunc main() { fmt.Println(other.Word) }\n'
    below = module / "cmd" / "server"
    below.mkdir(parents=True)
    (below / "main.go").write_text(main)
    assert run([str(program_of(below))]) == "one\n"
    (other / "word.go").write_text('package other\n\nconst Word = "two"\n')
    assert run([str(program_of(below))]) == "two\n"


def test_what_the_compiler_says_is_shown_as_it_says_it(module: Path) -> None:
    (module / "main.go").write_text(MAIN % "missing")
    with pytest.raises(BuildError) as caught:
        program_of(module)
    assert "main.go:5:27: undefined: missing" in str(caught.value)


def test_a_folder_without_a_program_names_those_below_it(module: Path, tmp_path: Path) -> None:
    below = module / "cmd" / "server"
    below.mkdir(parents=True)
    (module / "main.go").rename(below / "main.go")
    (module / "library.go").write_text("package library\n")
    with pytest.raises(InputError, match=f"not main.*go:{below}"):
        program_of(module)
    with pytest.raises(InputError, match=r"no go\.mod"):
        program_of(tmp_path)
