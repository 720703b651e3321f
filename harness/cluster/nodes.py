"""Declares played nodes to an API server and waits until they take pods."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from harness import progress
from harness.cluster.follow import Change, Follower
from harness.errors import ClusterError
from harness.kube import Kube, Object
from harness.scenario.nodes import NodeSpec

NODES = "/api/v1/nodes"
WORKERS = 8
READY_TIMEOUT_SECONDS = 60.0
CHECK_SECONDS = 0.25
SHOWN_NODES_MIN = 100
# Put on every new node by the API server, taken off by the node-lifecycle controller when the node is ready.
NOT_READY_TAINTS = frozenset({"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})

BETA_LABELS = ("kubernetes.io/os", "kubernetes.io/arch")


def node_object(spec: NodeSpec) -> Object:
    """Return the Node that a spec declares."""
    labels = {
        "kubernetes.io/hostname": spec.name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "type": "kwok",
        **spec.labels,
    }
    # As kubelets do. The node-lifecycle controller would add them at some later moment, and every change of a node
    # makes kube-scheduler try refused pods again.
    labels = {**{f"beta.{key}": labels[key] for key in BETA_LABELS}, **labels}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": spec.name, "labels": labels},
        "spec": {"taints": [taint.to_json() for taint in spec.taints]},
        "status": {"capacity": spec.capacity, "allocatable": spec.capacity},
    }


def create_nodes(kube: Kube, specs: Sequence[NodeSpec], check: Callable[[], None]) -> None:
    """Create nodes in parallel and return when every one of them is ready and free of not-ready taints.

    Raises:
        ClusterError: some are not ready at the deadline, or `check` found a dead part.
    """
    waiting = {spec.name for spec in specs}
    done = threading.Condition()

    def on_change(change: Change) -> None:
        if change.event != "DELETED" and takes_pods(change.item):
            with done:
                name = change.item["metadata"]["name"]
                if name in waiting:
                    waiting.remove(name)
                    advance(name)
                done.notify()

    with (
        _counted(len(specs)) as advance,
        Follower(kube, NODES, on_change),
        ThreadPoolExecutor(WORKERS) as pool,
    ):
        list(pool.map(lambda spec: kube.create(node_object(spec)), specs))
        rounds_left = READY_TIMEOUT_SECONDS / CHECK_SECONDS
        with done:
            while waiting:
                if not done.wait(CHECK_SECONDS):
                    check()
                    rounds_left -= 1
                if rounds_left <= 0:
                    few = ", ".join(sorted(waiting)[:5])
                    raise ClusterError(
                        f"{len(waiting)} of {len(specs)} nodes not ready after {READY_TIMEOUT_SECONDS:.0f} s: {few}; "
                        "look at the logs of kwok and kube-controller-manager"
                    )


@contextlib.contextmanager
def _counted(count: int) -> Iterator[Callable[[str], None]]:
    """Show how many of many nodes are ready; few are ready before anybody looks."""
    if count < SHOWN_NODES_MIN:
        yield lambda _: None
        return
    with progress.bar("Making nodes", count) as shown:
        yield shown.advance


def takes_pods(node: Object) -> bool:
    """Return whether a node is ready and no controller still keeps pods away from it."""
    taints = {taint["key"] for taint in node["spec"].get("taints", ())}
    conditions = node.get("status", {}).get("conditions", ())
    ready = any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)
    return ready and not taints & NOT_READY_TAINTS
