"""What every implementation of a protocol promises, as suites that a fake and the real thing are held to alike.

Each promise is a method of its own; `promises` lists them for pytest's parametrize. A broken one is an AssertionError
that says what was seen, against what was expected.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager

from harness.clock import wait_until
from harness.cluster.base import PAUSE_IMAGE, Cluster, KeepsLogs, PlaysNodes
from harness.cluster.nodes import NODES
from harness.errors import ClusterError
from harness.kube import names
from harness.scenario.nodes import NodeGroup
from harness.variant.base import Installed, SchedulerVariant

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
NAMESPACES = "/api/v1/namespaces"
PODS = "/api/v1/namespaces/default/pods"
# Generous: a busy machine is no broken promise.
BIND_TIMEOUT_SECONDS = 60.0


class _Contract:
    """Finds the promises of a suite."""

    @classmethod
    def promises(cls) -> list[str]:
        """Return the name of every promise, in the order in which they are written."""
        return [name for name, value in vars(cls).items() if callable(value) and name[0] != "_" and name != "check"]

    @staticmethod
    def _demand(held: object, message: str) -> None:
        if not held:
            raise AssertionError(message)


class ClusterContract(_Contract):
    """The promises of a cluster. `make` gives an empty one for each promise, or the same one emptied again."""

    def __init__(self, make: Callable[[], AbstractContextManager[Cluster]]) -> None:
        self._make = make

    def check(self, promise: str) -> None:
        """Hold a cluster to one promise."""
        with self._make() as cluster:
            getattr(self, promise)(cluster)

    def has_a_name(self, cluster: Cluster) -> None:
        """Its name is one word, as `harness list` shows it."""
        self._demand(cluster.name and not set(cluster.name) & set(" /\n"), f'name: "{cluster.name}", a word expected')

    def tells_its_versions(self, cluster: Cluster) -> None:
        """It knows at least the version of Kubernetes, for the record."""
        self._demand(cluster.versions.get("kubernetes"), f"versions: {dict(cluster.versions)}, kubernetes expected")

    def has_a_kubeconfig(self, cluster: Cluster) -> None:
        """An administrator can use it from outside."""
        self._demand(cluster.kubeconfig.is_file(), f"{cluster.kubeconfig}: no such file")

    def is_whole(self, cluster: Cluster) -> None:
        """A new cluster has lost nothing."""
        cluster.check()

    def keeps_its_logs(self, cluster: Cluster) -> None:
        """Every log that it names can be read."""
        for part, log in cluster.logs.items() if isinstance(cluster, KeepsLogs) else ():
            self._demand(log.is_file(), f"log of {part}: {log}: no such file")

    def shows_added_nodes(self, cluster: Cluster) -> None:
        """Declared nodes are there, as declared and ready, when `add_nodes` returns."""
        if not isinstance(cluster, PlaysNodes):
            return
        group = NodeGroup.model_validate(
            {
                "count": 2,
                "name": "shown-{index}",
                "cpu": "1",
                "labels": {"zone": "z{index}"},
                "taints": [{"key": "dedicated", "value": "x", "effect": "NoSchedule"}],
                "extended": {"example.com/widget": 2},
            }
        )
        cluster.add_nodes(group.expand())
        seen = {node["metadata"]["name"]: node for node in cluster.kube.items(NODES)}
        self._demand(seen.keys() >= {"shown-1", "shown-2"}, f"nodes: {sorted(seen)}, shown-1 and shown-2 expected")
        node = seen["shown-2"]
        ready = [one["status"] for one in node["status"]["conditions"] if one["type"] == "Ready"]
        told = (
            node["metadata"]["labels"].get("zone"),
            node["status"]["allocatable"].get("cpu"),
            node["status"]["allocatable"].get("example.com/widget"),
            [taint["key"] for taint in node["spec"]["taints"]],
            ready,
        )
        self._demand(told == ("z2", "1", "2", ["dedicated"], ["True"]), f"shown-2: {told} is not what was declared")
        cluster.reset()

    def reset_empties_it(self, cluster: Cluster) -> None:
        """What was made since it was new is gone, and a second reset changes nothing."""
        if isinstance(cluster, PlaysNodes):
            cluster.add_nodes(NodeGroup.model_validate({"name": "left-behind"}).expand())
        cluster.kube.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "left-behind"}})
        cluster.kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "left-behind"}})
        for _ in range(2):
            cluster.reset()
            for path in (CONFIG_MAPS, NAMESPACES, NODES):
                left = names(cluster.kube.items(path))
                self._demand("left-behind" not in left, f"{path} after reset: {left}, left-behind must be gone")

    def reset_keeps_what_was_there(self, cluster: Cluster) -> None:
        """Only what was made since is deleted: namespace default and all that a new cluster holds stays."""
        before = self._baseline(cluster)
        self._demand("default" in before[0], f"namespaces of a new cluster: {before[0]}, default expected")
        cluster.kube.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "left-behind"}})
        cluster.reset()
        after = self._baseline(cluster)
        self._demand(after == before, f"{before} before and {after} after a reset, the same expected")

    @staticmethod
    def _baseline(cluster: Cluster) -> tuple[list[str], list[str]]:
        return names(cluster.kube.items(NAMESPACES)), names(cluster.kube.items(CONFIG_MAPS))


class VariantContract(_Contract):
    """The promises of a variant, on a cluster of your choice."""

    def __init__(
        self, make: Callable[[], SchedulerVariant], cluster: Callable[[], AbstractContextManager[Cluster]]
    ) -> None:
        self._make = make
        self._cluster = cluster

    def check(self, promise: str) -> None:
        """Hold the variant to one promise."""
        with self._cluster() as cluster:
            getattr(self, promise)(self._make(), cluster)

    def says_what_is_installed(self, variant: SchedulerVariant, cluster: Cluster) -> None:
        """What `install` gives names the variant, its schedulers and their configuration."""
        with variant.install(cluster) as installed:
            self._check_installed(variant, installed)

    def its_schedulers_answer(self, variant: SchedulerVariant, cluster: Cluster) -> None:
        """Every scheduler is healthy and tells its metrics as soon as `install` returns."""
        with variant.install(cluster) as installed:
            for name, scheduler in installed.schedulers.items():
                self._demand(scheduler.page("/healthz") == "ok", f"{name}: not healthy")
                self._demand("scheduler_pending_pods" in scheduler.page("/metrics"), f"{name}: tells no queue depths")
                self._demand(scheduler.log.is_file(), f"{name}: {scheduler.log}: no such log")

    def schedules(self, variant: SchedulerVariant, cluster: Cluster) -> None:
        """A pod that asks for one of its schedulers is bound; the first node there is will do."""
        with variant.install(cluster) as installed:
            if isinstance(cluster, PlaysNodes):
                cluster.add_nodes(NodeGroup().expand())
            for name in installed.schedulers:
                container = {"name": "pause", "image": PAUSE_IMAGE}
                pod = {"schedulerName": name, "containers": [container]}
                metadata = {"name": f"for-{name}"}
                cluster.kube.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod})
            wait_until(
                lambda: all(pod["spec"].get("nodeName") for pod in cluster.kube.items(PODS)),
                what="every pod of the contract being bound",
                timeout_seconds=BIND_TIMEOUT_SECONDS,
            )
        cluster.reset()

    def goes_when_told(self, variant: SchedulerVariant, cluster: Cluster) -> None:
        """After the context none of its schedulers answers, and the cluster itself is whole."""
        with variant.install(cluster) as installed:
            schedulers = installed.schedulers
        cluster.check()
        for name, scheduler in schedulers.items():
            try:
                scheduler.page("/healthz")
            except ClusterError:
                continue
            raise AssertionError(f"{name} still answers after its variant was removed")

    def can_be_installed_again(self, variant: SchedulerVariant, cluster: Cluster) -> None:
        """Installing leaves nothing behind that a second time would trip over."""
        for _ in range(2):
            with variant.install(cluster) as installed:
                self._check_installed(variant, installed)

    def _check_installed(self, variant: SchedulerVariant, installed: Installed) -> None:
        self._demand(installed.variant == variant.name, f'installed "{installed.variant}", "{variant.name}" expected')
        self._demand(installed.schedulers, "no schedulers, at least one expected")
        self._demand(installed.config.strip(), "the configuration is empty; the record needs it as rendered")
