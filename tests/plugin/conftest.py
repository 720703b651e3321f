"""Runs pytest inside pytest, in a folder of its own, as a user of the plugin would."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import harness.scenario.find
import harness.scenario.load
import harness.variant.registry  # noqa: F401 - loaded once here, not once for each pytest inside this one
from harness.paths import cache_folder

# Before pytester moves the home folder: nothing shall be built again.
CACHE = cache_folder()
# Hypothesis takes longer to load than all the rest, and has no part in this.
QUICK = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
FAKES = """
import contextlib
import pathlib
import tempfile

from harness.cluster.registry import CLUSTERS
from harness.testing import FakeProvider


class Provider(FakeProvider):
    def __init__(self):
        super().__init__(pathlib.Path(tempfile.mkdtemp()))

    @contextlib.contextmanager
    def cluster(self, spec):
        with super().cluster(spec) as cluster:
            yield cluster
        pathlib.Path("ended").touch()


CLUSTERS.built_in["fake"] = "fakes:Provider"
"""
SCENARIO_TEST = """
def test_scenario(scenario_run):
    scenario_run.assert_held()
"""
SCENARIO = """\
name: {name}
summary: Four pods on two nodes.
nodes: [{{count: 2}}]
steps: [{{op: createPods, count: 4}}]
expect: [{{kind: count, running: {running}}}]
"""

RunPytest = Callable[..., pytest.RunResult]
Collect = Callable[..., list[str]]


@pytest.fixture
def folder(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a provider of fake clusters and a test that runs the scenarios beside it."""
    monkeypatch.setenv("HARNESS_CACHE", str(CACHE))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    pytester.makepyfile(fakes=FAKES, test_it=SCENARIO_TEST)
    pytester.makeconftest("import fakes")
    return pytester.path


@pytest.fixture
def run_pytest(pytester: pytest.Pytester, folder: Path) -> RunPytest:
    """Runs pytest there on fake clusters; every warning is an error."""

    def run(*arguments: str, cluster: str = "fake") -> pytest.RunResult:
        options = [*QUICK, *_variant(arguments), "-W", "error", "--sched-cluster", cluster]
        return pytester.runpytest_subprocess(*options, *arguments, timeout=300)

    return run


@pytest.fixture
def collect(pytester: pytest.Pytester, folder: Path) -> Collect:
    """Returns the parameters of the tests that pytest would run there; no cluster is needed for that."""
    (folder / "conftest.py").unlink()

    def collect(*arguments: str) -> list[str]:
        result = pytester.runpytest_inprocess(*QUICK, *_variant(arguments), "--collect-only", "-q", *arguments)
        return [match[1] for line in result.outlines if (match := re.fullmatch(r"test_it\.py::\w+\[(.*)\]", line))]

    return collect


def _variant(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """Return what keeps to the stock scheduler a test that says nothing about variants."""
    return () if "--sched-variant" in arguments else ("--sched-variant", "default")


def write(folder: Path, name: str, running: int = 4, more: str = "") -> None:
    """Write a scenario of four pods."""
    (folder / f"{name}.yaml").write_text(SCENARIO.format(name=name, running=running) + more)
