"""A cluster of the user's own, as the later stages use it: a world of its own within somebody else's."""

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from harness.certificates import Authority
from harness.cluster.base import ExistingSpec, Program, Workload
from harness.cluster.beside import Beside, SchedulerProcess
from harness.cluster.embedded.build import Binaries
from harness.cluster.embedded.supervisor import SCHEDULER, Supervisor
from harness.cluster.existing import empty, rights
from harness.cluster.existing import nodes as matching
from harness.cluster.existing.body import PodRules
from harness.cluster.existing.kube import ScopedKube
from harness.cluster.existing.names import Names
from harness.cluster.existing.scheduler import OwnScheduler, flags, kwok_flags, renamed, told_names
from harness.cluster.existing.undo import NODES, Journal
from harness.cluster.existing.wide import ClusterWide
from harness.cluster.furnish import furnished
from harness.cluster.nodes import create_nodes
from harness.cluster.reset import Key
from harness.errors import ApiError, InputError
from harness.kube import METADATA_ONLY, Kube, Object
from harness.scenario.nodes import NodeSpec

KWOK = "kwok"
PODS = "/api/v1/pods"


class ExistingCluster:
    """A borrowed cluster. Made and ended by the provider, which brings everything that it stands on."""

    address = "127.0.0.1"

    def __init__(  # noqa: PLR0913 - what the provider found out, each once
        self,
        *,
        folder: Path,
        context: str,
        kubeconfig: Path,
        whole: Kube,
        names: Names,
        versions: Mapping[str, str],
        allowed: ExistingSpec,
        binaries: Callable[[], Binaries],
        supervisor: Supervisor,
    ) -> None:
        self.name = folder.name
        self.folder = folder
        self.context = context
        self.kubeconfig = kubeconfig
        self.scheduler_kubeconfig = kubeconfig
        self.versions = versions
        self._whole = whole
        self._names = names
        self._allowed = allowed
        self._binaries = binaries
        self._supervisor = supervisor
        self._journal = Journal(folder)
        self._schedulers: dict[str, str] = {}
        self._kept: set[Key] = set()
        self._matched = False
        self._declared: frozenset[str] = frozenset()
        self._left_out: dict[str, bool] = {}
        self._kwok = False
        self._checked: set[rights.Right] = set()
        self._made_beside: Beside | None = None
        self._lock = threading.Lock()
        wide = ClusterWide(whole, names, self._journal, allowed=allowed.allow_cluster_wide)
        self.kube = ScopedKube(whole, names, wide, self._rules)
        log = folder / "logs" / "cluster-scheduler.log"
        log.touch()
        self.own_scheduler = OwnScheduler(log)

    @property
    def logs(self) -> Mapping[str, Path]:
        """Return the log file of each process that stands beside the cluster."""
        return {name: path for name, path in self._supervisor.logs().items() if path != self.own_scheduler.log}

    def told(self, text: str) -> str:
        """Return a text of the cluster in the scenario's words, without its address."""
        return self._names.told(text)

    def expect(self, nodes: Sequence[str]) -> None:
        """Hear which nodes a scenario declares."""
        self._declared = frozenset(nodes)
        self._left_out.clear()

    def is_own(self, item: Object) -> bool:
        """Tell whether an object is a node that takes no pods and is not declared, such as a control plane.

        Decided when it is first seen: one that a scenario drains stays in view. All else that is not the run's is
        never seen.
        """
        metadata = item["metadata"]
        if "namespace" in metadata or "nodeInfo" not in item.get("status", {}):
            return False
        takes_none = metadata["name"] not in self._declared and not matching.is_usable(item)
        return self._left_out.setdefault(metadata["uid"], takes_none)

    def check(self) -> None:
        """Raise when a process beside the cluster has died."""
        self._supervisor.check()

    def _rules(self) -> PodRules:
        return PodRules(self._schedulers, own_nodes=self._allowed.kwok_nodes)

    def add_nodes(self, nodes: Sequence[NodeSpec]) -> Sequence[str]:
        """Add nodes that are played, where that is allowed; else see whether those that are there will do."""
        if not nodes:
            return ()
        if self._allowed.kwok_nodes:
            self._play(nodes)
            return ()
        if self._matched:
            names = matching.few([node.name for node in nodes])
            raise InputError(
                f"nodes {names}: a cluster cannot be given more nodes while a scenario runs, unless they are played: "
                "--kwok-nodes --allow-cluster-wide"
            )
        self._matched = True
        return matching.fit(nodes, self._whole.items(NODES))

    def _play(self, nodes: Sequence[NodeSpec]) -> None:
        there = {item["metadata"]["name"] for item in self._whole.items(NODES, accept=METADATA_ONLY)}
        if taken := [node.name for node in nodes if node.name in there]:
            raise InputError(
                f"nodes {matching.few(taken)}: the cluster has nodes of these names already, so they cannot be added; "
                "leave --kwok-nodes out to use those, or choose another cluster"
            )
        if not self._kwok:
            found = self._binaries()
            program = Program((str(found.program), KWOK))
            arguments = list(kwok_flags(self.kubeconfig, found.stages, self._names))
            self._supervisor.start(KWOK, arguments, program=program)
            self._kwok = True
        create_nodes(self.kube, nodes, self.check)

    def furnish(self, objects: Sequence[Object]) -> AbstractContextManager[None]:
        """Create objects that outlast resets."""
        return furnished(self.kube, self, objects)

    def keep(self, key: Key) -> None:
        """Let an object stay when the cluster is reset."""
        self._kept.add(key)

    def forget(self, key: Key) -> None:
        """Let an object go when the cluster is reset."""
        self._kept.discard(key)

    def reset(self) -> None:
        """Delete everything of the run's own, and put back what was changed."""
        kept = {self._path(key) for key in self._kept}
        holding = {self._names.real(key.namespace) for key in self._kept if key.namespace}
        holding |= {
            self._names.real(key.name) for key in self._kept if key.resource and key.resource.kind == "Namespace"
        }
        own = empty.own_namespaces(self._whole, self._names)
        empty.delete_namespaces(self._whole, [name for name in own if name not in holding], self.check)
        for name in own:
            if name in holding:
                empty.empty_namespace(self._whole, name, kept, self.check)
        self.kube.forget_namespaces()
        self._remove_nodes()
        self._journal.undo(self._whole, self._names, kept)
        self._matched = False

    def _path(self, key: Key) -> str:
        if key.resource is None:
            return key.name
        if key.resource.kind == "Namespace":
            return key.resource.path(None, self._names.real(key.name))
        return key.resource.path(self._names.real(key.namespace) if key.namespace else None, key.name)

    def _remove_nodes(self) -> None:
        if self._allowed.kwok_nodes:
            remove_nodes(self._whole, self._names)

    def end(self) -> list[str]:
        """Remove everything of the run's own; return what it was, in words."""
        self._kept.clear()
        return recover(self._whole, self._names, self._journal, nodes=self._allowed.kwok_nodes)

    @contextlib.contextmanager
    def scheduler(
        self, config: str, name: str, program: Program | None = None, workload: Workload | None = None
    ) -> Iterator[SchedulerProcess]:
        """Run a scheduler on this machine under names that no pod of others asks for."""
        self._require_rights(config)
        real, mapping = renamed(config, self._names)
        chosen = told_names(program, mapping) or Program((str(self._binaries().program), SCHEDULER))
        beside = self._beside()
        with beside.scheduler(real, name, chosen, shown=config, told=self._names.told) as scheduler:
            self._schedulers |= mapping
            try:
                yield scheduler
            finally:
                for before in mapping:
                    self._schedulers.pop(before, None)

    def _beside(self) -> Beside:
        with self._lock:
            if self._made_beside is None:
                authority = Authority(self.folder / "pki")
                self._made_beside = Beside(
                    folder=self.folder,
                    supervisor=self._supervisor,
                    authority=authority,
                    # kube-scheduler asks nobody whether this group may read its pages.
                    reader=authority.client("harness-reader", "system:masters"),
                    kubeconfig=self.kubeconfig,
                    flags=functools.partial(flags, authority.certificate),
                )
            return self._made_beside

    def _require_rights(self, config: str) -> None:
        """Make sure that a scheduler can work with the user's rights; one with an identity of its own has its own."""
        stock = "clientConnection" in config
        if stock and str(self.kubeconfig) not in config:
            return
        wanted = [right for right in rights.needed_by_scheduler(stock=stock) if right not in self._checked]
        rights.require(self._whole, wanted, f'a scheduler beside "{self.context}" acts as you')
        self._checked.update(wanted)


def remove_nodes(kube: Kube, names: Names) -> list[str]:
    """Remove the nodes of a run, and the pods that others' controllers put on every node; return the nodes' names."""
    removed = [item["metadata"]["name"] for item in kube.items(NODES, selector=names.selector, accept=METADATA_ONLY)]
    for name in removed:
        kube.delete(f"{NODES}/{name}")
    for name in removed:
        for pod in kube.items(PODS, fields=f"spec.nodeName={name}", accept=METADATA_ONLY):
            where = pod["metadata"]
            # There is no kubelet that could confirm their end.
            kube.delete(f"/api/v1/namespaces/{where['namespace']}/pods/{where['name']}", grace_seconds=0)
    return removed


def recover(kube: Kube, names: Names, journal: Journal, *, nodes: bool) -> list[str]:
    """Remove everything of a run's own from a cluster; return what it was, in words."""
    own = empty.own_namespaces(kube, names)
    empty.delete_namespaces(kube, own)
    gone = remove_nodes(kube, names) if nodes else []
    done = [f"namespace {name}" for name in own] + [f"node {name}" for name in gone]
    try:
        return done + journal.undo(kube, names)
    except ApiError as error:
        error.add_note(f"Before that: {', '.join(done) or 'nothing'}")
        raise
