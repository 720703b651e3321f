"""Finds the context that is meant in the user's kubeconfig files, as kubectl does, and writes it down alone."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import yaml

from harness.cluster import kubeconfig
from harness.cluster.base import ClusterSpec
from harness.errors import InputError
from harness.scenario.words import did_you_mean

LISTS = ("contexts", "clusters", "users")
# What names a file, which means one beside the kubeconfig unless it is absolute.
FILES = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
PORTS = {"http": 80, "https": 443}
TYPES: Mapping[type, str] = {list: "list", dict: "mapping", str: "text"}
Object = dict[str, Any]
Kind = TypeVar("Kind", list[Any], dict[str, Any], str)


@dataclass(frozen=True)
class Context:
    """One context with its cluster and user; `document` is a kubeconfig that holds nothing else, `where` its files."""

    name: str
    cluster: str
    host: str
    port: int
    # Whoever prints a context, pytest in a traceback for one, shall not print its keys.
    document: Mapping[str, Any] = field(repr=False)
    where: str = ""

    def write(self, path: Path) -> Path:
        """Write it as a kubeconfig that only its owner can read."""
        return kubeconfig.save(path, dict(self.document))


def files(spec: ClusterSpec) -> list[Path]:
    """Return the kubeconfig files to read: the named one, those of KUBECONFIG, or the one in the home folder."""
    if spec.kubeconfig is not None:
        return [spec.kubeconfig]
    named = [Path(part) for part in os.environ.get("KUBECONFIG", "").split(os.pathsep) if part]
    return named or [Path.home() / ".kube" / "config"]


def context_of(spec: ClusterSpec) -> Context:
    """Return the context that a spec means, the current one unless it names another.

    Raises:
        InputError: there is none; says where was looked, and what there is.
    """
    paths = files(spec)
    found = [path for path in paths if path.is_file()]
    where = ", ".join(map(str, found or paths))
    if not found:
        raise InputError(f"{where}: no such kubeconfig; name one with --kubeconfig or KUBECONFIG")
    merged = _merged(found)
    name = spec.existing.context or merged["current-context"]
    if not name:
        known = ", ".join(merged["contexts"]) or "none"
        raise InputError(f"{where}: no current context; choose one with --context: {known}")
    if name not in merged["contexts"]:
        guess = did_you_mean(name, merged["contexts"])
        raise InputError(f'{where}: no context "{name}"{guess} there are: {", ".join(merged["contexts"]) or "none"}')
    return _picked(name, merged, where)


def _merged(paths: Sequence[Path]) -> Object:
    """Return all files as one; of two things with one name the first counts, as with kubectl."""
    merged: Object = {"current-context": "", **{name: {} for name in LISTS}}
    for path in paths:
        document = _read(path)
        merged["current-context"] = merged["current-context"] or str(document.get("current-context") or "")
        for name in LISTS:
            for entry in _typed(document.get(name), list, f"{path}: {name}"):
                if isinstance(entry, dict) and "name" in entry:
                    merged[name].setdefault(str(entry["name"]), _absolute(entry, name.removesuffix("s"), path))
    return merged


def _typed(value: Any, kind: type[Kind], where: str) -> Kind:
    """Return a part of a kubeconfig, empty if it is not there; one of another type is never quoted."""
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise InputError(f"{where}: {type(value).__name__} seen, a {TYPES[kind]} expected")
    return value


def _read(path: Path) -> Object:
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    except yaml.YAMLError:
        # The error itself quotes lines, and those may be somebody's key.
        raise InputError(f"{path}: no YAML; it is no kubeconfig") from None
    if not isinstance(document, dict):
        raise InputError(f"{path}: {type(document).__name__} seen, a kubeconfig expected")
    return document


def _absolute(entry: Object, kind: str, path: Path) -> Object:
    where, folder = f'{path}: {kind} "{entry["name"]}"', path.parent
    inside: Object = dict(_typed(entry.get(kind), dict, where))
    for key in FILES:
        if name := _typed(inside.get(key), str, f"{where}: {key}"):
            inside[key] = str((folder / name).absolute())
    program = _typed(inside.get("exec"), dict, f"{where}: exec")
    command = _typed(program.get("command"), str, f"{where}: exec: command")
    if "/" in command:
        # A bare word is looked for on PATH; anything else is beside the kubeconfig.
        inside["exec"] = {**program, "command": str((folder / command).absolute())}
    return {**entry, kind: inside}


def _picked(name: str, merged: Object, where: str) -> Context:
    context = merged["contexts"][name]["context"]
    parts = {}
    for kind in ("cluster", "user"):
        wanted = str(context.get(kind, ""))
        if wanted not in merged[f"{kind}s"]:
            known = ", ".join(merged[f"{kind}s"]) or "none"
            raise InputError(
                f'{where}: context "{name}" is about {kind} "{wanted}", which is not there; known: {known}'
            )
        parts[kind] = merged[f"{kind}s"][wanted]
    # Its own namespace is where kubectl would go, and nothing of ours belongs there.
    alone = {key: value for key, value in context.items() if key != "namespace"}
    cluster = str(context.get("cluster", ""))
    host, port = _address(parts["cluster"]["cluster"].get("server"), f'{where}: cluster "{cluster}"')
    return Context(
        name=name,
        cluster=cluster,
        host=host,
        port=port,
        where=where,
        document={
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "contexts": [{"name": name, "context": alone}],
            "clusters": [parts["cluster"]],
            "users": [parts["user"]],
        },
    )


def _address(server: object, where: str) -> tuple[str, int]:
    """Return host and port of a server, whose address has to be one as kubectl writes it."""
    try:
        url = urlsplit(str(server or ""))
        host, port = url.hostname, url.port or PORTS.get(url.scheme)
    except ValueError:
        host, port = None, None
    if not host or not port or url.scheme not in PORTS:
        seen = f'server "{server}"' if server else "no server"
        raise InputError(f"{where}: {seen} seen, an address such as https://HOST:PORT expected")
    return host, port
