"""Lists everything a cluster holds from etcd's keys: one request instead of one per kind of object."""

from collections.abc import Iterator
from pathlib import Path

from harness.cluster.embedded import etcd
from harness.cluster.reset import Key
from harness.kube import Kube, Resource

REGISTRY = "/registry/"
# Where the API server stores an object under another name than its API has for it.
STORED_AS = {
    "controllers": "replicationcontrollers",
    "minions": "nodes",
    "services/endpoints": "endpoints",
    "services/specs": "services",
}
# What the control plane keeps writing about itself.
INTERNAL = (
    "configmaps/kube-system/extension-apiserver-authentication",
    "health",
    "leases/kube-system/",
    "masterleases/",
    "namespaces/kube-",
    "peerserverleases/",
    "ranges/",
)


def inventory(kube: Kube, etcd_socket: Path) -> Iterator[Key]:
    """Yield the address of every object in the cluster."""
    by_plural: dict[str, Resource] = {}
    by_group: dict[str, Resource] = {}
    for resource in kube.resources().values():
        group = resource.group_version.rpartition("/")[0]
        by_plural.setdefault(resource.plural, resource)
        by_group.setdefault(f"{group}/{resource.plural}", resource)
    for key in etcd.keys(etcd_socket, REGISTRY):
        stored = key.removeprefix(REGISTRY)
        if not stored.startswith(INTERNAL):
            yield _address(stored, by_plural, by_group)


def _address(stored: str, by_plural: dict[str, Resource], by_group: dict[str, Resource]) -> Key:
    """Read "pods/default/a", "services/specs/default/a" or, for custom kinds, "example.com/widgets/default/a"."""
    first, _, rest = stored.partition("/")
    second, _, deeper = rest.partition("/")
    pair = f"{first}/{second}"
    if pair in STORED_AS:
        resource, rest = by_plural.get(STORED_AS[pair]), deeper
    elif pair in by_group:
        resource, rest = by_group[pair], deeper
    else:
        resource = by_plural.get(STORED_AS.get(first, first))
    if resource is None:
        return Key(None, None, stored)
    namespace, slash, name = rest.partition("/")
    return Key(resource, namespace, name) if slash else Key(resource, None, rest)
