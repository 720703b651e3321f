"""Creates kind clusters through pytest-kind, readies them for scenarios, and deletes them whatever happens."""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from harness import progress
from harness.clock import SYSTEM
from harness.cluster import abandoned
from harness.cluster import kubeconfig as kubeconfigs
from harness.cluster.base import PAUSE_IMAGE, ClusterSpec
from harness.cluster.folder import ClusterFolder
from harness.cluster.kind import config, left, tools
from harness.cluster.kind.cluster import ClusterOnKind, Parts
from harness.cluster.kind.containers import nodes, shared_folder
from harness.cluster.kind.creation import Creation, await_makers, delete
from harness.cluster.kind.deaths import watched
from harness.cluster.kind.images import Images
from harness.cluster.kind.leader import Leader
from harness.cluster.kind.owner import Owner
from harness.cluster.kind.pods import OwnPods
from harness.cluster.kind.system import admit_readers, keep_to_control_plane, scheduler_token
from harness.cluster.kind.workers import WorkerPool
from harness.cluster.nodes import NODES
from harness.cluster.recovery import Swept
from harness.errors import ClusterError, HarnessError, InputError
from harness.kube import Kube, names

WORKERS = 3
PREFIX = "harness-"
CONFIG_VARIABLE = "KIND_CONFIG_EXTRA"


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
        if spec.fresh and spec.kind.keep:
            raise InputError("--fresh makes a new cluster for every run, and --keep-cluster keeps one: choose")
        tools.engine_version()
        program = tools.kind_program(spec.kind)
        abandoned.remove(progress.note)
        for what in left.sweep().removed:
            progress.note(f"removed {what}")
        started = SYSTEM.now()
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(ClusterFolder.create(spec.name))
            name = spec.name or f"{PREFIX}{folder.name}"
            # Before anything is made: whoever finds the folder without its owner knows what to delete. That is so for a
            # cluster that is to be kept, too: only a run that comes to its end leaves one that another can take.
            folder.announce(provider=self.name, kind=name)
            was_kept = shared_folder(name) is not None
            home = _home(folder.path, name, keep=spec.kind.keep)
            kubeconfig = spec.kubeconfig.resolve() if spec.kubeconfig else home.kubeconfig
            creation = Creation(name, folder.path, program, tools.node_image(spec.kind), kubeconfig)
            stack.enter_context(creation.created(_written(folder.path, home.shared, spec), keep=spec.kind.keep))
            kube = Kube.connect(creation.kubeconfig)
            stack.callback(kube.close)
            _check_version(spec.kubernetes, creation.kubernetes(kube))
            if was_kept:
                _check_whole(kube, creation)
            cluster = _readied(folder, home.shared, creation, kube, stack)
            if spec.kind.keep:
                stack.callback(_give_back, cluster, creation)
            folder.announce(
                provider=self.name,
                kind=name,
                versions=dict(cluster.versions),
                kubeconfig=str(cluster.kubeconfig),
                start_seconds=round(SYSTEM.now() - started, 3),
            )
            yield cluster

    def recover(self, folder: Path, facts: Mapping[str, Any]) -> Sequence[str]:
        """Delete a cluster whose owner was killed, also one that was to be kept: it is half made, or amid a run."""
        name = facts.get("kind")
        if not name:
            return ()
        tools.engine_version()
        await_makers(str(name))
        there = nodes(str(name))
        if not any(node.shared for node in there) or any(node.owner and node.owner.lives for node in there):
            # Nothing was made, or what has this name now is somebody else's.
            return ()
        return [f"kind cluster {name}"] if delete(str(name)) else ()

    def sweep(self) -> Swept:
        """Delete clusters whose owners are gone, known by their containers alone; none where no engine answers."""
        return Swept() if tools.unavailable() else left.sweep()


@dataclass(frozen=True)
class _Home:
    """Where the files of a cluster lie: with the run's own, or, of one that is kept, where pytest-kind has its own."""

    shared: Path
    kubeconfig: Path


def _home(folder: Path, name: str, *, keep: bool) -> _Home:
    place = (Path(".pytest-kind") / name).resolve() if keep else folder
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    # The nodes of a cluster that was kept have theirs, wherever that run was made.
    shared = shared_folder(name) or place / "shared"
    shared.mkdir(mode=0o700, parents=True, exist_ok=True)
    return _Home(shared, place / "kubeconfig")


def _give_back(cluster: ClusterOnKind, creation: Creation) -> None:
    """Leave a cluster to whoever comes next; one that cannot be left as it was made is of no use to them."""
    try:
        cluster.give_back()
    except HarnessError as error:
        progress.note(f"kind cluster {creation.name} is deleted and not kept, for it cannot be emptied: {error}")
        creation.is_spoilt = True


def _check_whole(kube: Kube, creation: Creation) -> None:
    """Raise when a cluster that was kept is not as a run leaves it at its end."""
    nodes = set(names(kube.items(NODES)))
    lost = [one for one in creation.containers() if not one.endswith(f"-{config.CONTROL_PLANE}") and one not in nodes]
    if lost:
        raise ClusterError(
            f"kind cluster {creation.name} was left in the middle of a run: {', '.join(lost)} is no node now; "
            f'delete it with "kind delete cluster --name {creation.name}"'
        )


def _check_version(asked_for: str | None, seen: str) -> None:
    if asked_for and not f"{seen}.".startswith(f"{asked_for.removeprefix('v')}."):
        raise InputError(
            f"--kubernetes {asked_for}: the image of the nodes has Kubernetes {seen}; choose another with --kind-image"
        )


def _written(folder: Path, shared: Path, spec: ClusterSpec) -> Path:
    """Write the configuration that the cluster is created with, and return its file."""
    named = spec.kind.config or (Path(os.environ[CONFIG_VARIABLE]) if os.environ.get(CONFIG_VARIABLE) else None)
    own = config.read_config(named) if named else None
    workers = config.worker_count(spec.nodes, own, spec.kind.workers, WORKERS)
    file = folder / "kind.yaml"
    made = config.cluster_config(workers, shared, own)
    made = config.marked(made, shared, Owner.here(keep=spec.kind.keep).place)
    file.write_text(yaml.safe_dump(made, sort_keys=False), encoding="utf-8")
    return file


def _readied(
    folder: ClusterFolder, shared: Path, creation: Creation, kube: Kube, stack: contextlib.ExitStack
) -> ClusterOnKind:
    containers = creation.containers()
    leader = next(one for one in containers if one.endswith(f"-{config.CONTROL_PLANE}"))
    workers = [one for one in containers if one != leader]
    pool = WorkerPool(kube, shared, lambda: deaths.check())  # noqa: PLW0108 - it is known only in the next line
    deaths = stack.enter_context(watched(creation.name, folder.path / "deaths.log", pool.containers))
    with progress.bar("Readying the cluster"):
        keep_to_control_plane(kube)
        images = Images(creation.program, creation.name, containers)
        images.serve_as(PAUSE_IMAGE)
        pool.take_over(workers)
        # Before the cluster is taken as empty: what is made later goes at the next reset.
        token, binder = admit_readers(kube), scheduler_token(kube)
        pods = stack.enter_context(OwnPods(kube, deaths.check))
        parts = Parts(kube, pool, Leader(kube, leader), pods, deaths, images, token)
        versions = {
            "kubernetes": creation.kubernetes(kube),
            "kind": creation.version(),
            "docker": tools.engine_version(),
        }
        cluster = ClusterOnKind(folder.path, shared, creation.kubeconfig, versions, parts)
        kubeconfigs.with_token(creation.kubeconfig, cluster.scheduler_kubeconfig, binder)
    return cluster
