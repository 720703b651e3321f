"""Lines as the observers make them, so that a test says only what matters to it."""

from typing import Any

from harness.observe.live import Line

REFUSED = {"status": "False", "reason": "Unschedulable", "message": "0/1 nodes are available"}


def pod(name: str = "p", **more: Any) -> Line:
    """A pod that was just created."""
    return {
        "event": "ADDED",
        "uid": f"uid-{name}",
        "name": name,
        "namespace": "default",
        "labels": {},
        "owner": None,
        "scheduler": "default-scheduler",
        "node": None,
        "phase": "Pending",
        "scheduled": None,
        "waits": None,
        "terminating": False,
    } | more


def owned(name: str, owner: str, **more: Any) -> Line:
    """A running pod of a workload."""
    kept = {"owner": {"kind": "ReplicaSet", "name": owner, "uid": f"uid-{owner}"}, "phase": "Running", "node": "n"}
    return pod(name, **kept | more)


def node(name: str = "n", **more: Any) -> Line:
    return {"event": "ADDED", "uid": f"uid-{name}", "name": name, "labels": {}} | more


def workload(kind: str, name: str = "w", **more: Any) -> Line:
    """A workload that wants two pods."""
    return {
        "event": "ADDED",
        "uid": f"uid-{name}",
        "name": name,
        "kind": kind,
        "desired": 2,
        "current": 0,
        "observed": True,
        "failing": False,
        "finished": False,
    } | more
