"""What the tests of this folder start from: scenarios made in place, and a stage for single steps."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.cluster.base import Cluster
from harness.cluster.follow import Change
from harness.kube import Object, names
from harness.observe import lines
from harness.observe.live import Live
from harness.run.settle import Settled
from harness.run.steps import Settle, Stage, carry_out
from harness.scenario.model import Scenario
from harness.scenario.nodes import NodeGroup
from harness.testing import FakeCluster, FakeKube
from harness.variant.default import DefaultVariant

COUNT = {"kind": "count", "total": {"min": 0}}


class OtherVariant(DefaultVariant):
    """A second variant, to switch to."""

    name = "other"


def scenario(*steps: Mapping[str, Any], expect: Sequence[Mapping[str, Any]] = (COUNT,), **more: Any) -> Scenario:
    body = {"parameters": {}, "source": "name: made", "manifests": {}, "path": "made.yaml", "size": "default"}
    return Scenario.from_json(
        {"name": "made", "summary": "Made.", "steps": list(steps), "expect": list(expect)} | body | more
    )


def view(kube: FakeKube) -> Live:
    """Return a live view that follows a fake server without any thread."""
    live = Live(["default-scheduler"])

    def notice(event: str, item: Object) -> None:
        if item["kind"] == "Pod":
            live.pod(lines.pod(Change(0, event, item), 0))
        elif item["kind"] == "Node":
            live.node(lines.node(Change(0, event, item), 0))

    kube.listeners.append(notice)
    return live


def stage(
    cluster: Cluster,
    live: Live,
    made: Scenario,
    *,
    seed: int = 0,
    settle: Settle = lambda timeout_seconds, until=None: Settled(0.5),
) -> Stage:
    return Stage(made, cluster, live, settle, random.Random(seed))  # noqa: S311 - repeatable on purpose


NODES = "/api/v1/nodes"
PODS = "/api/v1/namespaces/default/pods"


class StepBench:
    """A fake cluster, the view of it, and a way to carry out one step at a time."""

    def __init__(self, folder: Path, kube: FakeKube | None = None) -> None:
        self.cluster = FakeCluster(folder, kube=kube)
        self.kube = self.cluster.kube
        self.live = view(self.kube)

    def do(self, made: Scenario | None = None, seed: int = 0, **step: Any) -> dict[str, Any]:
        made = made or scenario(step)
        return carry_out(made.steps[0], stage(self.cluster, self.live, made, seed=seed))

    def nodes(self, count: int, **group: Any) -> None:
        self.cluster.add_nodes(NodeGroup.model_validate({"count": count, **group}).expand())

    def pod(self, name: str, node: str | None = None, owner: str | None = None, **labels: str) -> None:
        owners = [{"kind": owner, "name": "o", "uid": "o", "controller": True}] if owner else []
        metadata = {"name": name, "labels": labels, "ownerReferences": owners}
        spec = {"nodeName": node} if node else {}
        self.kube.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})

    def node(self, name: str = "node-1") -> Object:
        found: Object = self.kube.request("GET", f"{NODES}/{name}")
        return found

    def pods(self) -> list[str]:
        return names(self.kube.items(PODS))


def write_scenario(folder: Path, name: str = "small", *, running: int = 4, nodes: int = 2) -> Path:
    """Write a scenario of four pods that a fake cluster can carry out."""
    path = folder / f"{name}.yaml"
    path.write_text(
        f"name: {name}\n"
        "summary: Four pods on two nodes.\n"
        "labels: [quick]\n"
        f"nodes: [{{count: {nodes}}}]\n"
        "steps: [{op: createPods, count: 4}]\n"
        f"expect: [{{kind: count, running: {running}}}]\n"
    )
    return path
