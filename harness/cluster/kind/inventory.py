"""Lists what a kind cluster holds beyond itself, by asking for every kind of object."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from harness.cluster.reset import Key
from harness.errors import ApiError
from harness.kube import METADATA_ONLY, Kube, Object, Resource

OWN_NAMESPACES = frozenset({"kube-system", "kube-public", "kube-node-lease", "local-path-storage"})
WORKERS = 8
# What the control plane makes of its nodes, Services and tokens, and takes away again by itself.
_DERIVED = frozenset(
    {
        "apiservices",
        "certificatesigningrequests",
        "componentstatuses",
        "csinodes",
        "endpoints",
        "endpointslices",
        "ipaddresses",
        "leases",
        "nodes",
        "servicecidrs",
    }
)


def is_own_namespace(item: Object) -> bool:
    """Tell whether an object is in a namespace that the cluster itself lives in."""
    return item["metadata"].get("namespace") in OWN_NAMESPACES


def inventory(kube: Kube) -> Iterator[Key]:
    """Yield the address of every object that is not the cluster's own."""
    wanted = {
        (resource.group_version.rpartition("/")[0], resource.plural): resource
        for resource in kube.resources().values()
        if {"list", "delete"} <= resource.verbs and resource.plural not in _DERIVED
    }

    def listed(resource: Resource) -> list[Key]:
        try:
            items = kube.items(resource.path(), accept=METADATA_ONLY)
        except ApiError as error:
            if error.status in {404, 405}:
                return []
            raise
        return [
            Key(resource, item["metadata"].get("namespace"), item["metadata"]["name"])
            for item in items
            if not is_own_namespace(item)
        ]

    with ThreadPoolExecutor(WORKERS) as pool:
        for keys in pool.map(listed, wanted.values()):
            yield from keys
