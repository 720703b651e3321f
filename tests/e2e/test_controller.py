"""The reference controller as a process, with the rights of a scheduler, on a real API server."""

import contextlib
import http.client
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.clock import wait_until
from harness.cluster.embedded.cluster import EmbeddedCluster
from harness.kube import Kube, Object
from harness.observe.metrics import QueueDepth, queue_depth
from harness.process import Child, spawn
from harness.record import metrics
from harness.scenario.nodes import NodeGroup
from tests.processes import PATIENCE_SECONDS, await_text

pytestmark = [pytest.mark.embedded, pytest.mark.controller]

NAME = "controller-under-test"
PODS = "/api/v1/namespaces/default/pods"
AT_REST = QueueDepth(active=0, backoff=0, unschedulable=0, gated=0)


@dataclass(frozen=True)
class Started:
    """A running controller."""

    child: Child
    port: int

    def page(self, path: str) -> str:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)) as connection:
            connection.request("GET", path)
            reply = connection.getresponse()
            text = reply.read().decode()
            return text if reply.status == 200 else ""

    def count(self, name: str, **labels: str) -> float:
        return sum(one.value for one in metrics.parse(self.page("/metrics")).matching(name, labels))

    def attempts(self, result: str) -> float:
        return self.count("scheduler_schedule_attempts_total", result=result, profile=NAME)

    def depth(self) -> QueueDepth:
        return queue_depth(self.page("/metrics"))


@pytest.fixture
def cluster(shared: EmbeddedCluster) -> Iterator[EmbeddedCluster]:
    yield shared
    shared.reset()


@contextlib.contextmanager
def controller(cluster: EmbeddedCluster, log: Path, *arguments: str) -> Iterator[Started]:
    command = [sys.executable, "-m", "harness.controller", *arguments, "--scheduler-name", NAME, "--port", "0"]
    command += ["--kubeconfig", str(cluster.scheduler_kubeconfig)]
    child = spawn("controller", command, log=log, env={"HARNESS_LIFELINE": "stdin"})
    try:
        port = re.search(r"127\.0\.0\.1:(\d+)", await_text(log))
        assert port, child.tail()
        started = Started(child, int(port[1]))
        until(lambda: started.page("/readyz"), "a ready controller", child)
        yield started
    finally:
        child.stop()
    assert child.exit_code == 0, child.tail()


def until(check: Callable[[], object], what: str, child: Child | None = None) -> None:
    def checked() -> bool:
        assert not (child and child.died), child.describe_end() if child else ""
        return bool(check())

    wait_until(checked, what=what, timeout_seconds=2 * PATIENCE_SECONDS)


def add_nodes(cluster: EmbeddedCluster, **group: Any) -> None:
    cluster.add_nodes(NodeGroup.model_validate(group).expand())


def create(kube: Kube, names: list[str], cpu: str = "10m", **spec: Any) -> None:
    container = {"name": "pause", "image": "pause", "resources": {"requests": {"cpu": cpu}}}
    filled = {"schedulerName": NAME, "containers": [container], **spec}

    def one(name: str) -> None:
        kube.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": filled})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, names))


def events(kube: Kube, reason: str) -> list[Object]:
    return [one for one in kube.items("/api/v1/events") if one["reason"] == reason]


def running(kube: Kube) -> list[Object]:
    return [one for one in kube.items(PODS) if one["status"]["phase"] == "Running"]


def test_two_hundred_pods_run_where_there_is_most_room(cluster: EmbeddedCluster, tmp_path: Path) -> None:
    add_nodes(cluster, count=20, name="node-{index}")
    with controller(cluster, tmp_path / "log", "least-loaded") as started:
        create(cluster.kube, [f"pod-{number}" for number in range(200)])
        until(lambda: len(running(cluster.kube)) == 200, "200 running pods", started.child)
        until(lambda: len(events(cluster.kube, "Scheduled")) == 200, "200 events", started.child)
        until(lambda: started.attempts("scheduled") == 200, "200 counted", started.child)
        assert (started.attempts("error"), started.depth()) == (0, AT_REST)
    placed = Counter(one["spec"]["nodeName"] for one in cluster.kube.items(PODS))
    assert set(placed.values()) == {10}
    about = {one["involvedObject"]["uid"] for one in events(cluster.kube, "Scheduled")}
    assert about == {one["metadata"]["uid"] for one in cluster.kube.items(PODS)}


