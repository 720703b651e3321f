import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.clock import wait_until
from harness.cluster.kind.deaths import Deaths, watched
from harness.errors import ClusterError, NodeDied
from tests.processes import PATIENCE_SECONDS, await_gone, await_text
from tests.unit.cluster.kind.given import Programs

NODES = {"h-worker": "node-1", "h-worker2": "h-worker2"}


@contextlib.contextmanager
def watching(programs: Programs, folder: Path, *deaths: str) -> Iterator[Deaths]:
    """Watch a cluster of whose containers some die at once; docker then waits for more."""
    lines = "; ".join(f"echo '{line}'" for line in ("$$", *deaths)).replace("'$$'", f"$$ >{folder / 'pid'}")
    programs.put("docker", {"events*": f"{lines}; exec sleep 600"})
    with watched("h", folder / "deaths.log", lambda: NODES) as found:
        await_text(folder / "pid")
        if deaths:
            await_text(folder / "deaths.log")
        yield found


def test_while_nothing_dies_nothing_is_raised(programs: Programs, tmp_path: Path) -> None:
    with watching(programs, tmp_path) as deaths:
        deaths.check()
    (call,) = programs.calls("docker")
    assert call[0] == "events"
    assert {"--filter=label=io.x-k8s.kind.cluster=h", "--filter=type=container", "--filter=event=die"} <= set(call)


def test_a_worker_that_ended_is_a_node_that_died(programs: Programs, tmp_path: Path) -> None:
    with watching(programs, tmp_path, "h-worker 137") as deaths:
        with pytest.raises(NodeDied, match="node node-1 is gone: its container h-worker ended with code 137"):
            deaths.check()
        with pytest.raises(NodeDied):
            deaths.check()


def test_the_control_planes_end_is_that_of_the_cluster(programs: Programs, tmp_path: Path) -> None:
    with (
        watching(programs, tmp_path, "h-control-plane 1") as deaths,
        pytest.raises(
            ClusterError, match="the control plane is gone: container h-control-plane ended with code 1"
        ) as e,
    ):
        deaths.check()
    assert not isinstance(e.value, NodeDied)


def test_a_parked_worker_is_known_by_its_container(programs: Programs, tmp_path: Path) -> None:
    with (
        watching(programs, tmp_path, "h-worker2 0") as deaths,
        pytest.raises(NodeDied, match="node h-worker2 is gone"),
    ):
        deaths.check()


def test_what_is_no_container_of_the_cluster_dies_unnoticed(programs: Programs, tmp_path: Path) -> None:
    with watching(programs, tmp_path, "helper 0", "h-worker21 0", "") as deaths:
        deaths.check()


def test_of_several_the_first_is_told(programs: Programs, tmp_path: Path) -> None:
    with watching(programs, tmp_path, "helper 0", "h-worker2 9", "h-control-plane 0") as deaths:
        log = tmp_path / "deaths.log"
        wait_until(lambda: log.read_text().count("\n") == 3, what="three lines", timeout_seconds=PATIENCE_SECONDS)
        with pytest.raises(NodeDied, match="h-worker2 ended with code 9"):
            deaths.check()


def test_the_watching_ends_with_the_context(programs: Programs, tmp_path: Path) -> None:
    with watching(programs, tmp_path):
        pid = int((tmp_path / "pid").read_text())
    await_gone([pid])
