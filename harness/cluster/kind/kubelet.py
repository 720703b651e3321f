"""What a kubelet is started with to be the node that a scenario declares. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

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


def node_object(spec: NodeSpec, worker: Worker) -> Object:
    """Return the Node that the kubelet will find when it registers; it keeps its network."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": spec.name, "labels": dict(spec.labels)},
        "spec": {
            "podCIDR": worker.pod_cidrs[0],
            "podCIDRs": list(worker.pod_cidrs),
            "providerID": worker.provider_id,
            "taints": [taint.to_json() for taint in spec.taints],
        },
    }


def configuration(spec: NodeSpec, worker: Worker) -> str:
    """Return a kubelet's configuration: what the machine has above what is declared is reserved."""
    reserved = {
        CPU: f"{max(0, millis(worker.capacity[CPU]) - millis(spec.cpu))}m",
        MEMORY: str(max(0, units(worker.capacity[MEMORY]) - units(spec.memory))),
    }
    # Without a group of processes to hold to it: the reservation is for the scheduler's eyes only.
    given = {"maxPods": spec.pods, "systemReserved": reserved, "enforceNodeAllocatable": ["none"]}
    return yaml.safe_dump({**yaml.safe_load(worker.config), **given}, sort_keys=False)


def flags(spec: NodeSpec, worker: Worker) -> str:
    """Return the file of flags that kubeadm wrote, with the name that the node takes."""
    name, _, value = worker.flags.strip().partition("=")
    return f'{name}="{value.strip().strip(chr(34))} --hostname-override={spec.name}"\n'


def shortfalls(spec: NodeSpec, worker: Worker) -> list[str]:
    """Return, in words, what is declared and not to be had on this machine."""
    declared = {CPU: spec.cpu, MEMORY: spec.memory}
    return [
        f"node {spec.name}: {amount} {resource} declared, {worker.capacity[resource]} is what this machine has"
        for resource, amount in declared.items()
        if parse(amount) > parse(worker.capacity[resource])
    ]
