import pytest

from harness.cluster.existing import nodes
from harness.errors import InputError
from harness.scenario.nodes import NodeGroup, NodeSpec
from tests.unit.cluster.existing.world import node

TAINT = {"key": "dedicated", "effect": "NoSchedule"}


def declared(**group: object) -> list[NodeSpec]:
    return NodeGroup.model_validate({"count": 2, "cpu": "4", "memory": "16Gi", "pods": 110, **group}).expand()


def test_nodes_that_are_as_declared_need_no_word() -> None:
    assert nodes.fit(declared(), [node("node-1"), node("node-2")]) == []
    labelled = [node(f"node-{index}", {"zone": "a", "more": "x"}) for index in (1, 2)]
    assert nodes.fit(declared(labels={"zone": "a"}), labelled) == []


def test_other_amounts_taints_and_more_nodes_are_said() -> None:
    there = [node("node-1"), node("node-2"), node("spare")]
    unlike, more = nodes.fit(declared(cpu="8"), there)
    assert unlike.startswith("nodes node-1, node-2 have other taints or amounts")
    assert more == "the cluster has 1 more nodes that pods can go to: spare"
    assert nodes.fit(declared(taints=[TAINT]), [node("node-1"), node("node-2")])


def test_without_their_names_or_labels_the_nodes_that_are_there_are_used() -> None:
    (told,) = nodes.fit(declared(), [node("a"), node("b"), node("c")])
    assert "the declared nodes node-1, node-2 are not there" in told
    assert "runs on the 3 nodes that the cluster has (a, b, c)" in told
    (told,) = nodes.fit(declared(labels={"zone": "a"}), [node("node-1"), node("node-2")])
    assert "with their labels" in told


def test_too_few_are_refused_with_the_ways_out() -> None:
    there = [node("a"), node("b", taints=[TAINT]), node("c", unschedulable=True)]
    with pytest.raises(InputError, match=r"declares 2 nodes .* has 1 that take pods \(a\).*--kwok-nodes --allow"):
        nodes.fit(declared(), there)
    with pytest.raises(InputError, match=r"has 0 that take pods \(none\)"):
        nodes.fit(declared(), [])


def test_a_declared_node_that_keeps_pods_away_needs_no_counterpart() -> None:
    control_plane = NodeGroup.model_validate({"name": "control-plane", "taints": [TAINT]}).expand()
    assert len(nodes.fit([*control_plane, *declared()], [node("a"), node("b")])) == 1


def test_many_names_are_cut() -> None:
    assert nodes.few([f"n{index}" for index in range(8)]) == "n0, n1, n2, n3, n4 and 3 more"
