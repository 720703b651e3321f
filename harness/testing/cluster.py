"""A cluster, its schedulers and its provider without a single process, for tests of whatever stands on them."""

import contextlib
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import yaml

from harness.cluster.base import ClusterSpec, Program, Workload
from harness.cluster.embedded.releases import release
from harness.cluster.furnish import furnished
from harness.cluster.nodes import NODES, node_object
from harness.cluster.reset import Baseline
from harness.errors import ClusterError, NodeDied
from harness.kube import Object
from harness.scenario.nodes import NodeSpec
from harness.testing.kube import FakeKube

PODS = "/api/v1/pods"
KUBECONFIG = '{"apiVersion": "v1", "kind": "Config", "users": [{"name": "fake", "user": {}}]}\n'
READY = {"conditions": [{"type": "Ready", "status": "True"}]}
DEFAULT_SCHEDULER = "default-scheduler"


class FakeScheduler:
    """Puts each pod on the emptiest node, at once, and refuses it when there is none; it looks at nothing else."""

    def __init__(self, kube: FakeKube, config: str, log: Path) -> None:
        self._kube = kube
        self.config = config
        self._config: dict[str, Any] = yaml.safe_load(config)
        self._names = {profile.get("schedulerName", DEFAULT_SCHEDULER) for profile in self._config["profiles"]}
        self._turn = threading.RLock()
        self._ended = False
        self.log = log
        self.log.touch()

    def cpu_seconds(self) -> float | None:
        """Tell nothing: it is no process."""
        return None

    def page(self, path: str) -> str:
        """Return what kube-scheduler would say there.

        Raises:
            ClusterError: it has no such page, or has ended.
        """
        if self._ended:
            raise ClusterError(f"{path}: the scheduler has ended")
        waiting = sum(1 for pod in self._kube.items(PODS) if self._is_mine(pod))
        pages = {
            "/configz": json.dumps({"componentconfig": self._config}),
            "/healthz": "ok",
            "/metrics": f'scheduler_pending_pods{{queue="unschedulable"}} {waiting}\n',
            "/readyz": "ok",
        }
        if path not in pages:
            raise ClusterError(f"{path}: 404; the pages are: {', '.join(pages)}")
        return pages[path]

    def end(self) -> None:
        """Answer nobody any more."""
        self._ended = True

    def notice(self, event: str, item: Object) -> None:
        """Take in a change: a new pod is looked at, a new node is a chance for every pod that was refused."""
        with self._turn:
            if event == "ADDED" and self._is_mine(item):
                self._schedule(item)
            elif event == "ADDED" and item["kind"] == "Node":
                for pod in filter(self._is_mine, self._kube.items(PODS)):
                    self._schedule(pod)

    def _is_mine(self, item: Object) -> bool:
        spec = item.get("spec", {})
        asked_for = spec.get("schedulerName", DEFAULT_SCHEDULER)
        return item.get("kind") == "Pod" and not spec.get("nodeName") and asked_for in self._names

    def _schedule(self, pod: Object) -> None:
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
        load = {node["metadata"]["name"]: 0 for node in self._kube.items(NODES)}
        for other in self._kube.items(PODS):
            if other["spec"].get("nodeName") in load:
                load[other["spec"]["nodeName"]] += 1
        if not load:
            refusal = {"reason": "Unschedulable", "message": "0/0 nodes are available: no nodes."}
            condition = {"type": "PodScheduled", "status": "False", **refusal}
            self._kube.patch(path, {"status": {"phase": "Pending", "conditions": [condition]}})
            return
        node = min(load, key=lambda name: (load[name], name))
        conditions = [{"type": "PodScheduled", "status": "True"}, *READY["conditions"]]
        self._kube.patch(path, {"spec": {"nodeName": node}, "status": {"phase": "Running", "conditions": conditions}})


class FakeCluster:
    """A cluster in memory. `lose` makes it a broken one; `folder` holds the few files that a cluster has to show."""

    def __init__(self, folder: Path, name: str = "fake", kube: FakeKube | None = None) -> None:
        self.name = name
        self.address = "127.0.0.1"
        self.kube = kube or FakeKube()
        self.versions: Mapping[str, str] = {"kubernetes": release(None).version}
        self.kubeconfig = folder / "admin.kubeconfig"
        self.scheduler_kubeconfig = folder / "kube-scheduler.kubeconfig"
        for path in (self.kubeconfig, self.scheduler_kubeconfig):
            path.write_text(KUBECONFIG, encoding="utf-8")
        self.folder = folder
        self._lost: tuple[type[ClusterError], str] | None = None
        self.kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}})
        self._baseline = Baseline(self.kube, self.kube.inventory)

    def check(self) -> None:
        """Raise when a part was lost."""
        if self._lost:
            kind, text = self._lost
            raise kind(text)

    def is_own(self, item: Object) -> bool:
        """Tell that nothing is the cluster's own."""
        return False

    def lose(self, part: str) -> None:
        """Let every later check find that a part has died."""
        self._lost = ClusterError, f"the cluster lost a part: {part}"

    def lose_node(self, name: str) -> None:
        """Let every later check find that a node has died."""
        self._lost = NodeDied, f"node {name} is gone"

    def add_nodes(self, nodes: Sequence[NodeSpec]) -> Sequence[str]:
        """Create nodes, ready from the start."""
        for spec in nodes:
            node = node_object(spec)
            self.kube.create({**node, "status": {**node["status"], **READY}})
        return ()

    def reset(self) -> None:
        """Empty the cluster and prove it."""
        self._baseline.restore(self.check)

    def furnish(self, objects: Sequence[Object]) -> AbstractContextManager[None]:
        """Create objects that outlast resets."""
        return furnished(self.kube, self._baseline, objects)

    @contextlib.contextmanager
    def scheduler(
        self, config: str, name: str, program: Program | None = None, workload: Workload | None = None
    ) -> Iterator[FakeScheduler]:
        """Let a scheduler take part for as long as the context lasts."""
        scheduler = FakeScheduler(self.kube, config, self.folder / f"{name}.log")
        self.kube.listeners.append(scheduler.notice)
        try:
            yield scheduler
        finally:
            self.kube.listeners.remove(scheduler.notice)
            scheduler.end()


class FakeProvider:
    """A source of fake clusters; `made` are all that it gave."""

    name = "fake"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made: list[FakeCluster] = []

    def prepare(self, spec: ClusterSpec) -> None:
        """Do nothing: a fake is always ready."""

    @contextlib.contextmanager
    def cluster(self, spec: ClusterSpec) -> Iterator[FakeCluster]:
        """Give a new, empty cluster."""
        folder = self.folder / f"cluster-{len(self.made) + 1}"
        folder.mkdir(parents=True)
        cluster = FakeCluster(folder, spec.name or folder.name)
        self.made.append(cluster)
        yield cluster
