"""Carries out one step each: what a scenario's `op` means on a real API server."""

import functools
import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from harness.clock import WaitTimeoutError, wait_until
from harness.cluster.base import PAUSE_IMAGE, Cluster, PlaysNodes, patience
from harness.errors import ApiError, StepError
from harness.extender.traffic import Traffic
from harness.kube import CONFLICT, NOT_FOUND, Kube, Object
from harness.observe.live import Live
from harness.run.asking import asking
from harness.run.settle import Settled, Until
from harness.scenario import selector, steps
from harness.scenario.model import Scenario
from harness.scenario.nodes import expand

WORKERS = 8
# Fewer pods are created one after the other, so that a scheduler's queue has the same order in every run.
PARALLEL_FROM = 200
TOO_MANY_REQUESTS = 429
NODES = "/api/v1/nodes"

Detail = dict[str, Any]


class Settle(Protocol):
    """Waits until all is settled, or only until something has happened."""

    def __call__(self, timeout_seconds: float, until: Until | None = None) -> Settled:
        """Wait at most that long."""
        ...


@dataclass(frozen=True)
class Stage:
    """Everything that a step may use."""

    scenario: Scenario
    cluster: Cluster
    live: Live
    settle: Settle
    random: random.Random
    traffic: Traffic | None = None
    asks_for: str | None = None

    @property
    def kube(self) -> Kube:
        """Return the connection to the API server."""
        return self.cluster.kube

    def deadline_seconds(self, own: float | None = None) -> float:
        """Return how long to wait: as the step says, else the scenario, and longer where pods really start."""
        return (own or self.scenario.timeout_seconds) * patience(self.cluster)


@functools.singledispatch
def carry_out(step: Any, stage: Stage) -> Detail:
    """Carry out a step and return what is worth remembering about it."""
    raise StepError(f"{type(step).__name__}: no such step")


@carry_out.register
def _(step: steps.Create, stage: Stage) -> Detail:
    created = []
    for item in stage.scenario.objects_of(step):
        made = stage.kube.create(asking(item, stage.asks_for))
        _await_use(made, stage)
        created.append(f"{made['kind']}/{made['metadata']['name']}")
    return {"created": created}


@carry_out.register
def _(step: steps.CreatePods, stage: Stage) -> Detail:
    # Kubernetes wants a limit beside every request for an extended resource: those cannot be overcommitted.
    limits = {name: amount for name, amount in step.requests.items() if "/" in name}
    resources = {"requests": step.requests, "limits": limits}
    container = {"name": "pause", "image": PAUSE_IMAGE, "resources": resources}

    def create(name: str) -> None:
        spec = _merged({"containers": [container], "terminationGracePeriodSeconds": 0}, step.spec)
        metadata = {"name": name, "labels": step.labels, "annotations": step.annotations}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        stage.kube.create(asking(pod, stage.asks_for), step.namespace)

    if step.count < PARALLEL_FROM:
        for name in step.pod_names():
            create(name)
    else:
        _in_parallel(create, step.pod_names())
    return {"pods": step.count}


@carry_out.register
def _(step: steps.Scale, stage: Stage) -> Detail:
    path = stage.kube.resource_of(step.kind, "apps/v1").path(step.namespace, step.name)
    stage.kube.patch(path, {"spec": {"replicas": step.replicas}})
    return {"replicas": step.replicas}


@carry_out.register
def _(step: steps.Delete, stage: Stage) -> Detail:
    resource = stage.kube.resource_of(step.kind, step.api_version)
    if step.name is not None:
        stage.kube.request("DELETE", resource.path(step.namespace, step.name), body={"propagationPolicy": "Background"})
        return {"deleted": [step.name]}
    found = [
        item["metadata"]["name"]
        for item in stage.kube.items(resource.path(step.namespace), selector=step.selector or "")
    ]
    if not found:
        raise StepError(f'delete: no {step.kind} in namespace "{step.namespace}" matches "{step.selector}"')
    _in_parallel(lambda name: stage.kube.delete(resource.path(step.namespace, name)), found)
    return {"deleted": found}


@carry_out.register
def _(step: steps.AddNodes, stage: Stage) -> Detail:
    nodes = expand(step.nodes)
    warnings = _player(stage).add_nodes(nodes)
    return {"nodes": [node.name for node in nodes], "warnings": list(warnings)}


@carry_out.register
def _(step: steps.RemoveNodes, stage: Stage) -> Detail:
    names = _chosen_nodes(step, stage)
    _in_parallel(lambda name: stage.kube.delete(f"{NODES}/{name}"), names)
    # The pod garbage collector does the same, but only after its quarantine of 40 seconds.
    lost = [pod for pod in stage.live.pods() if pod["node"] in set(names)]
    _in_parallel(lambda pod: stage.kube.delete(_pod_path(pod), grace_seconds=0), lost)
    return {"nodes": names, "pods": [pod["name"] for pod in lost]}


@carry_out.register
def _(step: steps.UpdateNodes, stage: Stage) -> Detail:
    names = _chosen_nodes(step, stage)
    _in_parallel(lambda name: _update_node(step, stage.kube, name), names)
    return {"nodes": names}


@carry_out.register
def _(step: steps.Drain, stage: Stage) -> Detail:
    names = _chosen_nodes(step, stage)
    for name in names:
        stage.kube.patch(f"{NODES}/{name}", {"spec": {"unschedulable": True}})
    # A DaemonSet would put its pod straight back, cordoned or not.
    pods = [
        pod
        for pod in stage.live.pods()
        if pod["node"] in set(names) and (pod["owner"] or {}).get("kind") != "DaemonSet"
    ]
    _in_parallel(lambda pod: _evict(stage.kube, pod), pods)
    return {"nodes": names, "pods": [pod["name"] for pod in pods]}


