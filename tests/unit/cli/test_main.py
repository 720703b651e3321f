import re

import pytest

from harness import __version__
from harness.cli import schema as schema_command
from harness.cli.main import COMMANDS, cli
from harness.errors import ClusterError, InputError
from tests.unit.cli.conftest import Harness

VISIBLE = [name for name in COMMANDS if name != "keep"]


@pytest.mark.parametrize("name", VISIBLE)
def test_the_help_of_every_command_has_an_example_of_itself(harness: Harness, name: str) -> None:
    ended = harness(name, "--help")
    assert ended.code == 0
    assert re.search(r"^  Examples?:$", ended.out, re.MULTILINE)
    assert re.search(rf"^    (export \w+=\$\()?harness {name}\b", ended.out, re.MULTILINE)


def test_the_help_lists_every_command_and_examples_and_hides_what_is_not_for_people(harness: Harness) -> None:
    ended = harness("--help")
    assert ended.code == 0
    for name in VISIBLE:
        assert re.search(rf"^  {name}  +\w", ended.out, re.MULTILINE), name
    assert "Examples:" in ended.out
    assert not re.search(r"^  keep ", ended.out, re.MULTILINE)


def test_the_list_of_commands_is_not_cut(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    listed = harness("--help").out.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed] == VISIBLE
    assert [line for line in listed if not line.endswith(".") or line.endswith("...")] == []


def test_help_explains_every_option() -> None:
    for name in VISIBLE:
        command = cli.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert getattr(parameter, "help", None), f"harness {name} {parameter.opts}: no help"


def test_no_command_at_all_shows_the_help(harness: Harness) -> None:
    ended = harness()
    assert ended.code == 2
    assert "Examples:" in ended.out + ended.err


def test_the_version_is_told(harness: Harness) -> None:
    assert harness("--version").out == f"harness, version {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [("jump",), ("run", "--nonsense"), ("run", "--repeat", "0"), ("run", "--seed", "-1"), ("up", "--nodes", "-3")],
)
def test_a_wrong_call_is_bad_input(harness: Harness, arguments: tuple[str, ...]) -> None:
    ended = harness(*arguments)
    assert ended.code == 2
    assert "Error:" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("trouble", "code", "told"),
    [
        (InputError("wrong"), 2, "error: wrong"),
        (ClusterError("etcd died"), 3, "error: etcd died"),
        (KeyboardInterrupt(), 130, "interrupted; everything that was started has been stopped"),
        (ZeroDivisionError("oops"), 3, "this is a fault of the harness itself"),
    ],
)
def test_every_error_has_its_exit_code_and_a_message(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, trouble: BaseException, code: int, told: str
) -> None:
    def fail() -> None:
        raise trouble

    monkeypatch.setattr(schema_command, "scenario_schema", fail)
    ended = harness("schema")
    assert ended.code == code
    assert told in ended.err
    assert ("Traceback" in ended.err) is isinstance(trouble, ZeroDivisionError)


def test_what_the_outer_layers_knew_is_told_too(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        error = ClusterError("etcd died")
        error.add_note("in step 2 (createPods)")
        raise error

    monkeypatch.setattr(schema_command, "scenario_schema", fail)
    assert harness("schema").err == "error: etcd died\nin step 2 (createPods)\n"
