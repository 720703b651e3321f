"""The work-factor extender, built once, and how tests order copies of it."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.extender.subject.parse import Subject, parse
from harness.extender.subject.program import program_of

SUBJECTS = Path(__file__).parents[2] / "subjects"
ENTRY = {"filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 1, "nodeCacheCapable": True}

WorkFactor = Callable[..., Subject]


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        return program_of(SUBJECTS / "workfactor")


@pytest.fixture
def work_factor(program: Path) -> WorkFactor:
    """A function that gives the extender with some options, as a subject."""

    def made(options: str = "", **entry: object) -> Subject:
        return parse(f"cmd:{shlex.quote(str(program))} -port {{port}} {options}", {**ENTRY, **entry})

    return made
