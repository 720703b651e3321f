from pathlib import Path

import pytest
from pydantic import ValidationError

from harness.scenario.nodes import NodeGroup, Taint, expand
from tests.unit.scenario.given import HEAD, problems, scenario


def test_defaults() -> None:
    [node] = NodeGroup().expand()
    assert (node.name, node.cpu, node.memory, node.pods) == ("node-1", "4", "16Gi", 110)
    assert (node.labels, node.taints, node.extended) == ({}, (), {})


def test_index_counts_in_names_and_labels() -> None:
    nodes = NodeGroup(count=3, name="n{index}", labels={"rack": "r-{index}", "zone": "a"}).expand()
    assert [node.name for node in nodes] == ["n1", "n2", "n3"]
    assert [node.labels for node in nodes] == [{"rack": f"r-{n}", "zone": "a"} for n in (1, 2, 3)]


def test_index_can_start_elsewhere() -> None:
    assert [node.name for node in NodeGroup(count=2).expand(start_index=7)] == ["node-7", "node-8"]


def test_names() -> None:
    nodes = NodeGroup(names=("a", "b"), labels={"rack": "{index}"}).expand()
    assert [(node.name, node.labels["rack"]) for node in nodes] == [("a", "1"), ("b", "2")]


def test_numbers_become_quantities() -> None:
    [node] = NodeGroup.model_validate(
        {"cpu": 0.5, "memory": 1024, "pods": 3, "extended": {"nvidia.com/gpu": 2}}
    ).expand()
    assert node.capacity == {"cpu": "0.5", "memory": "1024", "pods": "3", "nvidia.com/gpu": "2"}


def test_expand_keeps_the_order_of_groups() -> None:
    assert [node.name for node in expand([NodeGroup(names=("z",)), NodeGroup(count=2)])] == ["z", "node-1", "node-2"]


def test_taint_as_kubernetes_has_it() -> None:
    assert Taint(key="a", effect="NoExecute").to_json() == {"key": "a", "effect": "NoExecute"}
    assert Taint(key="a", value="b", effect="NoSchedule").to_json()["value"] == "b"


def test_names_that_get_too_long_at_the_last_index() -> None:
    assert NodeGroup(count=9, name="n" * 252 + "{index}")
    with pytest.raises(ValidationError, match="the name has 254 characters, at most 253 are allowed"):
        NodeGroup(count=10, name="n" * 252 + "{index}")


def test_label_values_that_get_too_long_at_the_last_index() -> None:
    with pytest.raises(ValidationError, match="is not a label value"):
        NodeGroup(count=10, labels={"a": "v" * 62 + "{index}"})


def text(nodes: str = "[{count: 3}]", steps: str = "[{op: settle}]", expect: str = "[{kind: count, total: 0}]") -> str:
    return f"{HEAD}nodes: {nodes}\nsteps: {steps}\nexpect: {expect}\n"


TAKEN = "; give each group its own name pattern"
KNOWN = "nodes: node-1, node-2, node-3"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (
            text(nodes="[{count: 3}, {count: 1}]"),
            f'3: nodes[1]: node name "node-1" is already taken by nodes[0]{TAKEN}',
        ),
        (
            text(steps="[{op: addNodes, nodes: [{names: [late, node-3]}]}]"),
            f'4: steps[0].nodes[0]: node name "node-3" is already taken by nodes[0]{TAKEN}',
        ),
        (
            text(steps="[{op: drain, names: [node-1, nod-2]}]"),
            f'4: steps[0].names[1]: no node is called "nod-2"; did you mean "node-2"? {KNOWN}',
        ),
        (
            text(expect="[{kind: neverOn, nodes: [worker]}]"),
            f'5: expect[0].nodes[0]: no node is called "worker"; {KNOWN}',
        ),
        (
            text(expect='[{kind: onlyOn, nodes: "nod-*"}]'),
            f'5: expect[0].nodes[0]: no node is called "nod-*"; did you mean "node-3"? {KNOWN}',
        ),
        (
            text(expect="[{kind: placement, on: {pod-1: node-4}}]"),
            f'5: expect[0].on.pod-1: no node is called "node-4"; did you mean "node-3"? {KNOWN}',
        ),
        (
            text(nodes="[{count: 20}]", expect="[{kind: neverOn, nodes: [x]}]"),
            (
                '5: expect[0].nodes[0]: no node is called "x"; nodes: '
                f"{', '.join(f'node-{n}' for n in range(1, 13))} and 8 more"
            ),
        ),
    ],
)
def test_names_across_a_scenario(tmp_path: Path, given: str, problem: str) -> None:
    assert problems(tmp_path, given) == [f"sample.yaml:{problem}"]


@pytest.mark.parametrize(
    "given",
    [
        text(steps="[{op: removeNodes, names: [node-1]}, {op: addNodes, nodes: [{name: node-1}]}]"),
        text(steps="[{op: removeNodes, selector: a}, {op: addNodes, nodes: [{name: node-1}]}]"),
        text(steps="[{op: addNodes, nodes: [{name: late}]}]", expect="[{kind: onlyOn, nodes: [late]}]"),
        text(expect='[{kind: onlyOn, nodes: "node-*"}]'),
        # Without nodes of its own a scenario runs on somebody's cluster: its nodes cannot be known.
        text(nodes="[]", expect="[{kind: onlyOn, nodes: [kind-worker]}]"),
    ],
)
def test_names_that_are_right(tmp_path: Path, given: str) -> None:
    assert scenario(tmp_path, given).name == "sample"
