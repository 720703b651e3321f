"""Empties a cluster between runs: deletes everything that was not there when it was new, and proves that it is gone."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from harness.clock import SYSTEM
from harness.errors import ApiError, ClusterError
from harness.kube import CONFLICT, NOT_FOUND, Kube, Resource

TIMEOUT_SECONDS = 30.0
WORKERS = 8
# Owners first, or they would bring back what they own. Everything else has no order.
OWNERS_FIRST = (
    "cronjobs",
    "deployments",
    "daemonsets",
    "statefulsets",
    "jobs",
    "replicationcontrollers",
    "replicasets",
)
# News about the deletion itself trickles in for a while, and disturbs nobody.
NOT_PROVEN = frozenset({"events"})


@dataclass(frozen=True)
class Key:
    """The address of one object; no resource when the API server cannot be asked for it."""

    resource: Resource | None
    namespace: str | None
    name: str

    def __str__(self) -> str:
        kind = self.resource.kind if self.resource else "stored object"
        return f"{kind} {self.namespace + '/' if self.namespace else ''}{self.name}"


Place = tuple[Resource, str | None]


class Baseline:
    """What a new cluster holds; `inventory` lists what any cluster holds now."""

    def __init__(self, kube: Kube, inventory: Callable[[], Iterable[Key]]) -> None:
        self._kube = kube
        self._inventory = inventory
        self._kept = set(inventory())

    def keep(self, key: Key) -> None:
        """Let an object stay from now on."""
        self._kept.add(key)

    def forget(self, key: Key) -> None:
        """Let an object go at the next restore, if it is still there then."""
        self._kept.discard(key)

    def restore(self, check: Callable[[], None]) -> None:
        """Delete what the baseline lacks, again until a complete listing shows nothing more.

        Raises:
            ClusterError: something is still there at the deadline; names it.
        """
        start = SYSTEM.now()
        while True:
            extra = [key for key in self._inventory() if key not in self._kept]
            unproven = [key for key in extra if not (key.resource and key.resource.plural in NOT_PROVEN)]
            if not unproven:
                return
            check()
            if SYSTEM.now() - start > TIMEOUT_SECONDS:
                few = ", ".join(str(key) for key in unproven[:8])
                raise ClusterError(
                    f"reset: {len(unproven)} objects will not go within {TIMEOUT_SECONDS:.0f} s: {few}; "
                    "a finalizer may hold them. Use a new cluster."
                )
            self._delete(extra)

    def _delete(self, keys: list[Key]) -> None:
        batches: dict[Place, list[str]] = {}
        for key in keys:
            if key.resource:
                batches.setdefault((key.resource, key.namespace), []).append(key.name)
        owners = [place for place in batches if place[0].plural in OWNERS_FIRST]
        for place in sorted(owners, key=lambda place: OWNERS_FIRST.index(place[0].plural)):
            self._delete_batch(place, batches.pop(place))
        namespaces = {place: batches.pop(place) for place in list(batches) if place[0].kind == "Namespace"}
        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(self._delete_batch, batches.keys(), batches.values()))
        for place, names in namespaces.items():
            self._delete_batch(place, names)
            for name in names:
                self._let_go(place[0].path(None, name))

    def _delete_batch(self, place: Place, names: list[str]) -> None:
        resource, namespace = place
        keeps_some = any((key.resource, key.namespace) == place for key in self._kept)
        if keeps_some or len(names) == 1 or "deletecollection" not in resource.verbs:
            paths = [resource.path(namespace, name) for name in names]
        else:
            paths = [resource.path(namespace)]
        for path in paths:
            self._kube.delete(path, grace_seconds=0)

    def _let_go(self, path: str) -> None:
        """Take the finalizer off a namespace that was just emptied: its controller would wait five seconds first."""
        metadata = {"name": path.rpartition("/")[2]}
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata, "spec": {"finalizers": []}}
        try:
            self._kube.request("PUT", f"{path}/finalize", body=body)
        except ApiError as error:
            # Gone already, or its controller was at it in the same moment.
            if error.status not in {NOT_FOUND, CONFLICT}:
                raise
