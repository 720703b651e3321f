"""A cluster that others use too, in memory: with the few controllers that a run on it relies on."""

from collections.abc import Mapping
from typing import Any

from harness.cluster.existing.names import Names
from harness.errors import ApiError
from harness.kube import Object
from harness.testing import FakeKube

NAMES = Names("0123abcd", "api.example.com", 6443)
SELF_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
DEFAULT = "h-0123abcd-default"


class World(FakeKube):
    """A server whose namespaces get their account when they come, and take everything along when they go.

    `denied` are the rights, as (resource, verb), that the user does not have.
    """

    def __init__(self, denied: frozenset[tuple[str, str]] = frozenset()) -> None:
        super().__init__()
        self.denied = denied
        self.asked: list[Mapping[str, Any]] = []
        self.listeners.append(self._control)
        for name in ("default", "kube-system"):
            self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def request(self, method: str, path: str, *, body: Any = None, **others: Any) -> Any:
        if path != SELF_REVIEWS:
            return super().request(method, path, body=body, **others)
        wanted = body["spec"]["resourceAttributes"]
        self.asked.append(wanted)
        resource = "/".join(filter(None, (wanted["resource"], wanted["subresource"])))
        return {**body, "status": {"allowed": (resource, wanted["verb"]) not in self.denied}}

    def _control(self, event: str, item: Object) -> None:
        if item.get("kind") != "Namespace":
            return
        name = item["metadata"]["name"]
        if event == "ADDED":
            self.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}, name)
        elif event == "DELETED":
            for key in [key for key in self.inventory() if key.namespace == name and key.resource]:
                try:
                    super().request("DELETE", key.resource.path(name, key.name))  # type: ignore[union-attr]
                except ApiError:
                    continue

    def held(self) -> list[str]:
        """Return what is there, beside the namespaces' own accounts."""
        return sorted(str(key) for key in self.inventory() if not str(key).startswith("ServiceAccount h-"))


def pod(name: str, **spec: Any) -> Object:
    container = {"name": "c", "image": "pause"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container], **spec}}


def node(name: str, labels: Mapping[str, str] | None = None, **spec: Any) -> Object:
    status = {
        "conditions": [{"type": "Ready", "status": "True"}],
        "allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"},
    }
    metadata = {"name": name, "labels": dict(labels or {})}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}
