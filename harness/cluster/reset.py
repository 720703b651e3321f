"""Empties a cluster between runs: deletes everything that was not there when it was new, and proves that it is gone."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from harness.clock import SYSTEM
from harness.errors import ApiError, ClusterError
from harness.kube import METADATA_ONLY, NOT_FOUND, Kube, Object, Resource

TIMEOUT_SECONDS = 30.0
WORKERS = 8
# Owners first, or they would bring back what they own. Everything else has no order.
OWNERS_FIRST = ("cronjobs", "deployments", "daemonsets", "statefulsets", "jobs", "replicationcontrollers", "replicasets")
# The same objects under another name, and what the control plane keeps writing about itself.
NOT_KEPT = frozenset({"events.events.k8s.io", "leases.coordination.k8s.io", "componentstatuses", "namespaces"})


@dataclass(frozen=True)
class Key:
    """The address of one object."""

    resource: Resource
    namespace: str | None
    name: str

    def __str__(self) -> str:
        return f"{self.resource.kind} {self.namespace + '/' if self.namespace else ''}{self.name}"


class Baseline:
    """What a new cluster holds."""

    def __init__(self, kube: Kube) -> None:
        self._kube = kube
        self._resources = list(_deletable(kube))
        self._kept = frozenset(key for keys in self._list_all() for key in keys)

    def restore(self, check: Callable[[], None]) -> None:
        """Delete what the baseline lacks, again until a complete listing shows nothing more.

        Raises:
            ClusterError: something is still there at the deadline; names it.
        """
        start = SYSTEM.now()
        while extra := self._extra():
            check()
            if SYSTEM.now() - start > TIMEOUT_SECONDS:
                few = ", ".join(str(key) for key in extra[:8])
                raise ClusterError(
                    f"reset: {len(extra)} objects will not go within {TIMEOUT_SECONDS:.0f} s: {few}; "
                    "a finalizer may hold them. Use a new cluster."
                )
            self._delete(extra)

    def _extra(self) -> list[Key]:
        return [key for keys in self._list_all() for key in keys if key not in self._kept]

    def _list_all(self) -> Iterator[list[Key]]:
        with ThreadPoolExecutor(WORKERS) as pool:
            yield from pool.map(self._list, self._resources)

    def _list(self, resource: Resource) -> list[Key]:
        items = self._kube.items(resource.path(), accept=METADATA_ONLY)
        return [Key(resource, item["metadata"].get("namespace"), item["metadata"]["name"]) for item in items]

    def _delete(self, keys: list[Key]) -> None:
        batches: dict[tuple[Resource, str | None], list[Key]] = {}
        for key in keys:
            batches.setdefault((key.resource, key.namespace), []).append(key)
        owners = [(place, batches.pop(place)) for place in _owners_first(batches)]
        for place, batch in owners:
            self._delete_batch(*place, batch)
        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(lambda entry: self._delete_batch(*entry[0], entry[1]), batches.items()))

    def _delete_batch(self, resource: Resource, namespace: str | None, keys: list[Key]) -> None:
        kept = any(key.resource == resource and key.namespace == namespace for key in self._kept)
        if kept or "deletecollection" not in resource.verbs:
            paths = [resource.path(key.namespace, key.name) for key in keys]
        else:
            paths = [resource.path(namespace)]
        for path in paths:
            self._kube.delete(path, grace_seconds=0)


def _owners_first(batches: dict[tuple[Resource, str | None], list[Key]]) -> list[tuple[Resource, str | None]]:
    owners = [place for place in batches if place[0].plural in OWNERS_FIRST]
    return sorted(owners, key=lambda place: OWNERS_FIRST.index(place[0].plural))


def _deletable(kube: Kube) -> Iterator[Resource]:
    """Yield each kind of object once, in the version the server prefers."""
    seen = set()
    for resource in kube.resources().values():
        group = resource.group_version.rpartition("/")[0]
        name = f"{resource.plural}.{group}" if group else resource.plural
        if {"list", "delete"} <= resource.verbs and name not in NOT_KEPT | seen:
            seen.add(name)
            yield resource
