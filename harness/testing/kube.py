"""An API server in memory, for what the harness asks of one: objects, selectors, versions, watches. No controllers."""

import copy
import itertools
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.cluster.reset import Key
from harness.errors import ApiError
from harness.kube import CONFLICT, GONE, NOT_FOUND, Kube, Object, Resource
from harness.scenario import selector
from harness.streaming import Stream

VERBS = frozenset({"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"})
# Creation time of every object: the harness never judges by it, and a constant makes tests repeatable.
BIRTHDAY = "2026-01-01T00:00:00Z"
NAMESPACED = {
    "v1": {"Pod": "pods", "Event": "events", "ConfigMap": "configmaps", "ServiceAccount": "serviceaccounts"},
    "apps/v1": {
        "Deployment": "deployments",
        "ReplicaSet": "replicasets",
        "StatefulSet": "statefulsets",
        "DaemonSet": "daemonsets",
    },
    "batch/v1": {"Job": "jobs"},
}
CLUSTER_WIDE = {
    "v1": {"Node": "nodes", "Namespace": "namespaces"},
    "scheduling.k8s.io/v1": {"PriorityClass": "priorityclasses"},
    "rbac.authorization.k8s.io/v1": {"ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings"},
}
ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

Listener = Callable[[str, Object], None]


def resources() -> list[Resource]:
    """Return the kinds of objects that the fake knows."""
    return [
        Resource(version, kind, plural, namespaced, VERBS)
        for known, namespaced in ((NAMESPACED, True), (CLUSTER_WIDE, False))
        for version, kinds in known.items()
        for kind, plural in kinds.items()
    ]


@dataclass(frozen=True)
class Address:
    """What a request's path means."""

    resource: Resource
    namespace: str | None
    name: str | None
    part: str | None

    def covers(self, key: Key) -> bool:
        """Return whether an object belongs to this collection, or is this object."""
        return (
            key.resource == self.resource and self.namespace in {None, key.namespace} and self.name in {None, key.name}
        )


class FakeStream(Stream):
    """A watch that is fed by hand or by a FakeKube; closing it ends its iteration."""

    def __init__(self, changes: Iterable[Object] = ()) -> None:
        super().__init__(None)
        self._changes: queue.SimpleQueue[Object | None] = queue.SimpleQueue()
        for change in changes:
            self.feed(change)

    def feed(self, change: Object) -> None:
        """Hand one change to whoever iterates."""
        self._changes.put(change)

    def __iter__(self) -> Iterator[Object]:
        while (change := self._changes.get()) is not None:
            yield change

    def close(self) -> None:
        """End the watch."""
        self._closed.set()
        self._changes.put(None)


