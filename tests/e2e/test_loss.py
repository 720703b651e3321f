"""A part that dies is noticed at once, named with its last words, and costs one run."""

import contextlib
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from harness import ports
from harness.clock import SYSTEM, wait_until
from harness.cluster.base import Cluster, ClusterSpec
from harness.cluster.embedded.supervisor import START_TIMEOUT_SECONDS
from harness.cluster.registry import provider
from harness.errors import ClusterError
from harness.record.read import read
from harness.run.session import Session
from harness.scenario.load import load
from tests.processes import PATIENCE_SECONDS, await_gone, parts_of

pytestmark = pytest.mark.embedded

# Nobody looks at its pod, so the run waits for it until the deadline.
NEVER_SETTLES = """\
name: never-settles
summary: A pod asks for a scheduler that nobody runs.
timeoutSeconds: 600
nodes: [{count: 1}]
steps: [{op: createPods, count: 1, spec: {schedulerName: nobody}}]
expect: [{kind: count, total: 1}]
"""
SETTLES = NEVER_SETTLES.replace(", spec: {schedulerName: nobody}", "").replace("never-settles", "settles")


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """A session of its own: what it loses is missed by nobody else."""
    with Session("embedded", ClusterSpec(), tmp_path / "runs") as session:
        yield session


def kill(part: str, cluster: Cluster) -> int:
    pid = parts_of(os.getpid(), cluster.name)[part]
    os.kill(pid, signal.SIGKILL)
    return pid


def port(cluster: Cluster) -> str:
    server: str = yaml.safe_load(cluster.kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
    return server.rpartition(":")[2]


def test_a_dead_part_is_named_with_how_it_ended_and_the_others_go_with_the_cluster(cluster: Cluster) -> None:
    with provider("embedded").cluster(ClusterSpec()) as other:
        assert port(other) != port(cluster)
        assert other.name != cluster.name
        parts = parts_of(os.getpid(), other.name)
        other.check()
        pid = kill("kwok", other)

        def noticed() -> str | None:
            try:
                other.check()
            except ClusterError as error:
                return str(error)
            return None

        message = wait_until(noticed, what="the loss being noticed", timeout_seconds=PATIENCE_SECONDS)
        assert f"lost a part: kwok (pid {pid}) was ended by signal 9" in message
        assert "Last lines of its log" in message
        assert "etcd" not in message.split("Last lines")[0]
    await_gone(parts.values())
    cluster.check()


def test_a_part_that_dies_early_is_told_before_any_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else takes the port between its being found free and being listened on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(ports, "reserved", lambda count: contextlib.nullcontext([port] * count))
        start = SYSTEM.now()
        with pytest.raises(ClusterError) as caught, provider("embedded").cluster(ClusterSpec()):
            pass
    assert SYSTEM.now() - start < START_TIMEOUT_SECONDS / 2
    message = str(caught.value)
    assert "kube-apiserver" in message
    assert "exited with code 1" in message
    assert f"127.0.0.1:{port}: bind: address already in use" in message
    assert parts_of(os.getpid(), f"--secure-port={port}") == {}


def test_a_run_ends_when_a_part_dies_and_the_next_gets_a_new_cluster(session: Session, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(NEVER_SETTLES)
    killed: list[float] = []

    def kill_when_it_waits(step: str) -> None:
        if "settle" in step.partition(":")[2]:
            kill("kube-apiserver", session.cluster)
            killed.append(SYSTEM.now())

    with pytest.raises(ClusterError) as caught:
        session.run(load(scenario).at(None), "default", report=kill_when_it_waits)
    assert SYSTEM.now() - killed[0] < PATIENCE_SECONDS
    message = str(caught.value)
    assert "kube-apiserver" in message
    assert "was ended by signal 9" in message
    (record,) = (tmp_path / "runs").iterdir()
    assert read(record).meta.status == "failed"
    lost = session.cluster.name

    scenario.write_text(SETTLES)
    assert read(session.run(load(scenario).at(None), "default")).meta.settled
    assert session.cluster.name != lost
