"""Fails when something that a user can write or read is not documented."""

import dataclasses
import inspect
import json
import re
from pathlib import Path
from typing import Any, get_args

import click
import pytest

import harness.pytest_plugin
from harness import errors
from harness.cli.main import COMMANDS, cli
from harness.cluster.embedded.releases import releases
from harness.cluster.registry import CLUSTERS
from harness.expect.base import Verdict
from harness.expect.invariants import INVARIANTS
from harness.pytest_plugin.options import MARKERS, pytest_addoption
from harness.record.model import RunMeta
from harness.scenario.clusters import BUILT_IN as CLUSTER_NAMES
from harness.scenario.clusters import Difference
from harness.scenario.expectations import Expectation
from harness.scenario.explain import accepted
from harness.scenario.fields import Model, Range
from harness.scenario.model import File, Size
from harness.scenario.nodes import NodeGroup, Taint
from harness.scenario.steps import Step
from harness.scenario.variants import BUILT_IN
from harness.variant.registry import VARIANTS
from tests.docs.pages import ROOT, names_code, page

CLI = page("docs/reference/cli.md")
SCENARIO = page("docs/reference/scenario.md")
PYTEST = page("docs/reference/pytest.md")
RECORD = page("docs/reference/record.md")
ERRORS = page("docs/reference/errors.md")
README = page("README.md")


def members(union: Any) -> list[type[Model]]:
    return list(get_args(get_args(union)[0]))


def tag(model: type[Model]) -> str:
    """The word that names a step or expectation."""
    field = model.model_fields.get("op") or model.model_fields["kind"]
    return str(field.default)


def command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def options(name: str) -> set[str]:
    found = [each for each in command(name).params if isinstance(each, click.Option)]
    return {option for each in found for option in (*each.opts, *each.secondary_opts)}


VISIBLE = [name for name in COMMANDS if not command(name).hidden]


@pytest.mark.parametrize("name", VISIBLE)
def test_command_line(name: str) -> None:
    section = CLI.section(f"harness {name}")
    missing = [option for option in options(name) if not names_code(section, option)]
    assert not missing, f"{CLI}: harness {name}: undocumented: {missing}"
    told = set(re.findall(r"^\| (?:`-\w`, )?`(--[a-z-]+)", section, re.MULTILINE))
    assert told <= options(name), f"{CLI}: harness {name}: documented, but not there: {told - options(name)}"
    assert f"[`{name}`](#harness-{name})" in CLI.text


@pytest.mark.parametrize("name", VISIBLE)
def test_examples_of_help(name: str) -> None:
    """What --help proposes has to be possible."""
    lines = re.findall(
        r"^ +(?:export \w+=\$\()?harness (\w+)(.*)$", inspect.cleandoc(command(name).help or ""), re.MULTILINE
    )
    for called, rest in lines:
        used = set(re.findall(r"(?<=\s)--?[a-z][a-z-]*", rest.partition("|")[0]))
        assert used <= options(called), f"harness {name} --help: {used - options(called)} is no option of {called}"
    assert lines, f"harness {name} --help: an example is missing"


def test_exit_codes() -> None:
    section = CLI.section("Exit codes")
    codes = {error.exit_code for error in vars(errors).values() if hasattr(error, "exit_code")} | {0, 1, 130}
    assert not [code for code in codes if f"| {code} |" not in section]


def test_environment_variables() -> None:
    files = [*(ROOT / "harness").rglob("*.py"), *(ROOT / "controlplane").glob("*.go"), ROOT / "Makefile"]
    used = {name for path in files for name in re.findall(r"\bHARNESS_[A-Z_]+\b", path.read_text(encoding="utf-8"))}
    section = CLI.section("Environment variables")
    told = set(re.findall(r"^\| `(HARNESS_[A-Z_]+)`", section, re.MULTILINE))
    assert told == used


