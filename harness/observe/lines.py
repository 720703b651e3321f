"""Turns Kubernetes objects into the lines of a record: the few facts that judging needs, and no secrets."""

from typing import Any

from harness.cluster.follow import Change
from harness.kube import Object
from harness.record.pulling import IMAGE_WAITS, containers
from harness.scenario.amounts import amounts, pod_requests

Line = dict[str, Any]

# A bound pod whose container waits for one of these will not run without help from outside.
DEFINITE_WAITS = IMAGE_WAITS | {"CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError"}


def pod(change: Change, t: float) -> Line:
    """Return the line of a pod."""
    item = change.item
    spec, status = item["spec"], item.get("status", {})
    conditions = {condition["type"]: condition for condition in status.get("conditions", ())}
    scheduled = conditions.get("PodScheduled")
    return {
        **_head(change, t),
        "namespace": item["metadata"]["namespace"],
        "labels": item["metadata"].get("labels", {}),
        "owner": _owner(item),
        "scheduler": spec.get("schedulerName"),
        "priority": spec.get("priority", 0),
        "requests": {**pod_requests(spec), "pods": 1},
        "node": spec.get("nodeName"),
        "nominated": status.get("nominatedNodeName"),
        "phase": status.get("phase", "Pending"),
        "scheduled": scheduled
        and {"status": scheduled["status"], "reason": scheduled.get("reason"), "message": scheduled.get("message")},
        "ready": conditions.get("Ready", {}).get("status") == "True",
        "waits": _definite_wait(status),
        "terminating": "deletionTimestamp" in item["metadata"],
        "created_at": item["metadata"]["creationTimestamp"],
    }


def node(change: Change, t: float) -> Line:
    """Return the line of a node."""
    item = change.item
    status = item.get("status", {})
    return {
        **_head(change, t),
        "labels": item["metadata"].get("labels", {}),
        "taints": item["spec"].get("taints", []),
        "unschedulable": item["spec"].get("unschedulable", False),
        "ready": any(one["type"] == "Ready" and one["status"] == "True" for one in status.get("conditions", ())),
        "allocatable": amounts(status.get("allocatable", {})),
    }


def event(change: Change, t: float) -> Line:
    """Return the line of an Event."""
    item = change.item
    about = item.get("involvedObject", {})
    series = item.get("series") or {}
    return {
        **_head(change, t),
        "reason": item.get("reason"),
        "type": item.get("type"),
        "message": item.get("message"),
        "object": {key: about.get(key) for key in ("kind", "namespace", "name", "uid")},
        "count": series.get("count") or item.get("count") or 1,
        "source": item.get("reportingComponent") or item.get("source", {}).get("component"),
    }


def workload(change: Change, t: float, kind: str) -> Line:
    """Return the line of a workload; `desired` is how many pods its controller shall keep alive now."""
    item = change.item
    spec, status = item.get("spec", {}), item.get("status", {})
    current, desired = _workload_counts(kind, spec, status)
    conditions = {one["type"] for one in status.get("conditions", ()) if one["status"] == "True"}
    return {
        **_head(change, t),
        "kind": kind,
        "namespace": item["metadata"]["namespace"],
        "owner": _owner(item),
        "desired": desired,
        "current": current,
        "observed": status.get("observedGeneration", 0) >= item["metadata"].get("generation", 0)
        if kind != "Job"
        else bool(status),
        "failing": "ReplicaFailure" in conditions,
        "finished": bool(conditions & {"Complete", "Failed", "Suspended"}),
    }


def _head(change: Change, t: float) -> Line:
    metadata = change.item["metadata"]
    return {"t": round(t, 6), "event": change.event, "uid": metadata["uid"], "name": metadata["name"]}


def _owner(item: Object) -> Line | None:
    for reference in item["metadata"].get("ownerReferences", ()):
        if reference.get("controller"):
            return {"kind": reference["kind"], "name": reference["name"], "uid": reference["uid"]}
    return None


def _workload_counts(kind: str, spec: Object, status: Object) -> tuple[int, int | None]:
    if kind == "DaemonSet":
        return status.get("currentNumberScheduled", 0), status.get("desiredNumberScheduled")
    if kind == "Job":
        completions = spec.get("completions")
        wanted = spec.get("parallelism", 1)
        if completions is not None:
            wanted = min(wanted, completions - status.get("succeeded", 0))
        return status.get("active", 0), max(wanted, 0)
    return status.get("replicas", 0), spec.get("replicas", 1)


def _definite_wait(status: Object) -> str | None:
    for container in containers(status):
        waiting = container.get("state", {}).get("waiting") or {}
        if waiting.get("reason") in DEFINITE_WAITS:
            # Between two tries a kubelet says only that it waits: the image must be told by us.
            about_image = waiting["reason"] in IMAGE_WAITS and container.get("image")
            image = f"image {container['image']}: " if about_image else ""
            return f"{waiting['reason']}: {image}{waiting.get('message', '')}"
    return None
