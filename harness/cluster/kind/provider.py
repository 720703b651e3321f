"""Creates kind clusters through pytest-kind, readies them for scenarios, and deletes them whatever happens."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import yaml

from harness import progress
from harness.clock import SYSTEM
from harness.cluster import kubeconfig as kubeconfigs
from harness.cluster.base import ClusterSpec
from harness.cluster.folder import ClusterFolder
from harness.cluster.kind import config, tools
from harness.cluster.kind.cluster import ClusterOnKind, Parts
from harness.cluster.kind.creation import Creation
from harness.cluster.kind.deaths import watched
from harness.cluster.kind.images import Images
from harness.cluster.kind.leader import Leader
from harness.cluster.kind.leftovers import remove_leftovers
from harness.cluster.kind.pods import OwnPods
from harness.cluster.kind.system import admit_readers, keep_to_control_plane, scheduler_token
from harness.cluster.kind.workers import WorkerPool
from harness.kube import Kube

WORKERS = 3
CONFIG_VARIABLE = "KIND_CONFIG_EXTRA"
PAUSE_IMAGE = "registry.k8s.io/pause:3.10"


class KindProvider:
    """Kubelets in containers, a control plane that kubeadm made."""

    name = "kind"

    def prepare(self, spec: ClusterSpec) -> None:
        """Find or build kind's own program, and see that the container engine answers."""
        tools.engine_version()
        tools.kind_program(spec.kind)

    @contextlib.contextmanager
    def cluster(self, spec: ClusterSpec) -> Iterator[ClusterOnKind]:
        """Create a cluster whose workers are parked; schedulers and nodes are added by who needs them."""
        engine = tools.engine_version()
        program = tools.kind_program(spec.kind)
        for name in remove_leftovers(program):
            progress.note(f"kind cluster {name} was left behind by a run that crashed, and is deleted")
        started = SYSTEM.now()
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(ClusterFolder.create(spec.name))
            creation = _creation(folder.path, program, spec)
            stack.enter_context(creation.created(keep=spec.kind.keep))
            kube = Kube.connect(creation.kubeconfig)
            stack.callback(kube.close)
            cluster = _readied(folder, creation, kube, stack, engine)
            folder.announce(
                provider=self.name,
                versions=dict(cluster.versions),
                kubeconfig=str(cluster.kubeconfig),
                start_seconds=round(SYSTEM.now() - started, 3),
            )
            yield cluster


def _creation(folder: Path, program: Path, spec: ClusterSpec) -> Creation:
    shared = folder / "shared"
    shared.mkdir(mode=0o700)
    named = spec.kind.config or (Path(os.environ[CONFIG_VARIABLE]) if os.environ.get(CONFIG_VARIABLE) else None)
    own = config.read_config(named) if named else None
    workers = config.worker_count(spec.nodes, own, spec.kind.workers, WORKERS)
    file = folder / "kind.yaml"
    file.write_text(yaml.safe_dump(config.cluster_config(workers, shared, own), sort_keys=False), encoding="utf-8")
    return Creation(folder, program, tools.node_image(spec.kind), file, spec.kubeconfig)


def _readied(
    folder: ClusterFolder, creation: Creation, kube: Kube, stack: contextlib.ExitStack, engine: str
) -> ClusterOnKind:
    containers = creation.containers()
    leader = next(one for one in containers if one.endswith(f"-{config.CONTROL_PLANE}"))
    workers = [one for one in containers if one != leader]
    shared = folder.path / "shared"
    pool = WorkerPool(kube, shared, lambda: None)
    deaths = stack.enter_context(watched(creation.name, folder.path / "deaths.log", pool.containers))
    with progress.bar("Readying the cluster"):
        keep_to_control_plane(kube)
        images = Images(creation.program, creation.name, containers)
        images.serve_as(PAUSE_IMAGE)
        pool.take_over(workers)
        token = admit_readers(kube)
        pods = stack.enter_context(OwnPods(kube, deaths.check))
        parts = Parts(kube, pool, Leader(kube, leader), pods, deaths, images, token)
        versions = {"kubernetes": creation.kubernetes(kube), "kind": creation.version(), "docker": engine}
        cluster = ClusterOnKind(folder.path, creation.kubeconfig, tools.gateway(), versions, parts)
        kubeconfigs.with_token(creation.kubeconfig, cluster.scheduler_kubeconfig, scheduler_token(kube))
    return cluster