class FakeKube(Kube):
    """A connection to an API server that is not there; everything but `request` and `watch` is the real code.

    `requests` holds every request as (method, path). `listeners` are called after each change.
    """

    def __init__(self, known: Iterable[Resource] | None = None) -> None:
        # Without super().__init__: that one wants the official client, and there is none behind a fake.
        found = resources() if known is None else known
        self._known = {(resource.group_version, resource.kind): resource for resource in found}
        self._lock = threading.Lock()
        self._guard = threading.RLock()
        self._objects: dict[Key, Object] = {}
        self._log: list[tuple[int, Address, Object]] = []
        self._watches: list[tuple[Address, FakeStream]] = []
        self._versions = itertools.count(1)
        self._compacted = 0
        self.requests: list[tuple[str, str]] = []
        self.listeners: list[Listener] = []

    def close(self) -> None:
        """Do nothing: there is no connection."""

    def resources(self) -> Mapping[tuple[str, str], Resource]:
        """Return the kinds that this fake was given."""
        return self._known

    def inventory(self) -> list[Key]:
        """Return the address of every object."""
        with self._guard:
            return list(self._objects)

    def compact(self) -> None:
        """Forget the history, as etcd does: a watch from before this moment is answered with 410 Gone."""
        with self._guard:
            self._compacted = next(self._versions)
            self._log.clear()

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        accept: str = "application/json",
    ) -> Any:
        """Answer one request as an API server would; see `Kube.request`."""
        if path == ACCESS_REVIEWS:
            # Everybody may do everything here: a fake has no rights to give.
            return {**body, "status": {"allowed": True}}
        address = self._address(method, path)
        with self._guard:
            self.requests.append((method, path))
            answer, changes = self._answer(method, path, address, query or {}, copy.deepcopy(body))
            # Here, while nobody changes it.
            answer = copy.deepcopy(answer)
        for event, item in changes:
            for listener in list(self.listeners):
                listener(event, copy.deepcopy(item))
        return answer

    def watch(self, path: str, resource_version: str) -> Stream:
        """Open a watch; what happened since `resource_version` comes first."""
        address = self._address("GET", path)
        with self._guard:
            if int(resource_version) < self._compacted:
                raise ApiError("GET", path, GONE, "too old resource version")
            since = [
                change
                for version, seen, change in self._log
                if version > int(resource_version) and _within(address, seen)
            ]
            stream = FakeStream(copy.deepcopy(since))
            self._watches.append((address, stream))
            return stream

    def _answer(
        self, method: str, path: str, address: Address, query: Mapping[str, Any], body: Any
    ) -> tuple[Any, list[tuple[str, Object]]]:
        if method == "GET" and address.name is None:
            wanted = selector.parse(query.get("labelSelector", ""))
            found = [item for item in self._found(address) if wanted.matches(item["metadata"].get("labels", {}))]
            return {"metadata": {"resourceVersion": str(next(self._versions))}, "items": found}, []
        if method == "POST" and address.part is None:
            created = self._create(method, path, address, body)
            return created, [self._publish("ADDED", address, created)]
        if address.part == "token":
            return {**body, "status": {"token": f"token of {address.name}"}}, []
        found = self._found(address)
        if address.name is not None and not found:
            raise ApiError(method, path, NOT_FOUND, f'{address.resource.plural} "{address.name}" not found')
        if method == "GET":
            return found[0], []
        if method == "PATCH":
            patched = self._patch(method, path, found[0], body)
            return patched, [self._publish("MODIFIED", address, patched)]
        # DELETE, a pod's eviction, a namespace's finalization: there is no grace and no disruption budget here.
        return {"status": "Success"}, [self._remove(address, item) for item in found]

    def _create(self, method: str, path: str, address: Address, item: Object) -> Object:
        metadata = item.setdefault("metadata", {})
        version = next(self._versions)
        metadata.setdefault("name", f"{metadata.get('generateName', '')}{version}")
        if address.namespace is not None:
            metadata["namespace"] = address.namespace
        key = Key(address.resource, address.namespace, metadata["name"])
        if key in self._objects:
            raise ApiError(method, path, CONFLICT, f'{address.resource.plural} "{key.name}" already exists')
        metadata |= {"uid": f"uid-{version}", "resourceVersion": str(version), "creationTimestamp": BIRTHDAY}
        self._objects[key] = item
        return item

    def _patch(self, method: str, path: str, item: Object, change: Object) -> Object:
        version = item["metadata"]["resourceVersion"]
        if change.get("metadata", {}).get("resourceVersion", version) != version:
            raise ApiError(method, path, CONFLICT, "the object has been modified")
        _merge(item, change)
        item["metadata"]["resourceVersion"] = str(next(self._versions))
        return item

    def _remove(self, address: Address, item: Object) -> tuple[str, Object]:
        metadata = item["metadata"]
        del self._objects[Key(address.resource, metadata.get("namespace"), metadata["name"])]
        metadata["resourceVersion"] = str(next(self._versions))
        return self._publish("DELETED", address, item)

    def _publish(self, event: str, address: Address, item: Object) -> tuple[str, Object]:
        metadata = item["metadata"]
        seen = Address(address.resource, metadata.get("namespace"), metadata["name"], None)
        change = copy.deepcopy({"type": event, "object": item})
        self._log.append((int(metadata["resourceVersion"]), seen, change))
        for watched, stream in self._watches:
            if _within(watched, seen):
                stream.feed(copy.deepcopy(change))
        return event, item

    def _found(self, address: Address) -> list[Object]:
        return [item for key, item in self._objects.items() if address.covers(key)]

    def _address(self, method: str, path: str) -> Address:
        for resource in self.resources().values():
            namespace: str | None = None
            words = path.removeprefix(f"{resource.root}/").split("/")
            if resource.namespaced and words[0] == "namespaces" and words[2:]:
                namespace, words = words[1], words[2:]
            if path.startswith(f"{resource.root}/") and words[0] == resource.plural:
                name, part = (*words[1:], None, None)[:2]
                return Address(resource, namespace, name, part)
        raise ApiError(method, path, NOT_FOUND, "the server could not find the requested resource")


def _within(watched: Address, seen: Address) -> bool:
    return watched.resource == seen.resource and watched.namespace in {None, seen.namespace}


def _merge(item: Object, change: Object) -> None:
    for name, value in change.items():
        if value is None:
            item.pop(name, None)
        elif isinstance(value, dict) and isinstance(item.get(name), dict):
            _merge(item[name], value)
        else:
            item[name] = value
