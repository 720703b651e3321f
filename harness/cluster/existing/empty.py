"""Empties what is a run's own on a shared cluster, and proves that it is gone."""

import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import inf

from harness.clock import SYSTEM, WaitTimeoutError, wait_until
from harness.cluster.existing.names import Names
from harness.cluster.reset import OWNERS_FIRST
from harness.errors import ApiError, ClusterError
from harness.kube import METADATA_ONLY, NOT_FOUND, Kube, Object, Resource

NAMESPACES = "/api/v1/namespaces"
# Without progress. A namespace's controller waits five seconds by itself, and real pods have their grace.
PATIENCE_SECONDS = 60.0
POLL_SECONDS = 0.1
GRACE_SECONDS = 1
WORKERS = 8
# What there can be thousands of.
MANY = ("pods", "events")
# What controllers put into every namespace, and would put there again.
BORN_WITH = ("/serviceaccounts/default", "/configmaps/kube-root-ca.crt")
# News about the deletion itself.
NOT_PROVEN = frozenset({"events"})

Check = Callable[[], None]


def own_namespaces(kube: Kube, names: Names) -> list[str]:
    """Return the names, on the cluster, of the namespaces that are the run's own."""
    found = kube.items(NAMESPACES, selector=names.selector, accept=METADATA_ONLY)
    # Both must be true: a label alone can be copied by anybody.
    return [name for item in found if names.is_own(name := item["metadata"]["name"])]


def delete_namespaces(kube: Kube, namespaces: Sequence[str], check: Check = lambda: None) -> None:
    """Delete namespaces with all that is in them, and wait until they are gone.

    Raises:
        ClusterError: one will not go; says what is left in it, as the cluster tells.
    """
    for name in namespaces:
        kube.delete(f"{NAMESPACES}/{name}")
        # From now on nobody can put new ones there.
        for plural in MANY:
            _delete_each(kube, f"{NAMESPACES}/{name}/{plural}", check)
    waiting = _Waiting(kube, list(namespaces), check)
    wait_until(waiting.is_over, what="the end of namespaces", timeout_seconds=inf, poll_seconds=POLL_SECONDS)


def _delete_each(kube: Kube, path: str, check: Check) -> None:
    """Delete objects one by one: of thousands, a server gives up on the whole before it is done.

    The own grace of pods, often half a minute, serves nobody here. What is left over is for the namespace's controller.
    """

    def delete(item: Object) -> None:
        if "deletionTimestamp" not in item["metadata"]:
            kube.delete(f"{path}/{item['metadata']['name']}", grace_seconds=GRACE_SECONDS)

    with contextlib.suppress(ApiError), ThreadPoolExecutor(WORKERS) as pool:
        for page in kube.pages(path, accept=METADATA_ONLY):
            check()
            list(pool.map(delete, page["items"] or ()))


class _Waiting:
    """Waits for namespaces to go, for as long as something of them still goes."""

    def __init__(self, kube: Kube, left: list[str], check: Check) -> None:
        self._kube = kube
        self._left = left
        self._check = check
        self._seen = -1
        self._end = SYSTEM.now() + PATIENCE_SECONDS

    def is_over(self) -> bool:
        self._check()
        found = {name: item for name in self._left if (item := _get(self._kube, name)) is not None}
        self._left = list(found)
        seen = len(found) + sum(_left(self._kube, name, plural) for name in found for plural in MANY)
        if seen != self._seen:
            self._seen, self._end = seen, SYSTEM.now() + PATIENCE_SECONDS
        if found and SYSTEM.now() > self._end:
            told = "; ".join(f"namespace {name}: {_why(item)}" for name, item in found.items())
            raise ClusterError(f"not gone after {PATIENCE_SECONDS:.0f} s without progress: {told}")
        return not found


def _get(kube: Kube, name: str) -> Object | None:
    try:
        item: Object = kube.request("GET", f"{NAMESPACES}/{name}")
    except ApiError as error:
        if error.status != NOT_FOUND:
            raise
        return None
    return item


def _left(kube: Kube, namespace: str, plural: str) -> int:
    page = kube.request("GET", f"{NAMESPACES}/{namespace}/{plural}", query={"limit": 1}, accept=METADATA_ONLY)
    return len(page["items"] or ()) + int(page["metadata"].get("remainingItemCount") or 0)


def _why(namespace: Object) -> str:
    """Return what the cluster says about a namespace that does not go: what is left, and whose finalizers hold it."""
    status = namespace.get("status") or {}
    said = [one.get("message", "") for one in status.get("conditions") or () if one.get("status") == "True"]
    finalizers = ", ".join((namespace.get("spec") or {}).get("finalizers") or ())
    return " ".join(said) or f"it has the finalizers {finalizers or 'of nobody'}"


def empty_namespace(kube: Kube, namespace: str, kept: Collection[str], check: Check = lambda: None) -> None:
    """Delete all that is in a namespace but what is kept, by path, and wait until it is gone.

    What comes back under the same name is another object.

    Raises:
        ClusterError: something will not go; names it.
    """
    extra = {
        uid: path
        for uid, path in _inventory(kube, namespace).items()
        if path not in kept and not path.endswith(BORN_WITH)
    }
    for path in sorted(extra.values(), key=_order):
        kube.delete(path, grace_seconds=GRACE_SECONDS)

    def gone() -> bool:
        check()
        return not extra.keys() & _inventory(kube, namespace).keys()

    try:
        wait_until(gone, what="the end of its objects", timeout_seconds=PATIENCE_SECONDS, poll_seconds=POLL_SECONDS)
    except WaitTimeoutError as error:
        left = [extra[uid] for uid in _inventory(kube, namespace) if uid in extra]
        raise ClusterError(
            f"namespace {namespace}: {len(left)} objects will not go within {PATIENCE_SECONDS:.0f} s: "
            f"{', '.join(left[:8])}; a finalizer may hold them"
        ) from error


def _inventory(kube: Kube, namespace: str) -> dict[str, str]:
    """Return the path of everything in a namespace, by its UID."""
    wanted = {"delete", "list"}
    kinds = [
        one
        for one in kube.resources().values()
        if one.namespaced and wanted <= one.verbs and one.plural not in NOT_PROVEN
    ]

    def listed(resource: Resource) -> Mapping[str, str]:
        try:
            items = kube.items(resource.path(namespace), accept=METADATA_ONLY)
        except ApiError:
            # Somebody's API that does not answer, or one that the user may not ask: nothing of ours is there.
            return {}
        return {item["metadata"]["uid"]: resource.path(namespace, item["metadata"]["name"]) for item in items}

    with ThreadPoolExecutor(WORKERS) as pool:
        found = pool.map(listed, kinds)
    return {uid: path for part in found for uid, path in part.items()}


def _order(path: str) -> int:
    plural = path.split("/")[-2]
    return OWNERS_FIRST.index(plural) if plural in OWNERS_FIRST else len(OWNERS_FIRST)
