import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cluster.base import Program, Workload
from harness.errors import ClusterError, InputError, VariantError
from harness.process import run
from harness.testing import FakeCluster, FakeScheduler
from harness.variant.base import Setup
from harness.variant.controller import ENV, NAME, ControllerVariant, controller_program

TOLD = {
    "KUBECONFIG": "{kubeconfig}",
    "PORT": "{port}",
    "SCHEDULER_NAME": "controller-scheduler",
    "HARNESS_SEED": "7",
}


class Watched(FakeCluster):
    """A cluster that remembers which programs it was asked to run."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.programs: list[Program | None] = []

    @contextlib.contextmanager
    def scheduler(
        self, config: str, name: str, program: Program | None = None, workload: Workload | None = None
    ) -> Iterator[FakeScheduler]:
        self.programs.append(program)
        with super().scheduler(config, name, program, workload) as scheduler:
            yield scheduler


class Broken(FakeCluster):
    """A cluster on which no scheduler comes up."""

    @contextlib.contextmanager
    def scheduler(self, *_: Any, **__: Any) -> Iterator[FakeScheduler]:
        raise ClusterError("controller did not answer")
        yield


def option_words(program: Program) -> list[str]:
    words = program.command
    return [words[place + 1] for place, word in enumerate(words) if word == "--option"]


def test_a_reference_is_our_own_module_told_where_everything_is() -> None:
    assert controller_program("ref:random", 7) == Program(
        (
            *(sys.executable, "-m", "harness.controller", "random"),
            *("--scheduler-name", NAME, "--kubeconfig", "{kubeconfig}", "--port", "{port}", "--seed", "7"),
        ),
        takes_flags=False,
        guarded=True,
        serves="http",
    )


def test_options_of_a_reference_are_passed_on() -> None:
    program = controller_program("ref:prefer-label?label=disk%3Dssd", 0)
    assert program.command[3] == "prefer-label"
    assert option_words(program) == ["label=disk=ssd"]
    with pytest.raises(InputError, match="--option other: policy prefer-label takes label"):
        controller_program("ref:prefer-label?label=a&other=1", 0)
    assert option_words(controller_program("ref:prefer-label?label=disk=ssd", 0)) == ["label=disk=ssd"]
    assert option_words(controller_program("ref:random", 0)) == []


def test_a_command_is_told_by_variables_and_gets_no_flags() -> None:
    program = controller_program("cmd:./controller --name 'two words'", 7)
    assert program.command == ("./controller", "--name", "two words")
    assert program.env == TOLD
    assert (program.takes_flags, program.guarded) == (False, True)


@pytest.mark.parametrize(
    ("command", "serves"), [("./c", "nothing"), ("./c --listen=127.0.0.1:{port}", "http"), ("./c {config}", "nothing")]
)
def test_only_a_command_that_is_told_a_port_can_serve_pages(command: str, serves: str) -> None:
    assert controller_program(f"cmd:{command}", 0).serves == serves


def test_a_go_folder_is_built_and_told_by_variables(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module example.test/mine\n\ngo 1.21\n")
    (tmp_path / "main.go").write_text('package main\n\nfunc main() { println("mine") }\n')
    program = controller_program(f"go:{tmp_path}", 7)
    assert run(program.command) == "mine\n"
    assert program.env == TOLD
    assert (program.takes_flags, program.guarded, program.serves) == (False, True, "nothing")


def test_seeds_of_one_do_not_reach_another() -> None:
    assert controller_program("cmd:a", 1).env["HARNESS_SEED"] == "1"
    assert controller_program("cmd:a", 2).env["HARNESS_SEED"] == "2"
    assert "HARNESS_SEED" not in ENV


@pytest.mark.parametrize("text", ["cmd:", "cmd:  "])
def test_a_command_of_no_words_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"cmd: *: a command expected"):
        controller_program(text, 0)


@pytest.mark.parametrize("text", ["least-loaded", "", "image:mine", "http://127.0.0.1:1"])
def test_anything_else_is_refused_with_the_forms_there_are(text: str) -> None:
    with pytest.raises(InputError, match=r"--controller \".*\": one of ref:POLICY, cmd:COMMAND, go:FOLDER expected"):
        controller_program(text, 0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cmd:nosuchprog", "cmd:nosuchprog: no program 'nosuchprog' on PATH that may be executed"),
        ("cmd:nosuchprog --token abc", "cmd:nosuchprog --token redacted-secret: no program"),
        ("go:./nope", "go:nope: no such folder"),
        ("ref:nope", 'policy "nope": unknown'),
        ("nope", '--controller "nope": one of'),
    ],
)
def test_what_is_not_there_is_input_and_nothing_is_started(tmp_path: Path, text: str, told: str) -> None:
    cluster = Watched(tmp_path)
    with pytest.raises(InputError, match=told):
        ControllerVariant().install(cluster, Setup(controller=text)).__enter__()
    assert cluster.programs == []


def test_pods_ask_for_the_controller_and_the_record_tells_which_it_was(tmp_path: Path) -> None:
    cluster = Watched(tmp_path)
    with ControllerVariant().install(cluster, Setup(controller="ref:random", controller_seed=5)) as installed:
        assert (installed.variant, installed.asks_for, list(installed.schedulers)) == ("controller", NAME, [NAME])
        assert yaml.safe_load(installed.config) == {
            "controller": "ref:random",
            "profiles": [{"schedulerName": NAME}],
            "settings": {"qps": -1, "burst": 0, "leaderElect": False},
        }
        assert installed.notes == ()
    assert cluster.programs == [controller_program("ref:random", 5)]


def test_without_one_the_reference_stands_there(tmp_path: Path) -> None:
    cluster = Watched(tmp_path)
    with ControllerVariant().install(cluster) as installed:
        assert yaml.safe_load(installed.config)["controller"] == "ref:least-loaded"
    assert cluster.programs == [controller_program("ref:least-loaded", 0)]


def test_one_without_a_health_page_is_told_to_be_unproven(tmp_path: Path) -> None:
    with ControllerVariant().install(Watched(tmp_path), Setup(controller="cmd:sh ./mine")) as installed:
        (note,) = installed.notes
        assert note.startswith("cmd:sh ./mine: it serves no health page ({port} in its command would say where)")


def test_one_that_does_not_come_up_is_told_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(VariantError, match=r"cmd:sh ./mine: the controller does not come up: controller did not"):
        ControllerVariant().install(Broken(tmp_path), Setup(controller="cmd:sh ./mine")).__enter__()
