"""A running embedded cluster: what the later stages may ask of it."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import cast

from harness import ports
from harness.certificates import Authority
from harness.cluster.base import Program, Workload
from harness.cluster.embedded import parts
from harness.cluster.embedded.build import Binaries
from harness.cluster.embedded.inventory import inventory
from harness.cluster.embedded.loopback import LoopbackPages, Pages, PlainPages
from harness.cluster.embedded.supervisor import SCHEDULER, START_TIMEOUT_SECONDS, Supervisor
from harness.cluster.furnish import furnished
from harness.cluster.nodes import create_nodes
from harness.cluster.reset import Baseline
from harness.kube import Kube, Object
from harness.process import Child, family_cpu_seconds
from harness.scenario.nodes import NodeSpec

STRANGER_SECONDS = 20.0


class EmbeddedScheduler:
    """One kube-scheduler process."""

    def __init__(self, child: Child, pages: Pages, config: str) -> None:
        self.config = config
        self._child = child
        self._pages = pages

    @property
    def pid(self) -> int:
        """Return its process."""
        return self._child.pid

    @property
    def log(self) -> Path:
        """Return its log file."""
        return self._child.log

    def cpu_seconds(self) -> float | None:
        """Return what it and all that it started have used."""
        return family_cpu_seconds(self.pid)

    def page(self, path: str) -> str:
        """Return a page of its own server."""
        return self._pages.get(path)


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

    def add_nodes(self, nodes: Sequence[NodeSpec]) -> None:
        """Create nodes and return when each is ready to take pods."""
        if nodes:
            create_nodes(self.kube, nodes, self.check)

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

    def _filled(self, program: Program | None, config: Path, port: int) -> Program | None:
        if program is None:
            return None
        known = {"{config}": str(config), "{port}": str(port), "{kubeconfig}": str(self.scheduler_kubeconfig)}

        def filled(text: str) -> str:
            for mark, value in known.items():
                text = text.replace(mark, value)
            return text

        env = {name: filled(value) for name, value in program.env.items()}
        return replace(program, command=tuple(map(filled, program.command)), env=env)

    def _pages(self, program: Program | None, port: int) -> Pages:
        if program is None or program.serves == "https":
            return LoopbackPages(port, self._authority.certificate, self._layout.admin)
        return PlainPages(port)

    @contextlib.contextmanager
    def scheduler(
        self, config: str, name: str, program: Program | None = None, workload: Workload | None = None
    ) -> Iterator[EmbeddedScheduler]:
        """Run a scheduler with a configuration; it has synced its caches when this returns."""
        with ports.reserved(1) as (port,):
            server = self._authority.server(name)
            path = self._layout.folder / f"{name}.yaml"
            path.write_text(config)
            arguments = parts.scheduler(self._layout, path, port, server)
            child = self._supervisor.start(SCHEDULER, arguments, name=name, program=self._filled(program, path, port))
            pages = self._pages(program, port)
            try:
                self._await_health(name, program, port, pages)
                yield EmbeddedScheduler(child, pages, config)
            finally:
                self._supervisor.stop(child)

    def _await_health(self, name: str, program: Program | None, port: int, pages: Pages) -> None:
        serves = program.serves if program else "https"
        if serves == "nothing":
            self._supervisor.check()
            return
        what = f"{name} answering {serves}://127.0.0.1:{port}/readyz or /healthz"
        seconds = STRANGER_SECONDS if program and program.guarded else START_TIMEOUT_SECONDS
        self._supervisor.wait(pages.is_ready, what, seconds)
