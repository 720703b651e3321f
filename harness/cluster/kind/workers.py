"""The pool of workers: containers whose kubelets become the nodes that a scenario declares, and rest in between.

A kubelet takes another name by an identity of that name and a restart, which is a matter of a second or two; a new
cluster would take half a minute.
"""

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness.cluster.follow import Change, Follower
from harness.cluster.kind import kubelet
from harness.cluster.kind.config import MOUNT
from harness.cluster.kind.identity import node_identity
from harness.cluster.kind.kubelet import Registration, Worker
from harness.cluster.kind.tools import docker
from harness.cluster.nodes import NODES, takes_pods
from harness.errors import ClusterError, CommandError, StepError
from harness.kube import Kube, Object
from harness.scenario.nodes import NodeSpec

CHECK_SECONDS = 0.25
READY_TIMEOUT_SECONDS = 300.0
CONFIG, FLAGS = "/var/lib/kubelet/config.yaml", "/var/lib/kubelet/kubeadm-flags.env"
IDENTITY = "/var/lib/kubelet/pki/kubelet-client-current.pem"
# $1 is the folder that the new node's files lie in. What the kubelet remembers of CPUs was for another reservation.
_REGISTER = f"""
systemctl stop kubelet
rm -f {IDENTITY} /var/lib/kubelet/cpu_manager_state /var/lib/kubelet/memory_manager_state
install -m 600 "$1/identity.pem" {IDENTITY}
cp "$1/config.yaml" {CONFIG}
cp "$1/flags.env" {FLAGS}
systemctl start kubelet
"""


