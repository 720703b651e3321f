"""Stands before every change to what is in no namespace: refused unless allowed, and then noted to be undone."""

from typing import Any

from harness.cluster.existing import body
from harness.cluster.existing.names import RUN_LABEL, Names
from harness.cluster.existing.undo import NODES, Journal
from harness.errors import InputError
from harness.kube import Kube, Object, Resource

FLAG = "--allow-cluster-wide"


class ClusterWide:
    """The guard of one run. `kube` is the connection to the whole cluster."""

    def __init__(self, kube: Kube, names: Names, journal: Journal, *, allowed: bool) -> None:
        self._kube = kube
        self._names = names
        self._journal = journal
        self._allowed = allowed

    def create(self, resource: Resource, item: Object) -> Object:
        """Return an object as it is to be created.

        Raises:
            InputError: it is not allowed.
        """
        name = str((item.get("metadata") or {}).get("name", ""))
        self._require(resource, name, "creating")
        if not name:
            raise InputError(
                f"{resource.kind} with a generated name: on an existing cluster it needs a name of its own"
            )
        self._journal.creating(resource.path(None, name))
        return body.own_node(item, self._names) if resource.plural == "nodes" else body.marked(item, self._names)

    def change(self, resource: Resource, name: str, part: str | None, change: Any) -> Any:
        """Return a change as it is to be made.

        Raises:
            InputError: it is not allowed, or it is not one that could be undone.
        """
        self._require(resource, name, "changing")
        if self._journal.has_created(resource.path(None, name)):
            return self._still_tainted(change) if resource.plural == "nodes" else change
        if resource.plural != "nodes":
            raise InputError(f"{resource.kind} {name}: the run did not create it, and changes only what it can undo")
        if part is not None:
            raise InputError(
                f"node {name}: its {part} is its kubelet's word, and cannot be changed; nodes of the harness's own can "
                "(--kwok-nodes)"
            )
        self._journal.changing(self._kube.request("GET", f"{NODES}/{name}"), change)
        return change

    def delete(self, resource: Resource, name: str | None) -> None:
        """Let an object of the run's own be deleted.

        Raises:
            InputError: it is not allowed, or somebody else's.
        """
        shown = name or f"every {resource.kind}"
        self._require(resource, shown, "deleting")
        if name is None or not self._journal.has_created(resource.path(None, name)):
            raise InputError(f"{resource.kind} {shown}: the run did not create it, so it does not delete it")

    def _require(self, resource: Resource, name: str, what: str) -> None:
        if not self._allowed:
            raise InputError(
                f"{resource.kind} {name}: {what} it needs {FLAG}: it is in no namespace, so that others of the cluster "
                "see it too"
            )

    def _still_tainted(self, change: Object) -> Object:
        """Return a change that leaves our own taint on a node: who made it does not see that there is one."""
        spec = change.get("spec") or {}
        if "taints" not in spec:
            return change
        ours = {"key": RUN_LABEL, "value": self._names.run, "effect": "NoSchedule"}
        return {**change, "spec": {**spec, "taints": [*(spec["taints"] or ()), ours]}}
