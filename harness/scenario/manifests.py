"""Reads manifest files: ordinary Kubernetes YAML with parameters, checked only as far as a scenario depends on it."""

from pathlib import PurePosixPath
from typing import Any

from harness.scenario import positions
from harness.scenario.parameters import Substitution
from harness.scenario.problems import Problem
from harness.scenario.words import shown


def check_object(value: dict[str, Any]) -> dict[str, Any]:
    """Return a Kubernetes object unchanged.

    Raises:
        ValueError: it has no apiVersion, kind or name.
    """
    if str(value.get("kind", "")).endswith("List") and "items" in value:
        raise ValueError(f"{shown(value['kind'])} is not accepted; write its items as objects of their own")
    metadata = value.get("metadata")
    name = (metadata.get("name") or metadata.get("generateName")) if isinstance(metadata, dict) else None
    parts = {"apiVersion": value.get("apiVersion"), "kind": value.get("kind"), "metadata.name": name}
    missing = [part for part, found in parts.items() if not isinstance(found, str) or not found]
    if missing:
        raise ValueError(f"not a Kubernetes object: {' and '.join(missing)} missing or not text")
    return value


def check_file(value: str) -> str:
    """Return a manifest's path unchanged.

    Raises:
        ValueError: it leads out of the scenario's folder, so that a record could not hold a copy under its name.
    """
    path = PurePosixPath(value)
    if not value or path.is_absolute() or ".." in path.parts or "\\" in value or "\0" in value:
        raise ValueError(f"{shown(value)} seen, a path beside or below the scenario file expected")
    return value


def read_objects(text: str, file: str, substitution: Substitution) -> tuple[list[dict[str, Any]], list[Problem]]:
    """Return the objects of a manifest with its parameters put in, and what is wrong with it."""
    documents, problems = positions.read(text, file)
    objects = []
    for document in documents:
        if document.data is None:
            continue
        known = len(substitution.faults)
        value = substitution.apply(document.data)
        for path, message in substitution.faults[known:]:
            problems.append(Problem(file, document.line(path), path, message))
        if not isinstance(value, dict):
            message = f"{shown(value)} seen, a Kubernetes object expected"
            problems.append(Problem(file, document.line(()), (), message))
            continue
        try:
            objects.append(check_object(value))
        except ValueError as error:
            problems.append(Problem(file, document.line(()), (), str(error)))
    if not objects and not problems:
        problems.append(Problem(file, 1, (), "no Kubernetes object seen, at least one expected"))
    return objects, problems
