from pathlib import Path
from typing import Literal

import pytest

from harness.cluster.base import Program
from harness.errors import InputError
from harness.process import run
from harness.variant.program import program_of, unproven

VERSIONS = {"kubernetes": "1.36.4"}
MAIN = 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("mine") }\n'


def test_nothing_named_is_the_stock_scheduler() -> None:
    assert program_of(None, VERSIONS) is None


def test_a_command_gets_the_flags_of_kube_scheduler() -> None:
    assert program_of("cmd:/opt/my-scheduler --v=2 'two words'", VERSIONS) == Program(
        ("/opt/my-scheduler", "--v=2", "two words"), takes_flags=True, guarded=True, serves="https"
    )


@pytest.mark.parametrize(
    ("mark", "serves"),
    [("{config}", "nothing"), ("--port={port}", "https"), ("--kubeconfig={kubeconfig}", "nothing")],
)
def test_a_command_that_says_where_flags_go_gets_no_others(mark: str, serves: Literal["https", "nothing"]) -> None:
    """One that is not told a port cannot know where to serve its pages, so nobody waits for them."""
    found = program_of(f"cmd:my-scheduler {mark}", VERSIONS)
    assert found == Program(("my-scheduler", mark), takes_flags=False, guarded=True, serves=serves)
    assert bool(unproven("cmd:my-scheduler", found)) == (serves == "nothing")


def test_a_mark_that_nobody_fills_in_is_no_mark() -> None:
    found = program_of("cmd:my-scheduler {name}", VERSIONS)
    assert found
    assert found.takes_flags


def test_a_go_folder_is_built_and_gets_the_flags(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module example.test/mine\n\ngo 1.21\n")
    (tmp_path / "main.go").write_text(MAIN)
    found = program_of(f"go:{tmp_path}", VERSIONS)
    assert found
    assert (found.takes_flags, found.guarded, found.serves) == (True, True, "https")
    assert run(found.command) == "mine\n"


def test_a_go_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"go:.*missing: no such folder"):
        program_of(f"go:{tmp_path}/missing", VERSIONS)


@pytest.mark.parametrize("text", ["cmd:", "cmd:   "])
def test_a_command_of_no_words_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"cmd: *: a command expected"):
        program_of(text, VERSIONS)


def test_an_image_is_named_for_clusters_that_run_containers() -> None:
    assert program_of("image:mine:1.0", VERSIONS) == Program((), image="mine:1.0", guarded=True)


@pytest.mark.parametrize("text", ["my-scheduler", "", "http://127.0.0.1:1", "CMD:x"])
def test_anything_else_is_refused_with_the_forms_there_are(text: str) -> None:
    with pytest.raises(InputError, match=r"--scheduler \".*\": one of cmd:COMMAND, go:FOLDER, image:NAME"):
        program_of(text, VERSIONS)
