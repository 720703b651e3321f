"""Finds the context that is meant in the user's kubeconfig files, as kubectl does, and writes it down alone."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
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
Object = dict[str, Any]


@dataclass(frozen=True)
class Context:
    """One context with its cluster and user; `document` is a kubeconfig that holds nothing else."""

    name: str
    cluster: str
    host: str
    port: int
    # Whoever prints a context, pytest in a traceback for one, shall not print its keys.
    document: Mapping[str, Any] = field(repr=False)

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
        merged["current-context"] = merged["current-context"] or document.get("current-context") or ""
        for name in LISTS:
            for entry in document.get(name) or ():
                if isinstance(entry, dict) and "name" in entry:
                    merged[name].setdefault(str(entry["name"]), _absolute(entry, name.removesuffix("s"), path.parent))
    return merged


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


def _absolute(entry: Object, kind: str, folder: Path) -> Object:
    inside = dict(entry.get(kind) or {})
    for key in FILES:
        if inside.get(key):
            inside[key] = str((folder / inside[key]).absolute())
    program = inside.get("exec")
    if isinstance(program, dict) and "/" in str(program.get("command", "")):
        # A bare word is looked for on PATH; anything else is beside the kubeconfig.
        inside["exec"] = {**program, "command": str((folder / program["command"]).absolute())}
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
    server = urlsplit(str(parts["cluster"]["cluster"].get("server", "")))
    return Context(
        name=name,
        cluster=str(context["cluster"]),
        host=server.hostname or "",
        port=server.port or PORTS.get(server.scheme, 0),
        document={
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "contexts": [{"name": name, "context": alone}],
            "clusters": [parts["cluster"]],
            "users": [parts["user"]],
        },
    )
