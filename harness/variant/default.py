"""The stock kube-scheduler: the baseline that every other variant is compared with."""

import contextlib
from collections.abc import Iterator

from harness.cluster.base import Cluster
from harness.variant.base import NOTHING_BROUGHT, Installed, Setup
from harness.variant.config import DEFAULT_SCHEDULER, stock


class DefaultVariant:
    """kube-scheduler as upstream ships it."""

    name = "default"

    @contextlib.contextmanager
    def install(self, cluster: Cluster, setup: Setup = NOTHING_BROUGHT) -> Iterator[Installed]:
        """Run the stock scheduler, or take the one that the cluster has."""
        with stock(cluster, self.name) as scheduler:
            yield Installed(self.name, {DEFAULT_SCHEDULER: scheduler}, scheduler.config)
