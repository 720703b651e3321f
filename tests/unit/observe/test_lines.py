from typing import Any

import pytest

from harness.cluster.follow import Change
from harness.kube import Object
from harness.observe import lines
from harness.scenario.amounts import pod_requests

GIB = 2**30


def seen(item: Object, event: str = "ADDED") -> Change:
    return Change(7.0, event, item)


def container(restart: str | None = None, limits: Object | None = None, **requests: str) -> Object:
    resources = {"requests": requests, **({"limits": limits} if limits else {})}
    return {"resources": resources, **({"restartPolicy": restart} if restart else {})}


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        ({}, 0),
        ({"containers": [{}]}, 0),
        ({"containers": [container(cpu="100m"), container(cpu="1")]}, 1100),
        ({"containers": [container(limits={"cpu": "2"})]}, 2000),
        ({"containers": [container(limits={"cpu": "2"}, cpu="1")]}, 1000),
        # Init containers run one after the other, before the others: only the largest counts.
        ({"containers": [container(cpu="1")], "initContainers": [container(cpu="2"), container(cpu="3")]}, 3000),
        ({"containers": [container(cpu="1")], "initContainers": [container(cpu="500m")]}, 1000),
        # A sidecar keeps running beside the containers and beside every init container after it.
        ({"containers": [container(cpu="1")], "initContainers": [container("Always", cpu="2")]}, 3000),
        (
            {
                "containers": [container(cpu="1")],
                "initContainers": [container("Always", cpu="1"), container(cpu="3"), container("Always", cpu="1")],
            },
            4000,
        ),
        (
            {
                "containers": [container(cpu="1")],
                "initContainers": [container(cpu="3"), container("Always", cpu="1")],
            },
            3000,
        ),
        ({"containers": [container(cpu="1")], "overhead": {"cpu": "250m"}}, 1250),
        ({"containers": [container(cpu="1")], "resources": {"requests": {"cpu": "3"}}}, 3000),
        (
            {
                "containers": [container(cpu="1")],
                "resources": {"requests": {"cpu": "3"}},
                "overhead": {"cpu": "1"},
            },
            4000,
        ),
    ],
)
def test_a_pod_reserves_cpu(spec: Object, cpu: int) -> None:
    assert pod_requests(spec).get("cpu", 0) == cpu


def test_every_resource_is_counted_in_its_own_unit() -> None:
    spec = {"containers": [container(limits={"nvidia.com/gpu": "2"}, memory="1Gi"), container(memory="512Mi")]}
    assert pod_requests(spec) == {"memory": GIB + GIB // 2, "nvidia.com/gpu": 2}


def test_what_a_pod_states_as_a_whole_leaves_other_resources_alone() -> None:
    spec = {"containers": [container(cpu="1", memory="1Gi")], "resources": {"requests": {"cpu": "3"}}}
    assert pod_requests(spec) == {"cpu": 3000, "memory": GIB}


def pod(spec: Object | None = None, status: Object | None = None, **metadata: Any) -> Object:
    return {
        "metadata": {
            "name": "p",
            "namespace": "default",
            "uid": "u",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            **metadata,
        },
        "spec": {"schedulerName": "default-scheduler", **(spec or {})},
        **({"status": status} if status is not None else {}),
    }


def test_a_new_pods_line() -> None:
    assert lines.pod(seen(pod()), 1.25) == {
        "t": 1.25,
        "event": "ADDED",
        "uid": "u",
        "name": "p",
        "namespace": "default",
        "labels": {},
        "owner": None,
        "scheduler": "default-scheduler",
        "priority": 0,
        "requests": {"pods": 1},
        "node": None,
        "nominated": None,
        "phase": "Pending",
        "scheduled": None,
        "ready": False,
        "waits": None,
        "terminating": False,
        "created_at": "2026-01-01T00:00:00Z",
    }


def test_a_refused_pods_line_has_the_schedulers_words() -> None:
    refusal = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}
    line = lines.pod(seen(pod(status={"conditions": [{**refusal, "lastTransitionTime": "x"}]})), 0)
    assert line["scheduled"] == {"status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}


def test_a_running_pods_line() -> None:
    conditions = [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}]
    owners = [
        {"kind": "Other", "name": "x", "uid": "1"},
        {"kind": "ReplicaSet", "name": "rs", "uid": "2", "controller": True, "apiVersion": "apps/v1"},
    ]
    item = pod(
        {"nodeName": "n", "priority": 1000},
        {"phase": "Running", "conditions": conditions, "nominatedNodeName": "m"},
        ownerReferences=owners,
        labels={"app": "web"},
        deletionTimestamp="now",
    )
    line = lines.pod(seen(item, "MODIFIED"), 2)
    assert line["owner"] == {"kind": "ReplicaSet", "name": "rs", "uid": "2"}
    assert (line["node"], line["nominated"], line["phase"], line["priority"]) == ("n", "m", "Running", 1000)
    assert line["ready"]
    assert line["terminating"]
    assert line["labels"] == {"app": "web"}


