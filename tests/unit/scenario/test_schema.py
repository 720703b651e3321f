from pathlib import Path
from typing import Any

import jsonschema
import pytest

from harness.scenario import positions
from harness.scenario.find import find
from harness.scenario.schema import PARAMETER, schema, text
from tests.unit.scenario.given import EXPECT, HEAD, STEPS, VALID

SCENARIOS = Path(__file__).parents[3] / "scenarios"
COMMITTED = SCENARIOS / "scenario.schema.json"


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    jsonschema.Draft202012Validator.check_schema(schema())
    return jsonschema.Draft202012Validator(schema())


def data(yaml: str) -> Any:
    return positions.read(yaml, "f.yaml")[0][0].data


def test_committed_schema_is_fresh() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == text(), (
        f"{COMMITTED} is stale: the models have changed; run .venv/bin/harness schema --write"
    )


@pytest.mark.parametrize("path", find([], [SCENARIOS]), ids=lambda path: path.stem)
def test_shipped_scenarios_are_valid(validator: jsonschema.Draft202012Validator, path: Path) -> None:
    assert [error.message for error in validator.iter_errors(data(path.read_text(encoding="utf-8")))] == []


@pytest.mark.parametrize(
    "yaml",
    [
        VALID,
        HEAD + "steps: [{op: createPods, count: $n}]\nexpect: [{kind: count, running: $n}]\n",
        HEAD + "steps: [{op: settle}]\nexpect: [{kind: count, running: {min: $n, max: 3}}]\n",
        HEAD + "steps: [{op: settle}]\nexpect: [{kind: distribution, counts: $counts}]\n",
        HEAD + "steps: [{op: settle}]\nexpect: [{kind: distribution, counts: [1, $n], perNode: $range}]\n",
        HEAD + "steps: [{op: updateNodes, selector: a, cordon: $flag, labels: {a: null}}]\n" + EXPECT,
        HEAD + "nodes: [{cpu: 4, memory: 8Gi, extended: {a/b: 1}}, {cpu: $cpu, count: $n}]\n" + STEPS + EXPECT,
        HEAD + "steps: [{op: settle}]\nexpect: [{kind: pending, pods: a}, {kind: pending, pods: [a, b]}]\n",
    ],
)
def test_accepts(validator: jsonschema.Draft202012Validator, yaml: str) -> None:
    assert [error.message for error in validator.iter_errors(data(yaml))] == []


@pytest.mark.parametrize(
    "yaml",
    [
        VALID + "surprise: 1\n",
        HEAD + STEPS,
        VALID.replace("createPods", "creatPods"),
        VALID.replace("op: createPods, ", ""),
        VALID.replace("count: 1}", "cuont: 1}"),
        VALID.replace("count: 1}", "count: -1}"),
        VALID.replace("count: 1}", "count: many}"),
        VALID.replace("running: 1", "running: many"),
        VALID.replace("kind: count", "kind: cuont"),
        VALID + "nodes: [{pods: many}]\n",
        VALID + "nodes: [{taints: [{key: a, effect: Never}]}]\n",
        VALID + "sizes: [{parameters: {}}]\n",
        VALID.replace("name: sample", "name: $name"),
    ],
)
def test_refuses(validator: jsonschema.Draft202012Validator, yaml: str) -> None:
    assert not validator.is_valid(data(yaml))


def test_editors_can_complete_steps_and_expectations() -> None:
    generated = schema()
    for top, key in (("steps", "op"), ("expect", "kind")):
        for reference in generated["properties"][top]["items"]["oneOf"]:
            if reference["$ref"] == PARAMETER:
                continue
            part = generated["$defs"][reference["$ref"].removeprefix("#/$defs/")]
            assert part["properties"][key]["const"]
            assert key in part["required"]
            assert part["description"]
