"""Real clusters. What the tests share comes from the plugin's own fixtures; here is what a test has to itself."""

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness import process
from harness.clock import wait_until
from harness.cluster.base import ClusterSpec
from harness.cluster.embedded.cluster import EmbeddedCluster
from harness.cluster.folder import folders
from harness.cluster.registry import provider
from harness.process import Child
from tests.processes import PATIENCE_SECONDS, is_gone, parts_of

HARNESS = [sys.executable, "-m", "harness.cli.main"]
PARTS = {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"}
# Its pod asks for more than any node has and has to stay pending for longer than any test lasts.
LASTING = """\
name: lasting
summary: A pod waits for a long time.
nodes: [{count: 1}]
steps: [{op: createPods, count: 1, name: waits, requests: {cpu: 64}}]
expect: [{kind: staysPending, pods: [waits], seconds: 600}]
"""

Start = Callable[..., Child]


@pytest.fixture(scope="module")
def shared() -> Iterator[EmbeddedCluster]:
    """A cluster for the tests of one file; who uses it resets it."""
    with provider("embedded").cluster(ClusterSpec()) as cluster:
        assert isinstance(cluster, EmbeddedCluster)
        yield cluster


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A state folder of its own, with a short path as sockets want it; no owner of a cluster survives the test."""
    folder = Path(tempfile.mkdtemp(prefix="h"))
    monkeypatch.setenv("HARNESS_STATE", str(folder))
    # Clusters of kind are found without that folder.
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    yield folder
    for left in folders():
        owner = left.facts().get("owner")
        if left.is_owned() and owner and owner != os.getpid():
            os.kill(owner, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def start(tmp_path: Path, state: Path) -> Iterator[Start]:
    """Starts a harness command in the background."""
    children: list[Child] = []

    def start(*arguments: object) -> Child:
        log = tmp_path / f"command-{len(children)}.log"
        command = [*HARNESS, *(str(argument) for argument in arguments)]
        children.append(process.spawn("harness", command, log=log))
        return children[-1]

    yield start
    for child in children:
        child.kill()


@pytest.fixture
def lasting_run(start: Start, tmp_path: Path) -> tuple[Child, Path]:
    """A `harness run` in the middle of its scenario, and the folder of its records."""
    scenario, runs = tmp_path / "lasting.yaml", tmp_path / "runs"
    scenario.write_text(LASTING)
    child = start("run", scenario, "--out", runs)

    def is_pending() -> bool:
        assert not child.ended.is_set(), child.tail()
        return any(b"Unschedulable" in path.read_bytes() for path in runs.glob("*/pods.jsonl"))

    wait_until(is_pending, what="a pending pod in the record", timeout_seconds=2 * PATIENCE_SECONDS)
    assert parts_of(child.pid).keys() == PARTS
    return child, runs


def await_parts(child: Child, count: int = 1) -> dict[str, int]:
    """Wait until a command has started some parts of a cluster."""

    def found() -> dict[str, int] | None:
        assert not child.ended.is_set(), child.tail()
        parts = parts_of(child.pid)
        return parts if len(parts) >= count else None

    return wait_until(found, what=f"{count} parts", timeout_seconds=PATIENCE_SECONDS)


def await_end(child: Child) -> int | None:
    """Wait until a command has ended, and return its exit code."""
    assert child.ended.wait(PATIENCE_SECONDS), f"still running:\n{child.tail()}"
    assert is_gone(child.pid)
    return child.exit_code