@pytest.mark.parametrize("where", ["containerStatuses", "initContainerStatuses"])
@pytest.mark.parametrize(
    ("reason", "definite"), [("ImagePullBackOff", True), ("CrashLoopBackOff", True), ("ContainerCreating", False)]
)
def test_only_a_wait_without_an_end_is_definite(where: str, reason: str, definite: bool) -> None:
    waiting = {"state": {"waiting": {"reason": reason, "message": "sorry"}}}
    line = lines.pod(seen(pod(status={where: [{"state": {"running": {}}}, waiting]})), 0)
    assert line["waits"] == (f"{reason}: sorry" if definite else None)


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("ImagePullBackOff", "ImagePullBackOff: image web:1: sorry"),
        ("InvalidImageName", "InvalidImageName: image web:1: sorry"),
        ("ErrImageNeverPull", "ErrImageNeverPull: image web:1: sorry"),
        ("CreateContainerConfigError", "CreateContainerConfigError: sorry"),
    ],
)
def test_a_wait_for_an_image_names_it(reason: str, text: str) -> None:
    waiting = {"image": "web:1", "state": {"waiting": {"reason": reason, "message": "sorry"}}}
    assert lines.pod(seen(pod(status={"containerStatuses": [waiting]})), 0)["waits"] == text


def test_nothing_secret_is_taken_into_a_line() -> None:
    secret = {"containers": [{"env": [{"name": "PASSWORD", "value": "hunter2"}]}]}
    assert "hunter2" not in str(lines.pod(seen(pod(secret, annotations={"token": "hunter2"})), 0))


def test_a_nodes_line() -> None:
    taint = {"key": "k", "effect": "NoSchedule"}
    item = {
        "metadata": {"name": "n", "uid": "u", "labels": {"zone": "a"}},
        "spec": {"taints": [taint], "unschedulable": True},
        "status": {
            "allocatable": {"cpu": "4", "memory": "1Gi", "pods": "110", "nvidia.com/gpu": "2"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }
    assert lines.node(seen(item), 0) == {
        "t": 0,
        "event": "ADDED",
        "uid": "u",
        "name": "n",
        "labels": {"zone": "a"},
        "taints": [taint],
        "unschedulable": True,
        "ready": True,
        "allocatable": {"cpu": 4000, "memory": GIB, "pods": 110, "nvidia.com/gpu": 2},
    }


def test_a_bare_nodes_line() -> None:
    line = lines.node(seen({"metadata": {"name": "n", "uid": "u"}, "spec": {}}), 0)
    assert (line["taints"], line["unschedulable"], line["ready"], line["allocatable"]) == ([], False, False, {})


@pytest.mark.parametrize(
    ("more", "count", "source"),
    [
        ({"count": 3, "source": {"component": "old"}}, 3, "old"),
        ({"series": {"count": 5}, "count": 1, "reportingComponent": "new"}, 5, "new"),
        ({}, 1, None),
    ],
)
def test_an_events_line(more: Object, count: int, source: str | None) -> None:
    about = {"kind": "Pod", "namespace": "default", "name": "p", "uid": "u", "apiVersion": "v1"}
    item = {"metadata": {"name": "e", "uid": "1"}, "reason": "R", "type": "Normal", "message": "m", **more}
    line = lines.event(seen({**item, "involvedObject": about}), 0)
    assert line["object"] == {"kind": "Pod", "namespace": "default", "name": "p", "uid": "u"}
    assert (line["reason"], line["count"], line["source"]) == ("R", count, source)


def workload(kind: str, spec: Object, status: Object, generation: int = 1) -> dict[str, Any]:
    metadata = {"name": "w", "namespace": "default", "uid": "u", "generation": generation}
    return lines.workload(seen({"metadata": metadata, "spec": spec, "status": status}), 0, kind)


@pytest.mark.parametrize(
    ("kind", "spec", "status", "counts"),
    [
        ("Deployment", {"replicas": 3}, {"replicas": 2}, (2, 3)),
        ("ReplicaSet", {}, {}, (0, 1)),
        ("StatefulSet", {"replicas": 0}, {"replicas": 1}, (1, 0)),
        ("DaemonSet", {}, {"currentNumberScheduled": 2, "desiredNumberScheduled": 3}, (2, 3)),
        ("DaemonSet", {}, {}, (0, None)),
        ("Job", {"parallelism": 4, "completions": 10}, {"active": 4}, (4, 4)),
        ("Job", {"parallelism": 4, "completions": 10}, {"active": 1, "succeeded": 9}, (1, 1)),
        ("Job", {"parallelism": 4}, {"active": 4}, (4, 4)),
        ("Job", {"completions": 1}, {"succeeded": 1}, (0, 0)),
    ],
)
def test_a_workloads_counts(kind: str, spec: Object, status: Object, counts: tuple[int, int | None]) -> None:
    line = workload(kind, spec, status)
    assert (line["current"], line["desired"]) == counts


def test_a_workload_is_observed_when_its_controller_saw_its_newest_form() -> None:
    assert not workload("Deployment", {}, {"observedGeneration": 1}, generation=2)["observed"]
    assert workload("Deployment", {}, {"observedGeneration": 2}, generation=2)["observed"]
    assert not workload("Job", {}, {})["observed"]
    assert workload("Job", {}, {"active": 1})["observed"]


@pytest.mark.parametrize(
    ("condition", "failing", "finished"),
    [
        ("ReplicaFailure", True, False),
        ("Complete", False, True),
        ("Failed", False, True),
        ("Suspended", False, True),
        ("Progressing", False, False),
    ],
)
def test_a_workloads_conditions(condition: str, failing: bool, finished: bool) -> None:
    line = workload("Job", {}, {"conditions": [{"type": condition, "status": "True"}]})
    assert (line["failing"], line["finished"]) == (failing, finished)
    line = workload("Job", {}, {"conditions": [{"type": condition, "status": "False"}]})
    assert (line["failing"], line["finished"]) == (False, False)