@pytest.mark.parametrize("model", [*members(Step), *members(Expectation)], ids=tag)
def test_steps_and_expectations(model: type[Model]) -> None:
    section = SCENARIO.section(tag(model))
    missing = [field for field in accepted(model) if not names_code(section, field)]
    assert not missing, f"{SCENARIO}: {tag(model)}: undocumented: {missing}"
    told = {
        name for row in re.findall(r"^\| (`[^|]+) \|", section, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    assert told == set(accepted(model)), f"{SCENARIO}: {tag(model)}: another set of fields is documented"


@pytest.mark.parametrize(
    ("title", "model"),
    [
        ("The file", File),
        ("Parameters and sizes", Size),
        ("Clusters", Difference),
        ("Nodes", NodeGroup),
        ("Nodes", Taint),
        ("Kinds of values", Range),
    ],
)
def test_other_fields(title: str, model: type[Model]) -> None:
    section = SCENARIO.section(title)
    assert not [field for field in accepted(model) if not names_code(section, field)]


def test_invariants() -> None:
    section = SCENARIO.section("Invariants")
    assert re.findall(r"^\| `(\w+)`", section, re.MULTILINE) == list(INVARIANTS)


def test_pytest_options() -> None:
    parser = pytest.Parser(_ispytest=True)
    pytest_addoption(parser)
    names = {name for option in parser.getgroup("scheduler harness").options for name in option.names()}
    assert names
    told = set(re.findall(r"^\| `(--[a-z-]+)", PYTEST.section("Options"), re.MULTILINE))
    assert told == names


def test_fixtures() -> None:
    fixtures = {name for name in harness.pytest_plugin.__all__ if not name.startswith("pytest_")}
    told = PYTEST.section("Fixtures")
    assert not [name for name in fixtures if not re.search(rf"^\| `{name}`", told, re.MULTILINE)]


def test_markers() -> None:
    names = {marker.partition(":")[0].partition("(")[0] for marker in MARKERS}
    assert set(re.findall(r"^\| `(\w+)", PYTEST.section("Markers"), re.MULTILINE)) == names


def test_errors() -> None:
    classes = [each for each in vars(errors).values() if inspect.isclass(each) and each.__module__ == errors.__name__]
    for each in classes:
        code = getattr(each, "exit_code", 1)
        assert f"| [`{each.__name__}`](#{each.__name__.lower()}) | {code} |" in ERRORS.text
        assert "Next move" in ERRORS.section(each.__name__) or each is errors.HarnessError, each.__name__
    assert len(re.findall(r"^\| \[`", ERRORS.text, re.MULTILINE)) == len(classes)


def test_run_json() -> None:
    section = RECORD.section("run.json")
    sample = json.loads((ROOT / "reports/sample/record/run.json").read_text(encoding="utf-8"))
    known = {field.name for field in dataclasses.fields(RunMeta)} - {"extra"}
    nested = {*sample["machine"], *sample["versions"]}
    assert not [key for key in {*sample, *known, *nested} if not names_code(section, key)]


@pytest.mark.parametrize("stream", ["steps", "pods", "nodes", "workloads", "events"])
def test_streams(stream: str) -> None:
    section = RECORD.section(f"{stream}.jsonl")
    keys: set[str] = set()
    for line in (ROOT / "reports/sample/record" / f"{stream}.jsonl").read_text(encoding="utf-8").splitlines():
        value: dict[str, Any] = json.loads(line)
        keys.update(value)
        nested = [value.get(key) or {} for key in ("detail", "scheduled", "object")]
        keys.update(key for part in nested for key in part)
    assert not [key for key in keys if not names_code(section, key)]


def test_files_of_a_record() -> None:
    sample = ROOT / "reports/sample/record"
    names = {path.relative_to(sample).parts[0] + ("/" if path.parent != sample else "") for path in _files(sample)}
    assert not [name for name in names if not names_code(RECORD.text, name)]


def test_verdicts() -> None:
    section = RECORD.section("verdicts.json")
    names = {field.name for field in dataclasses.fields(Verdict)} | {"ok"}
    assert not [name for name in names if not names_code(section, name)]


def test_variants() -> None:
    told = dict(re.findall(r"^\| `([\w-]+)` \|[^|]*\| (\w+) \|$", README.section("Variants"), re.MULTILINE))
    expected = {name: "available" if name in VARIANTS.built_in else "planned" for name in BUILT_IN}
    assert told == expected
    assert not [name for name in CLUSTERS.built_in if not names_code(README.section("Variants"), name)]


def test_clusters() -> None:
    """What a scenario may name is what there is."""
    assert set(CLUSTER_NAMES) == set(CLUSTERS.built_in)
    assert not [name for name in CLUSTER_NAMES if not names_code(SCENARIO.section("Clusters"), name)]


def test_scenarios_named_in_the_readme() -> None:
    from harness.scenario.find import find  # noqa: PLC0415 - only here

    named = re.findall(r"`([\w-]+)`", " ".join(re.findall(r"available: (.*) \|", README.text)))
    assert named
    assert len(find(named, [ROOT / "scenarios"])) == len(named)


def test_kubernetes_versions() -> None:
    shown = "".join(block.text for block in page("docs/how-to.md").blocks("console"))
    assert not [release.version for release in releases() if release.version not in shown]


def test_map_of_the_code() -> None:
    """AGENTS.md knows every part of the package."""
    parts = [path for path in (ROOT / "harness").iterdir() if path.suffix in ("", ".py") and path.name[0] not in "_."]
    text = page("AGENTS.md").section("Files")
    missing = [path.name for path in parts if f"{path.name}/`" not in text and f"{path.name}`" not in text]
    assert not missing


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
