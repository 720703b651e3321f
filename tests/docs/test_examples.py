"""Runs what the documents show: scenarios are loaded, Python is executed, commands meet a real cluster."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from harness import process
from harness.errors import ScenarioError
from harness.scenario import positions
from harness.scenario.expectations import Expectation
from harness.scenario.load import load
from harness.scenario.nodes import NodeGroup
from harness.scenario.steps import Step
from tests.docs.commands import Scratch, carry_out, executed, first_missing
from tests.docs.pages import ROOT, Block, Page, pages

WITH_COMMANDS = [page for page in pages() if executed(page)]
WITH_PYTHON = [page for page in pages() if [block for block in page.blocks("python") if not block.file]]
WITH_YAML = [page for page in pages() if page.blocks("yaml")]


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    # Not below tmp_path: a socket's path may have only about a hundred characters.
    with tempfile.TemporaryDirectory(prefix="hd") as state:
        yield Scratch.make(tmp_path, Path(state))


@pytest.mark.embedded
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=str)
def test_commands(page: Page, scratch: Scratch) -> None:
    carry_out(page, scratch)
    code, printed = scratch.run("harness list")
    assert (code, printed) == (0, "no cluster is up\n")


@pytest.mark.parametrize("page", WITH_PYTHON, ids=str)
def test_python(page: Page, scratch: Scratch) -> None:
    for block in page.blocks("python"):
        if not block.file:
            process.run([sys.executable, "-c", block.text], cwd=scratch.folder)


@pytest.mark.parametrize("page", WITH_YAML, ids=str)
def test_yaml(page: Page, tmp_path: Path) -> None:
    for number, block in enumerate(page.blocks("yaml")):
        (document,), problems = positions.read(block.text, str(page))
        assert not problems
        data = document.data
        if isinstance(data, list):
            for item in data:
                _kind_of(item).validate_python(item, by_alias=True, by_name=False)
        elif {"steps", "expect"} <= set(data):
            file = tmp_path / (block.file or f"{number}.yaml")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
            _check_scenario(file, block)


def test_every_page_that_shows_commands_is_run() -> None:
    assert {str(page) for page in WITH_COMMANDS} >= {"README.md", "docs/tutorial.md", "docs/how-to.md"}


def test_a_line_that_was_not_printed_is_missed() -> None:
    printed = ["PASS  a[lab] default: 20 running (1.4 s, seed 0)", "  pods per node: n-1 7, n-2 6", "1 of 1 runs held"]
    assert first_missing(["PASS a[lab] default: 20 running (0.9 s, seed 0)", "…", "1 of 1 runs held"], printed) is None
    assert first_missing(["  pods per node: n-1 6, n-2 7"], printed) is None
    assert first_missing(["  pods per node: n-1 7, n-2 7"], printed) == "  pods per node: n-1 7, n-2 7"
    assert first_missing(["1 of 1 runs held", "PASS …"], printed) == "PASS …"
    assert first_missing(["PASS a[lab] default: 19 running (1.4 s, seed 0)"], printed) is not None


def _kind_of(item: dict[str, Any]) -> TypeAdapter[Any]:
    if "op" in item:
        return TypeAdapter(Step)
    return TypeAdapter(Expectation) if "kind" in item else TypeAdapter(NodeGroup)


def _check_scenario(file: Path, block: Block) -> None:
    if "broken" in block.words:
        with pytest.raises(ScenarioError):
            load(file)
    else:
        load(file)
    assert ROOT not in file.parents
