"""The stock kube-scheduler: the baseline that every other variant is compared with."""

import contextlib
from collections.abc import Iterator

from harness.cluster.base import Cluster, RunsSchedulers
from harness.errors import VariantError
from harness.variant.base import NOTHING_BROUGHT, Installed, Setup
from harness.variant.config import DEFAULT_SCHEDULER, prove_live, render


class DefaultVariant:
    """kube-scheduler as upstream ships it."""

    name = "default"

    @contextlib.contextmanager
    def install(self, cluster: Cluster, setup: Setup = NOTHING_BROUGHT) -> Iterator[Installed]:
        """Run the stock scheduler."""
        if not isinstance(cluster, RunsSchedulers):
            raise VariantError(f'cluster "{cluster.name}" cannot run a scheduler process; variant "default" needs one')
        config = render(cluster.scheduler_kubeconfig)
        with cluster.scheduler(config, "kube-scheduler") as scheduler:
            prove_live(scheduler, config)
            yield Installed(self.name, {DEFAULT_SCHEDULER: scheduler}, config)
