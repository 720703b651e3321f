import contextlib
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from harness import progress
from harness.cluster import nodes
from harness.errors import ClusterError
from harness.kube import Object
from harness.scenario.nodes import NodeGroup, NodeSpec
from harness.testing import FakeKube

READY = {"type": "Ready", "status": "True"}
NOT_READY_TAINT = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


def specs(**group: object) -> list[NodeSpec]:
    return NodeGroup.model_validate(group).expand()


def test_a_node_is_made_as_it_was_declared() -> None:
    taint = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
    (spec,) = specs(
        name="big", cpu=8, memory="32Gi", pods=20, labels={"zone": "a"}, taints=[taint], extended={"nvidia.com/gpu": 2}
    )
    node = nodes.node_object(spec)
    capacity = {"cpu": "8", "memory": "32Gi", "pods": "20", "nvidia.com/gpu": "2"}
    assert node["status"] == {"capacity": capacity, "allocatable": capacity}
    assert node["spec"] == {"taints": [taint]}
    assert node["metadata"]["labels"]["zone"] == "a"
    assert node["metadata"]["labels"]["kubernetes.io/hostname"] == "big"


def test_a_declared_label_stands_above_the_usual_one() -> None:
    (spec,) = specs(labels={"kubernetes.io/arch": "arm64"})
    labels = nodes.node_object(spec)["metadata"]["labels"]
    assert labels["kubernetes.io/arch"] == labels["beta.kubernetes.io/arch"] == "arm64"
    assert labels["beta.kubernetes.io/os"] == "linux"


@pytest.mark.parametrize(
    ("conditions", "taints", "takes"),
    [
        ([READY], [], True),
        ([READY], [{"key": "dedicated", "effect": "NoSchedule"}], True),
        ([READY], [NOT_READY_TAINT], False),
        ([{"type": "Ready", "status": "False"}], [], False),
        ([{"type": "Ready", "status": "Unknown"}], [], False),
        ([], [], False),
    ],
)
def test_a_node_takes_pods_when_ready_and_no_controller_holds_it_back(
    conditions: list[Object], taints: list[Object], takes: bool
) -> None:
    assert nodes.takes_pods({"spec": {"taints": taints}, "status": {"conditions": conditions}}) is takes


def play(kube: FakeKube) -> None:
    """Make every new node ready, as kwok does."""

    def ready(event: str, item: Object) -> None:
        if event == "ADDED":
            kube.patch(f"{nodes.NODES}/{item['metadata']['name']}", {"status": {"conditions": [READY]}})

    kube.listeners.append(ready)


def test_creating_returns_when_every_node_is_ready() -> None:
    kube = FakeKube()
    play(kube)
    nodes.create_nodes(kube, specs(count=20), lambda: None)
    assert len(kube.items(nodes.NODES)) == 20
    assert all(nodes.takes_pods(node) for node in kube.items(nodes.NODES))


def test_many_nodes_are_counted_while_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[str, int | None]] = []
    names: list[str] = []

    @contextlib.contextmanager
    def bar(title: str, total: int | None = None) -> Iterator[SimpleNamespace]:
        shown.append((title, total))
        yield SimpleNamespace(advance=names.append)

    monkeypatch.setattr(progress, "bar", bar)
    kube = FakeKube()
    play(kube)
    nodes.create_nodes(kube, specs(count=nodes.SHOWN_NODES_MIN), lambda: None)
    assert shown == [("Making nodes", nodes.SHOWN_NODES_MIN)]
    assert len(set(names)) == len(names) == nodes.SHOWN_NODES_MIN
    few = FakeKube()
    play(few)
    nodes.create_nodes(few, specs(count=3), lambda: None)
    assert len(shown) == 1


def test_nodes_that_stay_unready_are_named_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "READY_TIMEOUT_SECONDS", 0.05)
    monkeypatch.setattr(nodes, "CHECK_SECONDS", 0.01)
    with pytest.raises(ClusterError, match=r"2 of 2 nodes not ready .*node-1, node-2; look at the logs of kwok"):
        nodes.create_nodes(FakeKube(), specs(count=2), lambda: None)


def test_a_dead_part_ends_the_wait() -> None:
    def check() -> None:
        raise ClusterError("kwok died")

    with pytest.raises(ClusterError, match="kwok died"):
        nodes.create_nodes(FakeKube(), specs(), check)
