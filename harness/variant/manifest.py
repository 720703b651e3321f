"""Reads how somebody deploys a second scheduler: who it is, what it is configured with, how it is started. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from harness.cluster.base import Workload
from harness.errors import InputError
from harness.scenario import positions
from harness.scenario.manifests import check_object
from harness.scenario.problems import Problem
from harness.scenario.words import shown
from harness.variant.manifest_shape import misshapen
from harness.variant.probes import misdirected

Object = dict[str, Any]
WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "Pod")
CONFIG = "--config"


@dataclass(frozen=True)
class SchedulerManifest:
    """A second scheduler as its manifest describes it.

    `objects` is everything but the workload itself, in the order of the file. `config` is the text of the configuration
    it is started with, and `where` the ConfigMap and key that it stands in. `workload` is how containers run it,
    `described` its name in messages, `flags` what it is started with beside its configuration, and `misdirected` tells
    of probes that nobody would answer.
    """

    name: str
    namespace: str
    service_account: str
    objects: tuple[Object, ...]
    config: str
    where: str
    described: str
    flags: tuple[str, ...]
    misdirected: tuple[str, ...]
    workload: Workload


def read_manifest(text: str, file: str) -> SchedulerManifest:
    """Take a manifest apart.

    Raises:
        InputError: it does not describe a scheduler; says what is missing, with its line.
    """
    items = _objects(text, file)
    workloads = [(item, line) for item, line in items if item.get("kind") in WORKLOADS]
    if len(workloads) != 1:
        kinds = ", ".join(str(item.get("kind")) for item, _ in items) or "nothing"
        raise InputError(f"{file}: one {' or '.join(WORKLOADS)} that starts the scheduler expected, {kinds} seen")
    workload, line = workloads[0]
    where = f"{file}:{line}: {workload['kind']} {_name(workload)}"
    spec = _pod_spec(workload)
    container, path = _scheduler_container(spec, where)
    words = _words(container)
    others = tuple(item for item, _ in items if item is not workload)
    config_map, key = _config_map(container, spec, path, where)
    return SchedulerManifest(
        name=_name(workload),
        namespace=_namespace(workload),
        service_account=str(spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"),
        objects=others,
        config=_config_text(others, _namespace(workload), config_map, key, where),
        where=f"{file}: ConfigMap {config_map}, key {key}",
        described=where,
        flags=tuple(_flags(words)),
        misdirected=tuple(misdirected(container, words)),
        workload=Workload(workload, str(container.get("name")), config_map, key),
    )


def _objects(text: str, file: str) -> list[tuple[Object, int]]:
    """Return every object of a manifest with its line.

    Raises:
        InputError: something is no object, or a part of one is not what it has to be.
    """
    documents, problems = positions.read(text, file)
    found = [document for document in documents if document.data is not None]
    for document in found:
        if not isinstance(document.data, dict):
            message = f"{shown(document.data)} seen, a Kubernetes object expected"
            problems.append(Problem(file, document.line(()), (), message))
            continue
        try:
            check_object(document.data)
        except ValueError as error:
            problems.append(Problem(file, document.line(()), (), str(error)))
        if document.data.get("kind") in (*WORKLOADS, "ConfigMap"):
            parts = misshapen(document.data)
            problems += [Problem(file, document.line(path), path, message) for path, message in parts]
    if problems:
        raise InputError("\n".join(str(problem) for problem in problems))
    return [(document.data, document.line(())) for document in found]


def _pod_spec(workload: Object) -> Mapping[str, Any]:
    spec: Mapping[str, Any] = workload.get("spec") or {}
    return spec if workload["kind"] == "Pod" else (spec.get("template") or {}).get("spec") or {}


def _scheduler_container(spec: Mapping[str, Any], where: str) -> tuple[Mapping[str, Any], str]:
    """Return the container that is the scheduler, beside an extender perhaps, and the path of its configuration."""
    containers: Sequence[Mapping[str, Any]] = spec.get("containers") or ()
    if nameless := [place for place, one in enumerate(containers) if not isinstance(one.get("name"), str)]:
        raise InputError(f"{where}: containers[{nameless[0]}].name: missing or not text")
    for container in containers:
        words = _words(container)
        for place, word in enumerate(words):
            if word.startswith(f"{CONFIG}="):
                return container, word.removeprefix(f"{CONFIG}=")
            if word == CONFIG and place + 1 < len(words):
                return container, words[place + 1]
    raise InputError(f"{where}: no container with {CONFIG}; a scheduler is known by its configuration")


def _words(container: Mapping[str, Any]) -> list[str]:
    return [str(word) for word in (*(container.get("command") or ()), *(container.get("args") or ()))]


def _flags(words: Sequence[str]) -> Iterator[str]:
    """Yield the arguments of a scheduler's command beside its configuration."""
    follows = False
    for place, word in enumerate(words):
        is_program = place == 0 and not word.startswith("-")
        if not (follows or is_program or word == CONFIG or word.startswith(f"{CONFIG}=")):
            yield word
        follows = word == CONFIG


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


def _name(item: Mapping[str, Any]) -> str:
    return str((item.get("metadata") or {}).get("name", ""))


def _namespace(item: Mapping[str, Any]) -> str:
    return str((item.get("metadata") or {}).get("namespace") or "default")
