"""Writes down, before it is done, what a run does to a cluster beside its own namespaces; and undoes it.

The file outlives the run when the run is killed: whoever cleans up after it reads the same file.
"""

import json
import threading
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from harness.cluster.existing.names import RUN_LABEL, Names
from harness.errors import ApiError, ClusterError
from harness.kube import CONFLICT, NOT_FOUND, Kube, Object

FILE = "undo.json"
NODES = "/api/v1/nodes"
TRIES = 5
# Set and taken off by controllers as a node's condition changes: what is true of them now is right.
CONTROLLERS_OWN = "node.kubernetes.io/"


class Journal:
    """What was created in no namespace, by path, and how nodes were before they were changed."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._lock = threading.Lock()
        known: dict[str, Any] = json.loads(self._file.read_text()) if self._file.exists() else {}
        self._created: list[str] = known.get("created", [])
        self._nodes: dict[str, Object] = known.get("nodes", {})

    def creating(self, path: str) -> None:
        """Note that an object is about to be created."""
        with self._lock:
            if path not in self._created:
                self._created.append(path)
                self._save()

    def has_created(self, path: str) -> bool:
        """Tell whether an object is the run's own."""
        with self._lock:
            return path in self._created

    def forget(self, path: str) -> None:
        """Note that an object is gone."""
        with self._lock:
            if path in self._created:
                self._created.remove(path)
                self._save()

    def changing(self, node: Object, change: Mapping[str, Any]) -> None:
        """Note how a node is before a change; what was noted first stays."""
        labels = (change.get("metadata") or {}).get("labels") or {}
        spec = change.get("spec") or {}
        with self._lock:
            before = self._nodes.setdefault(node["metadata"]["name"], {"labels": {}})
            there = node["metadata"].get("labels") or {}
            for key in labels:
                before["labels"].setdefault(key, there.get(key))
            if "taints" in spec:
                before.setdefault("taints", node["spec"].get("taints") or [])
            if "unschedulable" in spec:
                before.setdefault("unschedulable", bool(node["spec"].get("unschedulable")))
            self._save()

    def undo(self, kube: Kube, names: Names, kept: Collection[str] = ()) -> list[str]:
        """Delete what was created, the last first, and put nodes back; return what was done, in words."""
        done = []
        for path in [path for path in reversed(self._created) if path not in kept]:
            if _delete_own(kube, path, names):
                done.append(path.rpartition("/")[0].rpartition("/")[2] + "/" + path.rpartition("/")[2])
            self.forget(path)
        for name in list(self._nodes):
            _put_back(kube, name, self._nodes[name])
            done.append(f"nodes/{name} as it was")
            with self._lock:
                del self._nodes[name]
                self._save()
        return done

    def _save(self) -> None:
        draft = self._file.with_suffix(".new")
        draft.write_text(json.dumps({"created": self._created, "nodes": self._nodes}))
        draft.replace(self._file)


def _delete_own(kube: Kube, path: str, names: Names) -> bool:
    """Delete an object, if it is still the one that the run made."""
    try:
        item = kube.request("GET", path)
    except ApiError as error:
        if error.status == NOT_FOUND:
            return False
        raise
    if (item["metadata"].get("labels") or {}).get(RUN_LABEL) != names.run:
        return False
    kube.delete(path, grace_seconds=0)
    return True


def _put_back(kube: Kube, name: str, before: Object) -> None:
    path = f"{NODES}/{name}"
    for _ in range(TRIES):
        try:
            node = kube.request("GET", path)
            change: Object = {"metadata": {"resourceVersion": node["metadata"]["resourceVersion"]}, "spec": {}}
            if before["labels"]:
                change["metadata"]["labels"] = before["labels"]
            if "unschedulable" in before:
                change["spec"]["unschedulable"] = before["unschedulable"] or None
            if "taints" in before:
                # Those of a cordon go by themselves when it does.
                now = [taint for taint in node["spec"].get("taints") or () if _is_controllers(taint)]
                change["spec"]["taints"] = [taint for taint in before["taints"] if not _is_controllers(taint)] + now
            kube.patch(path, change)
        except ApiError as error:
            if error.status == NOT_FOUND:
                return
            if error.status != CONFLICT:
                raise
        else:
            return
    raise ClusterError(f"node {name} could not be put back as it was: it keeps changing. Before: {json.dumps(before)}")


def _is_controllers(taint: Object) -> bool:
    return str(taint["key"]).startswith(CONTROLLERS_OWN)
