"""The cluster providers there are."""

from harness.cluster.base import ClusterProvider
from harness.registry import Registry

CLUSTERS = Registry(
    "cluster",
    "harness.clusters",
    {
        "embedded": "harness.cluster.embedded.provider:EmbeddedProvider",
        "kind": "harness.cluster.kind.provider:KindProvider",
        "existing": "harness.cluster.existing.provider:ExistingProvider",
    },
)


def provider(name: str) -> ClusterProvider:
    """Return a provider by its name."""
    made: ClusterProvider = CLUSTERS.make(name)
    return made