class WorkerPool:
    """All workers of a cluster. Those that are no node now are parked: their kubelets do not run."""

    def __init__(self, kube: Kube, shared: Path, check: Callable[[], None]) -> None:
        self._kube = kube
        self._shared = shared
        self._check = check
        self._parked: list[Worker] = []
        self._nodes: dict[str, Worker] = {}
        self._identities: dict[str, bytes] = {}

    @property
    def size(self) -> int:
        """Return how many nodes can be had at once."""
        return len(self._parked) + len(self._nodes)

    def containers(self) -> dict[str, str]:
        """Return the node that each container is now; its own name while it is parked."""
        nodes = {worker.container: name for name, worker in self._nodes.items()}
        return {worker.container: worker.container for worker in self._parked} | nodes

    def take_over(self, containers: Sequence[str]) -> None:
        """Make a pool of the workers that kind has just made, once each of them is a node that works."""
        if containers:
            self._await_ready(containers, lambda: None)
        with ThreadPoolExecutor(max(1, len(containers))) as pool:
            workers = list(pool.map(self._examined, containers))
        self._nodes = {worker.container: worker for worker in workers}
        self.park()

    def register(self, specs: Sequence[NodeSpec]) -> list[str]:
        """Make nodes of workers; return, in words, what is not as declared.

        Raises:
            StepError: there are fewer workers than nodes.
            ClusterError: a node is not ready at the deadline.
        """
        if len(specs) > len(self._parked):
            raise StepError(
                f"{len(specs) + len(self._nodes)} nodes declared, this cluster has {self.size} workers; "
                f"ask for more with --workers, or play them on the embedded cluster"
            )
        chosen = list(zip(specs, self._parked, strict=False))
        del self._parked[: len(specs)]
        self._nodes |= {spec.name: worker for spec, worker in chosen}

        def start() -> None:
            with ThreadPoolExecutor(max(1, len(chosen))) as pool:
                list(pool.map(lambda pair: self._start(kubelet.as_declared(*pair), pair[1]), chosen))

        if chosen:
            self._await_ready([spec.name for spec in specs], start)
            self._declare_extended(specs)
        return kubelet.shortfalls(chosen)

    def give_back(self) -> None:
        """Make each worker the node that it was when kind made it."""
        self.park()
        workers, self._parked = self._parked, []
        self._nodes = {worker.container: worker for worker in workers}
        for worker in workers:
            self._start(kubelet.as_made(worker), worker)

    def park(self) -> None:
        """Let no worker be a node any more."""
        with ThreadPoolExecutor(max(1, len(self._nodes))) as pool:
            list(pool.map(lambda item: self._park(*item), self._nodes.items()))
        self._parked += self._nodes.values()
        self._nodes = {}

    def _examined(self, container: str) -> Worker:
        node = self._kube.request("GET", f"{NODES}/{container}")
        config, flags = (docker("exec", container, "cat", path) for path in (CONFIG, FLAGS))
        cidrs = tuple(node["spec"].get("podCIDRs") or ())
        labels = node["metadata"].get("labels", {})
        spec, capacity = node["spec"], node["status"]["capacity"]
        return Worker(container, cidrs, spec["providerID"], capacity, config, flags, labels)

    def _start(self, registration: Registration, worker: Worker) -> None:
        name = registration.node["metadata"]["name"]
        if name not in self._identities:
            self._identities[name] = node_identity(self._kube, name)
        folder = self._shared / worker.container
        folder.mkdir(mode=0o700, exist_ok=True)
        _write_private(folder / "identity.pem", self._identities[name])
        (folder / "config.yaml").write_text(registration.config)
        (folder / "flags.env").write_text(registration.flags)
        try:
            self._kube.create(registration.node)
            docker("exec", worker.container, "sh", "-euc", _REGISTER, "sh", f"{MOUNT}/{worker.container}")
        finally:
            (folder / "identity.pem").unlink()

    def _park(self, node: str, worker: Worker) -> None:
        docker("exec", worker.container, "systemctl", "stop", "kubelet")
        self._kube.delete(f"{NODES}/{node}")
        # Nobody is left to say that they ended.
        for pod in self._kube.items("/api/v1/pods", fields=f"spec.nodeName={node}"):
            metadata = pod["metadata"]
            path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
            self._kube.delete(path, grace_seconds=0)

    def _declare_extended(self, specs: Iterable[NodeSpec]) -> None:
        """Add extended resources: a kubelet that starts sets those of a new node to zero."""
        for spec in specs:
            if spec.extended:
                amounts = {"capacity": spec.extended, "allocatable": spec.extended}
                self._kube.patch(f"{NODES}/{spec.name}/status", {"status": amounts})

    def _await_ready(self, names: Sequence[str], start: Callable[[], None]) -> None:
        waiting = set(names)
        done = threading.Condition()

        def on_change(change: Change) -> None:
            name = change.item["metadata"]["name"]
            works = change.event != "DELETED" and _works(change.item)
            with done:
                if works:
                    waiting.discard(name)
                elif name in names:
                    waiting.add(name)
                done.notify()

        with Follower(self._kube, NODES, on_change) as follower:
            start()
            rounds_left = READY_TIMEOUT_SECONDS / CHECK_SECONDS
            with done:
                while waiting:
                    if not done.wait(CHECK_SECONDS):
                        self._check()
                        if follower.error:
                            raise follower.error
                        rounds_left -= 1
                    if rounds_left <= 0:
                        raise ClusterError(self._unready(sorted(waiting)))

    def _unready(self, names: Sequence[str]) -> str:
        worker = self._nodes.get(names[0])
        container = worker.container if worker else names[0]
        said = "(none)"
        with contextlib.suppress(CommandError):
            said = docker("exec", container, "journalctl", "-u", "kubelet", "-n", "12", "--no-pager", "-o", "cat")
        return (
            f"nodes not ready after {READY_TIMEOUT_SECONDS:.0f} s: {', '.join(names)}. "
            f"Last lines of the kubelet in {container}:\n{said}"
        )


def _works(node: Object) -> bool:
    """Return whether a node takes pods, and knows how much it has room for."""
    return takes_pods(node) and "pods" in node["status"].get("allocatable", {})


def _write_private(path: Path, content: bytes) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        stream.write(content)
