"""The configuration that a kind cluster is created with: what the harness needs, merged with the user's own. Pure."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from harness.errors import InputError

CONTROL_PLANE = "control-plane"
ROLES = (CONTROL_PLANE, "worker")
MOUNT = "/harness"
API_VERSION = "kind.x-k8s.io/v1alpha4"
_NAMING = yaml.safe_dump({"kind": "InitConfiguration", "nodeRegistration": {"name": CONTROL_PLANE}})

Config = dict[str, Any]


def cluster_config(workers: int, shared: Path, own: Mapping[str, Any] | None = None) -> Config:
    """Return a configuration with one control plane and so many workers.

    Each node sees the folder `shared` at one place. Nodes of the user's configuration are kept with all they say
    (labels, mounts, patches); workers that are missing are added. Everything else of it stands as it is.

    Raises:
        InputError: the user's configuration is none of kind's, or has several control planes.
    """
    merged: Config = {"kind": "Cluster", "apiVersion": API_VERSION, **(own or {})}
    if merged["kind"] != "Cluster" or not str(merged["apiVersion"]).startswith("kind.x-k8s.io/"):
        raise InputError(f"kind configuration: {merged['kind']} of {merged['apiVersion']} seen, Cluster expected")
    nodes = _nodes(merged)
    leaders = [node for node in nodes if node.get("role", CONTROL_PLANE) == CONTROL_PLANE]
    if len(leaders) > 1:
        raise InputError(f"kind configuration: {len(leaders)} control planes; one is what is tested")
    others = [node for node in nodes if node.get("role") == "worker"]
    leader = {"role": CONTROL_PLANE, **(leaders[0] if leaders else {})}
    # A name that scenarios can spell, whatever the cluster is called.
    leader["kubeadmConfigPatches"] = [*(leader.get("kubeadmConfigPatches") or ()), _NAMING]
    missing = workers - len(others)
    all_nodes = [leader, *others, *({"role": "worker"} for _ in range(missing))]
    return {**merged, "nodes": [_mounted(node, shared) for node in all_nodes]}


def marked(config: Config, shared: Path, place: str) -> Config:
    """Return a configuration whose nodes have one more mount, at a path that says whose they are.

    What is mounted there is of no account; the shared folder is there already.
    """
    mount = {"hostPath": str(shared), "containerPath": place, "readOnly": True}
    return {**config, "nodes": [{**node, "extraMounts": [*node["extraMounts"], mount]} for node in config["nodes"]]}


def worker_count(declared: int, own: Mapping[str, Any] | None, chosen: int | None, fallback: int) -> int:
    """Return how many workers to create: as chosen, else enough for what is declared and for what the user lists."""
    listed = sum(1 for node in _nodes(dict(own or {})) if node.get("role") == "worker")
    return chosen or max(declared or fallback, listed)


def read_config(path: Path) -> Config:
    """Read a kind configuration of the user's.

    Raises:
        InputError: it cannot be read, or is no mapping.
    """
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise InputError(f"{path}: no YAML: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"{path}: a mapping expected, a Cluster of {API_VERSION}")
    return value


def _nodes(merged: Config) -> list[Config]:
    nodes = merged.get("nodes") or []
    if not isinstance(nodes, list) or not all(isinstance(node, dict) for node in nodes):
        raise InputError("kind configuration: nodes: a list of mappings expected, each with a role")
    for node in nodes:
        if node.get("role", CONTROL_PLANE) not in ROLES:
            raise InputError(f"kind configuration: role {node['role']!r}: one of {', '.join(ROLES)} expected")
    return [dict(node) for node in nodes]


def _mounted(node: Config, shared: Path) -> Config:
    mount = {"hostPath": str(shared), "containerPath": MOUNT}
    return {**node, "extraMounts": [*(node.get("extraMounts") or ()), mount]}
