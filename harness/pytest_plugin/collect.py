"""Turns scenario files into parametrised tests, one per scenario, size and variant, with a readable id and markers."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.errors import ScenarioError
from harness.pytest_plugin.options import wants_slow

if TYPE_CHECKING:
    from harness.scenario.model import Scenario


@dataclass(frozen=True)
class Broken:
    """A scenario file that cannot be loaded: it becomes one failing test, and all the others still run."""

    path: Path
    error: ScenarioError


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise tests that take `scenario_run` or, of the fixtures, only `variant`."""
    if "scenario_run" in metafunc.fixturenames:
        metafunc.parametrize(("scenario_run", "variant"), list(_cases(metafunc)), indirect=True)
    elif "variant" in metafunc.fixturenames:
        names = variant_names(metafunc.config)
        metafunc.parametrize(
            "variant", [pytest.param(name, marks=_marks(name, metafunc)) for name in names], indirect=True
        )


def variant_names(config: pytest.Config) -> list[str]:
    """Return the variants to test: those that were named, else every available one."""
    from harness.variant.registry import VARIANTS  # noqa: PLC0415 - loaded only where scenarios are tested

    return config.getoption("--sched-variant") or VARIANTS.names()


def _cases(metafunc: pytest.Metafunc) -> Iterator[Any]:
    from harness.scenario.find import find  # noqa: PLC0415 - see above
    from harness.scenario.load import load  # noqa: PLC0415

    here = metafunc.definition.path.parent
    marker = metafunc.definition.get_closest_marker("scenarios")
    folder = here / marker.args[0] if marker else here
    for path in find([str(folder)], [folder]):
        try:
            file = load(path)
        except ScenarioError as error:
            # Nobody knows what it is for, so no choice of variants may hide it.
            marks = [mark for name in variant_names(metafunc.config) for mark in _marks(name, metafunc)]
            yield pytest.param(Broken(path, error), "default", id=f"{path.stem}-broken", marks=marks)
            continue
        provider = metafunc.config.getoption("--sched-cluster")
        for scenario in file.scenarios.values():
            if scenario.runs_on(provider):
                yield from _scenario_cases(scenario.on_cluster(provider), metafunc)


def _scenario_cases(scenario: "Scenario", metafunc: pytest.Metafunc) -> Iterator[Any]:
    config = metafunc.config
    sizes = config.getoption("--sched-size")
    slow = "slow" in scenario.labels
    if (sizes and scenario.size not in sizes) or (slow and not wants_slow(config)):
        return
    if config.getoption("--extender") and not scenario.for_any_extender:
        return
    labels = [name for name in ("slow", "faults") if name in scenario.labels]
    for name in variant_names(config):
        if scenario.is_for(name):
            # What is broken on purpose says how kube-scheduler behaves, and nothing about a user's extender.
            own = [mark for mark in _marks(name, metafunc) if "faults" not in labels or mark.name != "extender"]
            marks = [*own, *(getattr(pytest.mark, label) for label in labels)]
            yield pytest.param(scenario, name, id=f"{scenario.name}/{scenario.size}-{name}", marks=marks)


def _marks(variant: str, metafunc: pytest.Metafunc) -> list[pytest.MarkDecorator]:
    names = [variant.replace("-", "_"), metafunc.config.getoption("--sched-cluster").replace("-", "_")]
    known = {line.partition(":")[0].partition("(")[0] for line in metafunc.config.getini("markers")}
    return [getattr(pytest.mark, name) for name in names if name in known]
