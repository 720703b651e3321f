"""Whatever is killed, and when: nothing stays for good, and what a run lost is told."""

import contextlib
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from harness import process
from harness.clock import wait_until
from harness.cluster.kind.cluster import ClusterOnKind
from harness.cluster.kind.containers import LABEL
from harness.cluster.kind.tools import docker
from harness.expect.judge import judge
from harness.process import Child, spawn
from harness.record.read import read
from harness.run.session import Session
from harness.scenario.load import load
from tests.processes import await_gone

HARNESS = [sys.executable, "-m", "harness.cli.main"]
CREATE_SECONDS = 600.0
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


def clusters_of(state: Path) -> list[str]:
    """Return the names of the kind clusters that a state folder knows: it forgets them before Docker does."""
    there = state / "clusters"
    return [f"harness-{path.name}" for path in there.iterdir()] if there.exists() else []


def nodes_of(clusters: Iterable[str]) -> list[str]:
    """Return the containers that Docker has of clusters, running or not."""
    return [one for name in clusters for one in docker("ps", "-aq", f"--filter=label={LABEL}={name}").split()]


def created(state: Path) -> list[str]:
    """Return the names of the clusters that are being created, as soon as there is a container of one."""
    await_(lambda: nodes_of(clusters_of(state)), "a container of a cluster that is being created")
    return clusters_of(state)


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
    first = created(state)
    killed(creating)

    running = started("lasting")
    await_(lambda: list(tmp_path.glob("runs/*/pods.jsonl")), "a run that goes on")
    assert nodes_of(first) == []
    second = clusters_of(state)
    killed(running)
    assert nodes_of(second)

    whole = started("quick")
    await_(lambda: set(clusters_of(state)) - set(second) or whole.ended.is_set(), "a cluster of its own")
    third = [name for name in clusters_of(state) if name not in second]
    await_(lambda: "PASS" in whole.log.read_text() or whole.ended.is_set(), "a verdict")
    # It deletes its cluster now.
    killed(whole)
    assert "PASS" in whole.log.read_text()
    assert third
    assert nodes_of(second) == []
    process.run([*HARNESS, "clean"])
    assert nodes_of(third) == []
    assert clusters_of(state) == []
    assert not set(third) & set(process.run([*HARNESS, "clean"]).split())


def test_killed_and_its_state_lost_it_is_found_by_its_containers(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: Callable[[str], Child]
) -> None:
    running = started("quick")
    (name,) = created(state)
    monkeypatch.setenv("HARNESS_STATE", str(tmp_path / "another"))
    told = process.run([*HARNESS, "clean"])
    assert name not in told
    assert nodes_of([name])
    killed(running)
    shutil.rmtree(state / "clusters")
    assert f"removed kind cluster {name}\n" in process.run([*HARNESS, "clean"])
    assert nodes_of([name]) == []


def test_ctrl_c_leaves_no_cluster(state: Path, started: Callable[[str], Child]) -> None:
    creating = started("quick")
    clusters = created(state)
    os.kill(creating.pid, signal.SIGINT)
    await_gone([creating.pid], CREATE_SECONDS)
    assert nodes_of(clusters) == []
    assert clusters_of(state) == []


def test_a_node_that_stops_mid_run_is_a_verdict_with_the_reason(sched_session: Session, tmp_path: Path) -> None:
    (tmp_path / "lasting.yaml").write_text(LASTING)

    def stop(told: str) -> None:
        # The pods are created and the nodes are there: nothing is waited for that could be late.
        if "settle" in told:
            cluster = sched_session.cluster
            assert isinstance(cluster, ClusterOnKind)
            (container,) = [one for one, node in cluster.containers().items() if node == "node-1"]
            docker("stop", "--time", "0", container)

    scenario = load(tmp_path / "lasting.yaml").at(None)
    record = read(sched_session.run(scenario, "default", report=stop))
    (death,) = [verdict for verdict in judge(record) if verdict.kind == "nodesAlive"]
    assert not death.ok
    assert "node-1" in death.sentence()
    assert "container" in death.sentence()
