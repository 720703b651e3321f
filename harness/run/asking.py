"""Makes pods ask for the scheduler under test, so that one scenario runs unchanged on every variant."""

from typing import Any

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


def _with_scheduler(part: Object, path: tuple[str, ...], scheduler: str) -> Object:
    if not path:
        return part if part.get("schedulerName") else {**part, "schedulerName": scheduler}
    below = part.get(path[0])
    if not isinstance(below, dict):
        return part
    return {**part, path[0]: _with_scheduler(below, path[1:], scheduler)}
