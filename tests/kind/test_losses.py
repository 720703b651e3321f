"""Whatever is killed, and when: nothing stays for good, and what a run lost is told."""

import contextlib
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness import process
from harness.clock import wait_until
from harness.cluster.kind.cluster import ClusterOnKind
from harness.cluster.kind.creation import LABEL
from harness.cluster.kind.tools import docker
from harness.expect.judge import judge
from harness.process import Child, spawn
from harness.record.read import read
from harness.run.session import Session
from harness.scenario.load import load
from tests.processes import await_gone

HARNESS = [sys.executable, "-m", "harness.cli.main"]
CREATE_SECONDS = 300.0
QUICK = """\
name: quick
summary: One pod runs on one node.
nodes: [{count: 1, cpu: 1, memory: 1Gi}]
steps: [{op: createPods, count: 1}]
expect: [{kind: count, running: 1, total: 1}]
"""
LASTING = """\
name: lasting
summary: A pod waits for a long time.
nodes: [{count: 1, cpu: 1, memory: 1Gi}]
steps: [{op: createPods, count: 1, name: waits, requests: {cpu: 64}}]
expect: [{kind: staysPending, pods: [waits], seconds: 600}]
"""


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A state folder of its own; what a test leaves on kind is removed with it."""
    with tempfile.TemporaryDirectory(prefix="h") as folder:
        monkeypatch.setenv("HARNESS_STATE", folder)
        monkeypatch.chdir(tmp_path)
        for name, text in (("quick", QUICK), ("lasting", LASTING)):
            (tmp_path / f"{name}.yaml").write_text(text)
        yield Path(folder)
        process.run([*HARNESS, "clean"])


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[[str], Child]]:
    """Starts the run of a scenario; what is left of it is stopped whatever the test found."""
    with contextlib.ExitStack() as stack:

        def start(scenario: str) -> Child:
            child = start_run(scenario, tmp_path)
            stack.callback(child.stop)
            return child

        yield start


def start_run(scenario: str, folder: Path) -> Child:
    command = [
        *HARNESS,
        "run",
        f"{scenario}.yaml",
        "--cluster",
        "kind",
        "--workers",
        "1",
        "--out",
        str(folder / "runs"),
    ]
    return spawn("harness", command, log=folder / f"{scenario}.log", cwd=folder)


def nodes_of(state: Path) -> list[str]:
    """Return the containers of the clusters that a state folder knows."""
    names = [path.name for path in (state / "clusters").iterdir()] if (state / "clusters").exists() else []
    return [one for name in names for one in docker("ps", "-aq", f"--filter=label={LABEL}=harness-{name}").split()]


def await_(met: Callable[[], object], what: str) -> None:
    wait_until(met, what=what, timeout_seconds=CREATE_SECONDS)


def killed(child: Child) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(child.pid, signal.SIGKILL)
    child.ended.wait()


def test_killed_at_any_moment_the_next_run_cleans_up_and_works(
    state: Path, tmp_path: Path, started: Callable[[str], Child]
) -> None:
    creating = started("quick")
    await_(lambda: nodes_of(state), "a container of a cluster that is being created")
    killed(creating)
    left = nodes_of(state)

    running = started("lasting")
    await_(lambda: list(tmp_path.glob("runs/*/pods.jsonl")), "a run that goes on")
    assert not set(docker("ps", "-aq").split()) & set(left)
    left = nodes_of(state)
    killed(running)
    assert set(docker("ps", "-aq").split()) >= set(left)

    whole = started("quick")
    await_(lambda: "PASS" in whole.log.read_text() or whole.ended.is_set(), "a verdict")
    # It deletes its cluster now.
    killed(whole)
    assert "PASS" in whole.log.read_text()
    told = process.run([*HARNESS, "clean"])
    assert "harness-" in told or nodes_of(state) == []
    assert nodes_of(state) == []
    assert "nothing was left behind" in process.run([*HARNESS, "clean"])


def test_ctrl_c_leaves_no_cluster(state: Path, started: Callable[[str], Child]) -> None:
    creating = started("quick")
    await_(lambda: nodes_of(state), "a container of a cluster that is being created")
    containers = nodes_of(state)
    os.kill(creating.pid, signal.SIGINT)
    await_gone([creating.pid], CREATE_SECONDS)
    assert not set(docker("ps", "-aq").split()) & set(containers)
    assert nodes_of(state) == []


def test_a_node_that_stops_mid_run_is_a_verdict_with_the_reason(sched_session: Session, tmp_path: Path) -> None:
    (tmp_path / "lasting.yaml").write_text(LASTING)
    cluster = sched_session.cluster
    assert isinstance(cluster, ClusterOnKind)
    sched_session.empty()
    sched_session.install("default")

    def stop() -> None:
        wait_until(lambda: cluster.kube.items("/api/v1/namespaces/default/pods"), what="a pod", timeout_seconds=60)
        (container,) = [one for one, node in cluster.containers().items() if node == "node-1"]
        docker("stop", "--time", "0", container)

    stopper = threading.Thread(target=stop)
    stopper.start()
    record = read(sched_session.run(load(tmp_path / "lasting.yaml").at(None), "default"))
    stopper.join()
    (death,) = [verdict for verdict in judge(record) if verdict.kind == "nodesAlive"]
    assert not death.ok
    assert "node-1" in death.sentence()
    assert "container" in death.sentence()
