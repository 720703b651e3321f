"""Makes pods ask for the scheduler under test, so that one scenario runs unchanged on every variant."""

from collections.abc import Collection, Iterator
from typing import Any

from harness.scenario.model import Scenario
from harness.scenario.steps import Create, CreatePods

Object = dict[str, Any]
TEMPLATES = {
    "Deployment": ("spec", "template"),
    "ReplicaSet": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
    "DaemonSet": ("spec", "template"),
    "ReplicationController": ("spec", "template"),
    "Job": ("spec", "template"),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
}


def asking(item: Object, scheduler: str | None) -> Object:
    """Return an object whose pods ask for a scheduler, unless they ask for one themselves."""
    kind = str(item.get("kind"))
    path = () if kind == "Pod" else TEMPLATES.get(kind)
    if scheduler is None or path is None:
        return item
    return _with_scheduler(item, (*path, "spec"), scheduler)


def unserved(scenario: Scenario, served: Collection[str]) -> list[str]:
    """Say which schedulers the pods of a scenario ask for that are not there: such pods wait for ever."""
    missing = dict.fromkeys(name for name in _asked_for(scenario) if name not in served)
    return [f"pods will ask for {name}, but the schedulers here serve {', '.join(served)}" for name in missing]


def _asked_for(scenario: Scenario) -> Iterator[str]:
    for step in scenario.steps:
        items: list[Object] = []
        if isinstance(step, Create):
            items = list(scenario.objects_of(step))
        elif isinstance(step, CreatePods):
            items = [{"kind": "Pod", "spec": step.spec}]
        for item in items:
            path = () if item.get("kind") == "Pod" else TEMPLATES.get(str(item.get("kind")))
            part: Any = item
            for key in (*path, "spec", "schedulerName") if path is not None else ():
                part = part.get(key) if isinstance(part, dict) else None
            if part and part is not item:
                yield str(part)


def _with_scheduler(part: Object, path: tuple[str, ...], scheduler: str) -> Object:
    if not path:
        return part if part.get("schedulerName") else {**part, "schedulerName": scheduler}
    below = part.get(path[0])
    if not isinstance(below, dict):
        return part
    return {**part, path[0]: _with_scheduler(below, path[1:], scheduler)}
