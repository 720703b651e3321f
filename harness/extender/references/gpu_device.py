"""gpu-device: hands out numbered devices, with the bookkeeping that such extenders most often get wrong.

What counts is written on the pods: which devices a pod has stands in an annotation that the API server sets in the same
step as the binding. A restart loses nothing, and a pod that is gone has given its devices back. Only between a bind and
the moment that it is seen does a reservation in memory stand for it. `filter` looks and changes nothing.
"""

import threading
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from harness.errors import ApiError
from harness.extender.author import Binding, Filtered, Node, Pod, Refused
from harness.extender.references import GPU
from harness.extender.references import binding as binder
from harness.extender.serving import cluster
from harness.kube import Kube

DEVICES = "example.com/gpu-devices"
"""The annotation that lists a pod's devices, such as "0,3"."""

NO_GPU = "node has no gpu"
TOO_FEW = "node has fewer gpus than the pod needs"
ALL_TAKEN = "all gpus of the node are taken"
UNKNOWN_NODE = "gpus of the node are not known yet"
_SERVER_ERROR = 500


@dataclass(frozen=True)
class Reservation:
    """Devices that are given away, but not yet seen on the pod."""

    node: str
    devices: tuple[int, ...]


class GpuDevice:
    """Filters by free devices, chooses among them at bind, and binds."""

    def __init__(self, kube: Kube | None = None) -> None:
        self._kube = kube
        self._lock = threading.Lock()
        self._reserved: dict[str, Reservation] = {}
        self._pods = cluster.pods(kube, self._seen)
        self._nodes = cluster.nodes(kube)

    def filter(self, pod: Pod, nodes: list[Node]) -> Filtered:
        """Keep the nodes with enough free devices; those that never can have enough are out for good."""
        wanted = pod.requests.get(GPU, 0)
        if not wanted:
            return Filtered(kept=nodes)
        totals = self._totals()
        free = self._free(totals, but=pod.uid)
        kept, rejected, unresolvable = [], {}, {}
        for node in nodes:
            total = totals.get(node.name)
            if total is None:
                rejected[node.name] = UNKNOWN_NODE
            elif total < wanted:
                unresolvable[node.name] = TOO_FEW if total else NO_GPU
            elif len(free[node.name]) < wanted:
                rejected[node.name] = ALL_TAKEN
            else:
                kept.append(node.name)
        return Filtered(kept, rejected, unresolvable)

    def bind(self, binding: Binding) -> None:
        """Choose devices, and bind with them written on the pod; asked twice, the second time changes nothing."""
        kube = binder.connected(self._kube)
        pod = binder.current(kube, binding)
        if binder.is_bound(pod, binding):
            return
        devices = self._reserve(pod, binding.node)
        try:
            binder.bind(kube, binding, {DEVICES: ",".join(map(str, devices))} if devices else None)
        except (ApiError, Refused) as error:
            # A definite no. After anything else the pod may be bound, and what is seen of it decides.
            if not isinstance(error, ApiError) or error.status < _SERVER_ERROR:
                self._release(pod)
            raise

    def _reserve(self, pod: Pod, node: str) -> tuple[int, ...]:
        wanted = pod.requests.get(GPU, 0)
        totals = self._totals()
        # Looking and taking are one step: pods are bound at the same time, and two must not get the same device.
        with self._lock:
            free = self._free_unlocked(totals, but=pod.uid).get(node, [])
            if len(free) < wanted:
                raise Refused(ALL_TAKEN)
            devices = tuple(free[:wanted])
            self._reserved[pod.uid] = Reservation(node, devices)
        return devices

    def _release(self, pod: Pod) -> None:
        with self._lock:
            self._reserved.pop(pod.uid, None)

    def _seen(self, pod: Pod, there: bool) -> None:
        if pod.node or not there:
            self._release(pod)

    def _totals(self) -> dict[str, int]:
        # Waits for both pictures before the lock is taken: they need it themselves to become complete.
        self._pods.now()
        return {node.name: node.allocatable.get(GPU, 0) for node in self._nodes.now()}

    def _free(self, totals: Mapping[str, int], *, but: str) -> dict[str, list[int]]:
        with self._lock:
            return self._free_unlocked(totals, but=but)

    def _free_unlocked(self, totals: Mapping[str, int], *, but: str) -> dict[str, list[int]]:
        """Return the free devices by node; `but` is the pod they are for, whose own reservation does not count."""
        taken: dict[str, set[int]] = defaultdict(set)
        unnumbered: Counter[str] = Counter()
        for uid, reservation in self._reserved.items():
            if uid != but:
                taken[reservation.node].update(reservation.devices)
        # Under the lock: a reservation goes only after its pod was seen, so a pod counts at least once.
        for pod in filter(cluster.is_running, self._pods.now()):
            devices = _devices(pod)
            taken[pod.node] |= devices
            # Bound by somebody else, it has devices too, and nobody knows which.
            unnumbered[pod.node] += max(0, pod.requests.get(GPU, 0) - len(devices))
        return {
            node: [device for device in range(total) if device not in taken[node]][unnumbered[node] :]
            for node, total in totals.items()
        }


def _devices(pod: Pod) -> set[int]:
    return {int(part) for part in pod.annotations.get(DEVICES, "").split(",") if part.isdigit()}
