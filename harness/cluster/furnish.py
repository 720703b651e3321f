"""Creates objects that outlast a reset: what a variant needs in the cluster, such as the rights of its scheduler."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Protocol

from harness.cluster.reset import Key
from harness.errors import ApiError, ClusterError
from harness.kube import Kube, Object


class Keeps(Protocol):
    """**Protocol**: knows what a reset leaves alone."""

    def keep(self, key: Key) -> None:
        """Let an object stay from now on."""
        ...

    def forget(self, key: Key) -> None:
        """Let an object go at the next reset, if it is still there then."""
        ...


@contextlib.contextmanager
def furnished(kube: Kube, baseline: Keeps, objects: Sequence[Object]) -> Iterator[None]:
    """Create objects and delete them, last first, when the context ends.

    Raises:
        ApiError: the API server refuses one of them.
    """
    with contextlib.ExitStack() as stack:
        for item in objects:
            resource = kube.resource_of(item["kind"], item["apiVersion"])
            namespace = item["metadata"].get("namespace", "default") if resource.namespaced else None
            made = kube.create(item, namespace or "default")
            key = Key(resource, namespace, made["metadata"]["name"])
            baseline.keep(key)
            stack.callback(_remove, kube, resource.path(namespace, key.name))
            stack.callback(baseline.forget, key)
        yield


def _remove(kube: Kube, path: str) -> None:
    # A server that is gone has taken its objects along.
    with contextlib.suppress(ApiError, ClusterError):
        kube.delete(path, grace_seconds=0)
