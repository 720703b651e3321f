"""What the tests of this folder start from: scenarios made in place, and a stage for single steps."""

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.cluster.base import Cluster
from harness.cluster.follow import Change
from harness.kube import Object
from harness.observe import lines
from harness.observe.live import Live
from harness.run.settle import Settled
from harness.run.steps import Stage
from harness.scenario.model import Scenario
from harness.testing import FakeKube
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
    settle: Callable[[float], Settled] = lambda seconds: Settled(0.5),
) -> Stage:
    return Stage(made, cluster, live, settle, random.Random(seed))  # noqa: S311 - repeatable on purpose


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