@carry_out.register
def _(step: steps.Churn, stage: Stage) -> Detail:
    wanted = selector.parse(step.selector)
    rounds = []
    for number in range(1, step.rounds + 1):
        # Sorted: the seed decides, not the order in which pods happened to be seen.
        pods = sorted(
            (pod for pod in stage.live.pods() if pod["namespace"] == step.namespace and wanted.matches(pod["labels"])),
            key=lambda pod: str(pod["name"]),
        )
        if len(pods) < step.count:
            raise StepError(
                f'churn: round {number}: {len(pods)} pods match "{step.selector}", {step.count} are to be deleted'
            )
        chosen = stage.random.sample(pods, step.count)
        _in_parallel(lambda pod: stage.kube.delete(_pod_path(pod)), chosen)
        settled = stage.settle(stage.deadline_seconds())
        rounds.append({"deleted": [pod["name"] for pod in chosen], "seconds": settled.seconds})
        if settled.moving:
            return {"rounds": rounds, "moving": list(settled.moving)}
    return {"rounds": rounds}


@carry_out.register
def _(step: steps.Settle, stage: Stage) -> Detail:
    settled = stage.settle(stage.deadline_seconds(step.timeout_seconds))
    return {"seconds": settled.seconds, "moving": list(settled.moving)}


def _await_use(made: Object, stage: Stage) -> None:
    """Wait until the next object can build on this one: at first a namespace is refused pods, and a kind is unknown."""

    def usable() -> bool:
        stage.cluster.check()
        if made["kind"] == "Namespace":
            return bool(stage.kube.items(f"/api/v1/namespaces/{made['metadata']['name']}/serviceaccounts"))
        if made["kind"] == "CustomResourceDefinition":
            version = next(one["name"] for one in made["spec"]["versions"] if one["served"])
            return stage.kube.knows(made["spec"]["names"]["kind"], f"{made['spec']['group']}/{version}")
        return True

    what = f"{made['kind']} {made['metadata']['name']} being usable"
    try:
        wait_until(usable, what=what, timeout_seconds=stage.deadline_seconds())
    except WaitTimeoutError as error:
        raise StepError(str(error)) from error


def _player(stage: Stage) -> PlaysNodes:
    if not isinstance(stage.cluster, PlaysNodes):
        raise StepError(f'addNodes: cluster "{stage.cluster.name}" has real nodes and cannot be given more')
    return stage.cluster


def _chosen_nodes(step: steps.NodeChoice, stage: Stage) -> list[str]:
    nodes = stage.live.nodes()
    if step.names is not None:
        unknown = [name for name in step.names if name not in nodes]
        if unknown:
            raise StepError(f"no such node: {', '.join(unknown)}; there are: {', '.join(sorted(nodes)) or 'none'}")
        return list(step.names)
    wanted = selector.parse(step.selector or "")
    found = [name for name, node in nodes.items() if wanted.matches(node["labels"])]
    if not found:
        raise StepError(f'no node matches "{step.selector}"; there are: {", ".join(sorted(nodes)) or "none"}')
    return found


def _update_node(step: steps.UpdateNodes, kube: Kube, name: str) -> None:
    path = f"{NODES}/{name}"
    change: Object = {}
    if step.labels:
        change["metadata"] = {"labels": step.labels}
    if step.cordon is not None:
        change["spec"] = {"unschedulable": step.cordon}
    if step.add_taints or step.remove_taints:
        added = [taint.to_json() for taint in step.add_taints or ()]
        gone = {*(step.remove_taints or ()), *(taint["key"] for taint in added)}
        node = kube.request("GET", path)
        kept = [taint for taint in node["spec"].get("taints", ()) if taint["key"] not in gone]
        # The version makes the API server refuse the list if a controller changed it since.
        change.setdefault("metadata", {})["resourceVersion"] = node["metadata"]["resourceVersion"]
        change.setdefault("spec", {})["taints"] = kept + added
    if change:
        _patch_against_conflicts(step, kube, name, change)
    if step.capacity:
        kube.patch(f"{path}/status", {"status": {"capacity": step.capacity, "allocatable": step.capacity}})


def _patch_against_conflicts(step: steps.UpdateNodes, kube: Kube, name: str, change: Object) -> None:
    try:
        kube.patch(f"{NODES}/{name}", change)
    except ApiError as error:
        if error.status != CONFLICT:
            raise
        _update_node(step, kube, name)


def _evict(kube: Kube, pod: Object) -> None:
    """Evict as `kubectl drain` does, so that disruption budgets count."""
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod["name"], "namespace": pod["namespace"]},
    }
    try:
        kube.request("POST", f"{_pod_path(pod)}/eviction", body=body)
    except ApiError as error:
        if error.status == TOO_MANY_REQUESTS:
            raise StepError(f"drain: pod {pod['name']} may not be evicted: {error}") from error
        if error.status != NOT_FOUND:
            raise


def _pod_path(pod: Object) -> str:
    return f"/api/v1/namespaces/{pod['namespace']}/pods/{pod['name']}"


def _in_parallel(action: Callable[[Any], Any], items: Sequence[Any]) -> None:
    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(action, items))


def _merged(base: Object, over: Object) -> Object:
    merged = dict(base)
    for key, value in over.items():
        both_objects = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both_objects else value
    return merged
