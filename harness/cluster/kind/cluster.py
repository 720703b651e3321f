"""A running kind cluster: what the later stages may ask of it."""

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from harness.clock import SYSTEM
from harness.cluster.base import Program, Workload
from harness.cluster.furnish import furnished
from harness.cluster.kind import deploy, tools
from harness.cluster.kind.config import CONTROL_PLANE
from harness.cluster.kind.control import STOCK, SchedulerRoom, container_of
from harness.cluster.kind.deaths import Deaths
from harness.cluster.kind.image import Image
from harness.cluster.kind.images import Images
from harness.cluster.kind.inventory import inventory, is_own_namespace
from harness.cluster.kind.leader import Leader
from harness.cluster.kind.pods import OwnPods
from harness.cluster.kind.running import PodScheduler
from harness.cluster.kind.serving import serving
from harness.cluster.kind.tasks import Room, Tasks, tasks
from harness.cluster.kind.workers import WorkerPool
from harness.cluster.reset import Baseline
from harness.errors import ClusterError
from harness.kube import Kube, Object
from harness.scenario.nodes import NodeSpec

DEFAULT_SCHEDULER = "default-scheduler"
HEARSAY_SECONDS = 0.3
# Twenty pods that start in six seconds took three quarters of a minute on a busy machine, and the first ones longer.
PATIENCE = 5.0


@dataclass(frozen=True)
class Parts:
    """What a kind cluster is made of, once it is up."""

    kube: Kube
    pool: WorkerPool
    leader: Leader
    pods: OwnPods
    deaths: Deaths
    images: Images
    # It reads the pages of every scheduler, and errors show what they were raised among.
    token: str = field(repr=False)


class ClusterOnKind:
    """A cluster whose nodes are kubelets in containers. Made and ended by the provider."""

    patience = PATIENCE

    def __init__(self, folder: Path, shared: Path, kubeconfig: Path, versions: Mapping[str, str], parts: Parts) -> None:
        self.name = folder.name
        self.folder = folder
        self.kubeconfig = kubeconfig
        self.scheduler_kubeconfig = folder / "scheduler.kubeconfig"
        self.versions = versions
        self.kube = parts.kube
        self._parts = parts
        self._logs: dict[str, Path] = {}
        self._running: list[PodScheduler] = []
        self._baseline = Baseline(self.kube, lambda: inventory(self.kube))
        self._shared = shared
        self._room = SchedulerRoom(self.kube, parts.leader.container, shared, parts.pods, parts.token, self.furnish)

    @functools.cached_property
    def address(self) -> str:
        """Return this machine as the nodes can call it; asked for only where an extender runs here."""
        return tools.own_address()

    @property
    def leader(self) -> str:
        """Return the container of the control plane."""
        return self._parts.leader.container

    def containers(self) -> Mapping[str, str]:
        """Return the node that each worker's container is now."""
        return self._parts.pool.containers()

    @property
    def logs(self) -> Mapping[str, Path]:
        """Return the log of every scheduler that ran."""
        return dict(self._logs)

    def is_own(self, item: Object) -> bool:
        """Tell whether an object belongs to the cluster itself: its system's pods, and a control plane not declared."""
        return is_own_namespace(item) or self._parts.leader.is_undeclared(item)

    def check(self) -> None:
        """Raise when a node or a scheduler has died."""
        self._parts.deaths.check()
        self._room.watched.check()

    def add_nodes(self, nodes: Sequence[NodeSpec]) -> Sequence[str]:
        """Make nodes of workers, ready to take pods; return what is not as declared."""
        others = [spec for spec in nodes if spec.name != CONTROL_PLANE]
        for spec in nodes:
            if spec.name == CONTROL_PLANE:
                self._parts.leader.declare(spec)
        said = self._parts.pool.register(others)
        if nodes:
            self._let_schedulers_hear()
        return said

    def _let_schedulers_hear(self) -> None:
        """Return when every scheduler should know that the nodes are ready: none shall meet the first pod before that.

        They hear of it by watches of their own, which nobody can look into. But one that answers a request that was
        made afterwards has been given a processor since, however busy the machine is.
        """
        for scheduler in self._running:
            with contextlib.suppress(ClusterError):
                scheduler.page("/healthz")
        SYSTEM.pause(HEARSAY_SECONDS)

    def reset(self) -> None:
        """Empty the cluster and prove it; no worker is a node afterwards."""
        self._baseline.restore(lambda: None)
        self._parts.pool.park()
        self._parts.leader.restore()

    def give_back(self) -> None:
        """Empty it, and let every worker be the node that kind made, for whoever goes on with the cluster."""
        # What is left would count as the cluster's own when it is taken again.
        self.reset()
        self._room.put_back()
        self._parts.pool.give_back()

    def furnish(self, objects: Sequence[Object]) -> AbstractContextManager[None]:
        """Create objects that outlast resets."""
        return furnished(self.kube, self._baseline, objects)

    def load(self, image: Image) -> None:
        """Bring an image to every node, once."""
        self._parts.images.load(image)

    def serving(self, image: str, name: str, port: int, env: Mapping[str, str]) -> AbstractContextManager[str]:
        """Run an image that serves HTTP for as long as the context lasts; yields where it is reached from here."""
        self._parts.images.require(image)
        container = deploy.Container(image, env=env)
        return serving(self.kube, self.furnish, self._parts.leader.address, container, name, port)

    def tasks(self, image: Image, seconds: float) -> AbstractContextManager[Tasks]:
        """Run an image in pods that come to an end, on the control plane; they go with the context."""
        self._parts.images.load(image, onto=self.leader)
        room = Room(self.kube, self._parts.pods, self.furnish, self.leader, self._shared)
        return tasks(room, image.reference, seconds)

    def cannot_call(self, address: str, port: int) -> str | None:
        """Say why the control plane's node cannot connect to a port of this machine."""
        return tools.cannot_connect(self.leader, address, port)

    @contextlib.contextmanager
    def scheduler(
        self, config: str, name: str, program: Program | None = None, workload: Workload | None = None
    ) -> Iterator[PodScheduler]:
        """Run a scheduler: the stock one by its static manifest, another one in a Deployment."""
        room = self._room
        log = self._logs.setdefault(name, self.folder / f"{name}.log")
        with contextlib.ExitStack() as stack:
            if workload is not None:
                image = self._image_for(program, workload)
                scheduler = stack.enter_context(room.as_manifest(name, config, workload, image, log))
            elif program is None:
                scheduler = stack.enter_context(room.stock(config, log))
            else:
                container = container_of(program, self.load, self._out)
                deployed = room.deployed(_deployment(name), config, container, log)
                scheduler = stack.enter_context(deployed)
                if f"schedulerName: {DEFAULT_SCHEDULER}\n" in scheduler.config:
                    room.remove_stock()
            self._running.append(scheduler)
            stack.callback(self._running.remove, scheduler)
            yield scheduler

    def _image_for(self, program: Program | None, workload: Workload) -> str:
        if program is not None:
            return container_of(program, self.load, self._out).image
        return self._parts.images.of_workload(workload, self._room.stock_image)

    def _out(self, value: str) -> str:
        """Return a file of the cluster's folder as a pod sees it; a link here leads to where the pod writes it."""
        path = Path(value)
        if not path.is_relative_to(self.folder):
            return value
        real = self._shared / "out" / path.name
        real.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(real)
        return f"{deploy.OUT}/{path.name}"


def _deployment(name: str) -> str:
    """Return the name of a Deployment: that of the stock scheduler's own pod is taken."""
    return "built-scheduler" if name == STOCK else name
