"""Reads how somebody deploys a second scheduler: who it is, what it is configured with, how it is started. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from harness.cluster.base import Workload
from harness.errors import InputError
from harness.scenario import positions

Object = dict[str, Any]
WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "Pod")
SECURE_PORT = 10259


@dataclass(frozen=True)
class SchedulerManifest:
    """A second scheduler as its manifest describes it.

    `objects` is everything but the workload itself, in the order of the file. `config` is the text of the configuration
    it is started with, and `where` the ConfigMap and key that it stands in. `workload` is how containers run it.
    """

    name: str
    namespace: str
    service_account: str
    objects: tuple[Object, ...]
    config: str
    where: str
    health_port: int
    workload: Workload


def read_manifest(text: str, file: str) -> SchedulerManifest:
    """Take a manifest apart.

    Raises:
        InputError: it does not describe a scheduler; says what is missing, with its line.
    """
    documents, problems = positions.read(text, file)
    if problems:
        raise InputError("\n".join(str(problem) for problem in problems))
    items = [(document.data, document.line(())) for document in documents if isinstance(document.data, dict)]
    workloads = [(item, line) for item, line in items if item.get("kind") in WORKLOADS]
    if len(workloads) != 1:
        kinds = ", ".join(str(item.get("kind")) for item, _ in items) or "nothing"
        raise InputError(f"{file}: one {' or '.join(WORKLOADS)} that starts the scheduler expected, {kinds} seen")
    workload, line = workloads[0]
    where = f"{file}:{line}: {workload['kind']} {_name(workload)}"
    spec = _pod_spec(workload)
    container, path = _scheduler_container(spec, where)
    others = tuple(item for item, _ in items if item is not workload)
    config_map, key = _config_map(container, spec, path, where)
    return SchedulerManifest(
        name=_name(workload),
        namespace=_namespace(workload),
        service_account=str(spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"),
        objects=others,
        config=_config_text(others, _namespace(workload), config_map, key, where),
        where=f"{file}: ConfigMap {config_map}, key {key}",
        health_port=_health_port(container),
        workload=Workload(workload, str(container.get("name")), config_map, key),
    )


def _pod_spec(workload: Object) -> Mapping[str, Any]:
    spec: Mapping[str, Any] = workload.get("spec") or {}
    return spec if workload["kind"] == "Pod" else (spec.get("template") or {}).get("spec") or {}


def _scheduler_container(spec: Mapping[str, Any], where: str) -> tuple[Mapping[str, Any], str]:
    """Return the container that is the scheduler, beside an extender perhaps, and the path of its configuration."""
    for container in spec.get("containers") or ():
        words: Sequence[Any] = [*(container.get("command") or ()), *(container.get("args") or ())]
        for place, word in enumerate(words):
            if str(word).startswith("--config="):
                return container, str(word).removeprefix("--config=")
            if word == "--config" and place + 1 < len(words):
                return container, str(words[place + 1])
    raise InputError(f"{where}: no container with --config; a scheduler is known by its configuration")


def _config_map(container: Mapping[str, Any], spec: Mapping[str, Any], path: str, where: str) -> tuple[str, str]:
    """Return the ConfigMap and the key that are mounted at a path."""
    volumes = {volume.get("name"): volume for volume in spec.get("volumes") or ()}
    for mount in container.get("volumeMounts") or ():
        folder = PurePosixPath(str(mount.get("mountPath", "/")))
        if not PurePosixPath(path).is_relative_to(folder):
            continue
        source = (volumes.get(mount.get("name")) or {}).get("configMap")
        if not source:
            raise InputError(f"{where}: {path} is mounted from volume {mount.get('name')!r}, which is no ConfigMap")
        inside = str(mount.get("subPath") or PurePosixPath(path).relative_to(folder))
        keys = {str(item.get("path")): str(item.get("key")) for item in source.get("items") or ()}
        return str(source.get("name")), keys.get(inside, inside)
    raise InputError(f"{where}: nothing is mounted at {path}, so the scheduler would find no configuration there")


def _config_text(objects: Sequence[Object], namespace: str, name: str, key: str, where: str) -> str:
    maps = [item for item in objects if item.get("kind") == "ConfigMap"]
    for item in maps:
        if _name(item) == name and _namespace(item) == namespace:
            data = item.get("data") or {}
            if key not in data:
                known = ", ".join(data) or "none"
                raise InputError(f"{where}: ConfigMap {name} has no key {key!r}; its keys: {known}")
            return str(data[key])
    seen = ", ".join(f"{_namespace(item)}/{_name(item)}" for item in maps) or "none"
    raise InputError(f"{where}: ConfigMap {namespace}/{name} is mounted, and the manifest has: {seen}")


def _health_port(container: Mapping[str, Any]) -> int:
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        port = ((container.get(probe) or {}).get("httpGet") or {}).get("port")
        if isinstance(port, int):
            return port
    return SECURE_PORT


def _name(item: Mapping[str, Any]) -> str:
    return str((item.get("metadata") or {}).get("name", ""))


def _namespace(item: Mapping[str, Any]) -> str:
    return str((item.get("metadata") or {}).get("namespace") or "default")
