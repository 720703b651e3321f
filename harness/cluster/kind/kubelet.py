"""What a kubelet is started with to be the node that a scenario declares. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from harness.kube import Object
from harness.scenario.nodes import NodeSpec
from harness.scenario.quantity import millis, parse, units

CPU, MEMORY = "cpu", "memory"


@dataclass(frozen=True)
class Worker:
    """A container that can be a node: what it was when kind made it, and what its machine has."""

    container: str
    pod_cidrs: tuple[str, ...]
    provider_id: str
    capacity: Mapping[str, str]
    config: str
    flags: str
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Registration:
    """What a kubelet needs to be a node: the Node that it will find, its configuration, its file of flags."""

    node: Object
    config: str
    flags: str


def as_declared(spec: NodeSpec, worker: Worker) -> Registration:
    """Return what makes a worker the node that a scenario declares."""
    taints = [taint.to_json() for taint in spec.taints]
    node = _node(spec.name, worker, dict(spec.labels), taints)
    name, _, value = worker.flags.strip().partition("=")
    flags = f'{name}="{value.strip().strip(chr(34))} --hostname-override={spec.name}"\n'
    return Registration(node, _configuration(spec, worker), flags)


def as_made(worker: Worker) -> Registration:
    """Return what makes a worker the node that it was when kind made it."""
    return Registration(_node(worker.container, worker, dict(worker.labels), []), worker.config, worker.flags)


def shortfalls(chosen: Sequence[tuple[NodeSpec, Worker]]) -> list[str]:
    """Return, in words, what is declared and not to be had on this machine, and of which nodes."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for spec, worker in chosen:
        for resource, amount in ((CPU, spec.cpu), (MEMORY, spec.memory)):
            if parse(amount) > parse(worker.capacity[resource]):
                found.setdefault((resource, amount, worker.capacity[resource]), []).append(spec.name)
    return [
        f"{', '.join(names)}: {amount} {resource} declared, {there} is what this machine has"
        for (resource, amount, there), names in found.items()
    ]


def _node(name: str, worker: Worker, labels: dict[str, str], taints: list[Any]) -> Object:
    """Return the Node that the kubelet will find when it registers; it keeps its network."""
    spec = {"podCIDRs": list(worker.pod_cidrs), "providerID": worker.provider_id, "taints": taints}
    if worker.pod_cidrs:
        spec["podCIDR"] = worker.pod_cidrs[0]
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec}


def _configuration(spec: NodeSpec, worker: Worker) -> str:
    """Return a kubelet's configuration: what the machine has above what is declared is reserved."""
    reserved = {
        CPU: f"{max(0, millis(worker.capacity[CPU]) - millis(spec.cpu))}m",
        MEMORY: str(max(0, units(worker.capacity[MEMORY]) - units(spec.memory))),
    }
    # Without a group of processes to hold to it: the reservation is for the scheduler's eyes only.
    given = {"maxPods": spec.pods, "systemReserved": reserved, "enforceNodeAllocatable": ["none"]}
    return yaml.safe_dump({**yaml.safe_load(worker.config), **given}, sort_keys=False)