def test_a_refused_pod_is_told_so_and_runs_when_there_is_room(cluster: EmbeddedCluster, tmp_path: Path) -> None:
    add_nodes(cluster, count=1, name="small", cpu="1")
    taint = {"key": "dedicated", "value": "x", "effect": "NoSchedule"}
    add_nodes(cluster, count=1, name="tainted", cpu="8", taints=[taint])
    with controller(cluster, tmp_path / "log", "random") as started:
        create(cluster.kube, ["big"], cpu="4")
        until(lambda: started.depth().unschedulable == 1, "the refusal", started.child)
        message = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s)."
        conditions = {one["type"]: one for one in cluster.kube.items(PODS)[0]["status"]["conditions"]}
        told = conditions["PodScheduled"]
        assert (told["status"], told["reason"], told["message"]) == ("False", "Unschedulable", message)
        until(lambda: events(cluster.kube, "FailedScheduling"), "the event", started.child)
        assert [one["message"] for one in events(cluster.kube, "FailedScheduling")] == [message]
        add_nodes(cluster, count=1, name="large", cpu="8")
        until(lambda: len(running(cluster.kube)) == 1, "the pod running", started.child)
    found = cluster.kube.items(PODS)[0]
    assert found["spec"]["nodeName"] == "large"
    # The API server's own word, which a late refusal must not overwrite.
    assert {one["status"] for one in found["status"]["conditions"] if one["type"] == "PodScheduled"} == {"True"}


def test_a_label_is_preferred_while_there_is_room(cluster: EmbeddedCluster, tmp_path: Path) -> None:
    add_nodes(cluster, count=2, name="plain-{index}", cpu="4")
    add_nodes(cluster, count=2, name="ssd-{index}", cpu="4", labels={"disk": "ssd"})
    with controller(cluster, tmp_path / "log", "prefer-label", "--option", "label=disk=ssd") as started:
        create(cluster.kube, [f"pod-{number}" for number in range(12)], cpu="1")
        until(lambda: len(running(cluster.kube)) == 12, "12 running pods", started.child)
    placed = Counter(one["spec"]["nodeName"] for one in cluster.kube.items(PODS))
    assert placed == {"ssd-1": 4, "ssd-2": 4, "plain-1": 2, "plain-2": 2}


def test_two_of_one_name_bind_every_pod_once(cluster: EmbeddedCluster, tmp_path: Path) -> None:
    add_nodes(cluster, count=5, name="node-{index}")
    with (
        controller(cluster, tmp_path / "one", "random", "--seed", "1") as one,
        controller(cluster, tmp_path / "other", "random", "--seed", "2") as other,
    ):
        create(cluster.kube, [f"pod-{number}" for number in range(60)])
        both = (one, other)
        until(lambda: len(running(cluster.kube)) == 60, "60 running pods")
        until(lambda: sum(each.attempts("scheduled") for each in both) == 60, "60 counted")
        until(lambda: all(each.depth() == AT_REST for each in both), "two empty queues")
        for each in both:
            lost = each.count("controller_races_total", race="bound_elsewhere")
            assert lost >= each.attempts("error")
        until(lambda: len(events(cluster.kube, "Scheduled")) == 60, "60 events")


def test_pods_that_go_at_once_leave_nothing_behind(cluster: EmbeddedCluster, tmp_path: Path) -> None:
    add_nodes(cluster, count=2, name="node-{index}", cpu="1")
    with controller(cluster, tmp_path / "log", "least-loaded") as started:
        names = [f"pod-{number}" for number in range(40)]
        with ThreadPoolExecutor(8) as pool:
            pool.map(lambda name: _come_and_go(cluster.kube, name), names)
        until(lambda: not cluster.kube.items(PODS), "no pods", started.child)
        until(lambda: started.depth() == AT_REST, "an empty queue", started.child)
        # All room that was kept for them is free again.
        create(cluster.kube, ["last-1", "last-2"], cpu="1")
        until(lambda: len(running(cluster.kube)) == 2, "both running", started.child)


def _come_and_go(kube: Kube, name: str) -> None:
    create(kube, [name], cpu="1")
    kube.delete(f"{PODS}/{name}", grace_seconds=0)
