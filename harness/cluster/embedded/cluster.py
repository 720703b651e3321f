"""A running embedded cluster: what the later stages may ask of it."""

import functools
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import cast

from harness.certificates import Authority
from harness.cluster.base import Program, Workload
from harness.cluster.beside import Beside, SchedulerProcess
from harness.cluster.embedded import parts
from harness.cluster.embedded.build import Binaries
from harness.cluster.embedded.inventory import inventory
from harness.cluster.embedded.supervisor import Supervisor
from harness.cluster.furnish import furnished
from harness.cluster.nodes import create_nodes
from harness.cluster.reset import Baseline
from harness.kube import Kube, Object
from harness.scenario.nodes import NodeSpec

EmbeddedScheduler = SchedulerProcess
"""What `scheduler` gives."""


class EmbeddedCluster:
    """A control plane on loopback. Made and ended by the provider."""

    def __init__(self, layout: parts.Layout, binaries: Binaries, supervisor: Supervisor, authority: Authority) -> None:
        self.name = layout.folder.name
        self.folder = layout.folder
        self.kubeconfig = layout.kubeconfig("admin")
        self.scheduler_kubeconfig = layout.kubeconfig("kube-scheduler")
        self._layout = layout
        self._binaries = binaries
        self._supervisor = supervisor
        self._authority = authority
        self._kube: Kube | None = None
        self._baseline: Baseline | None = None

    @property
    def kube(self) -> Kube:
        """Return the shared connection, made when first asked for."""
        if self._kube is None:
            self._kube = Kube.connect(self.kubeconfig)
        return self._kube

    @property
    def versions(self) -> Mapping[str, str]:
        """Return the version of every part."""
        return {"kubernetes": self._binaries.kubernetes, "etcd": self._binaries.etcd, "kwok": self._binaries.kwok}

    @property
    def logs(self) -> Mapping[str, Path]:
        """Return the log file of each part."""
        return self._supervisor.logs()

    @property
    def address(self) -> str:
        """Return loopback: everything runs on this machine."""
        return "127.0.0.1"

    def is_own(self, item: Object) -> bool:
        """Tell that nothing is: the parts are processes, and none of them is an object."""
        return False

    def check(self) -> None:
        """Raise when a part has died."""
        self._supervisor.check()

    def close(self) -> None:
        """Drop the connection."""
        if self._kube is not None:
            self._kube.close()

    def add_nodes(self, nodes: Sequence[NodeSpec]) -> Sequence[str]:
        """Create nodes and return when each is ready to take pods; each is just as declared."""
        if nodes:
            create_nodes(self.kube, nodes, self.check)
        return ()

    def reset(self) -> None:
        """Empty the cluster and prove it."""
        if self._baseline is not None:
            self._baseline.restore(self.check)

    def remember_baseline(self) -> None:
        """Take what is here now as what an empty cluster holds."""
        self._baseline = Baseline(self.kube, lambda: inventory(self.kube, self._layout.etcd_socket))

    def furnish(self, objects: Sequence[Object]) -> AbstractContextManager[None]:
        """Create objects that outlast resets."""
        if self._baseline is None:
            self.remember_baseline()
        return furnished(self.kube, cast("Baseline", self._baseline), objects)

    def scheduler(
        self, config: str, name: str, program: Program | None = None, workload: Workload | None = None
    ) -> AbstractContextManager[SchedulerProcess]:
        """Run a scheduler with a configuration; it has synced its caches when this returns."""
        beside = Beside(
            folder=self._layout.folder,
            supervisor=self._supervisor,
            authority=self._authority,
            reader=self._layout.admin,
            kubeconfig=self.scheduler_kubeconfig,
            flags=functools.partial(parts.scheduler, self._layout),
        )
        return beside.scheduler(config, name, program)
