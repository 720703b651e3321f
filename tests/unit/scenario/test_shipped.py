from pathlib import Path

import pytest

from harness.scenario.expectations import CountOf
from harness.scenario.find import find
from harness.scenario.load import load
from harness.scenario.model import Scenario
from harness.scenario.steps import Create

SCENARIOS = Path(__file__).parents[3] / "scenarios"
SHIPPED = find([], [SCENARIOS])
MANIFESTS = sorted(SCENARIOS.glob("*/manifests/*.yaml"))
TASKS = {
    "twenty-pause",
    "control-plane-repels",
    "control-plane-tolerated",
    "node-selector",
    "node-affinity",
    "too-big",
    "zone-spread",
    "preemption",
    "drain-and-refill",
    "stays-pending",
}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_scenario(path: Path) -> None:
    file = load(path)
    assert file.name == path.stem
    assert path.read_text(encoding="utf-8").startswith("# yaml-language-server: $schema=../scenario.schema.json\n")
    for size in file.sizes:
        scenario = file.at(size)
        for there in (scenario, *scenario.elsewhere.values()):
            assert Scenario.from_json(there.to_json()) == there.model_copy(update={"elsewhere": {}})
        assert len({"short", "slow"} & set(scenario.labels)) == 1, f"{path}: size {size} has to be short or slow"
        assert path.parent.name in scenario.labels
    assert "slow" not in file.at().labels, f"{path}: the first size has to be a quick one"


def test_what_has_to_be_there() -> None:
    assert {path.stem for path in SHIPPED} >= TASKS


def test_twenty_pause() -> None:
    scenario = load(SCENARIOS / "lab/twenty-pause.yaml").at()
    assert scenario.size == "lab"
    step, demand = scenario.steps[0], scenario.expect[0]
    assert isinstance(step, Create)
    assert isinstance(demand, CountOf)
    [deployment] = scenario.objects_of(step)
    assert deployment["spec"]["replicas"] == 20
    assert [node.name for node in scenario.nodes[0].expand()] == ["node-1", "node-2", "node-3"]
    assert str(demand.running) == "exactly 20"


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_no_manifest_is_forgotten(path: Path) -> None:
    folder = path.parent.parent
    used = {
        folder / name for scenario in folder.glob("*.yaml") for size in [load(scenario)] for name in size.at().manifests
    }
    assert path in used, f"{path} is used by no scenario beside it; remove it"
