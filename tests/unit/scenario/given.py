"""What the tests of this folder start from: a small valid scenario, and the problems of a broken one."""

from pathlib import Path

import pytest

from harness.errors import ScenarioError
from harness.scenario.load import load
from harness.scenario.model import Scenario

HEAD = """\
name: sample
summary: A sample.
"""
STEPS = """\
steps:
- {op: createPods, count: 1}
"""
EXPECT = """\
expect:
- {kind: count, running: 1}
"""
VALID = HEAD + STEPS + EXPECT


def write(folder: Path, text: str, name: str = "sample.yaml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def scenario(folder: Path, text: str, size: str | None = None) -> Scenario:
    return load(write(folder, text)).at(size)


def problems(folder: Path, text: str) -> list[str]:
    """Return the problems of a scenario, each without its folder."""
    with pytest.raises(ScenarioError) as caught:
        load(write(folder, text))
    return [problem.replace(f"{folder}/", "") for problem in caught.value.problems]
