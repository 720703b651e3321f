"""However the harness ends, nothing of a cluster survives it."""

import json
import os
import signal
from pathlib import Path

import pytest

from harness import process
from harness.expect.judge import judge
from harness.process import Child
from harness.record.read import read
from tests.e2e.conftest import HARNESS, LASTING, Start, await_end, await_parts
from tests.processes import await_gone, parts_of

pytestmark = pytest.mark.embedded

INTERRUPTED = 130


def left(state: Path) -> list[str]:
    return [path.name for path in (state / "clusters").iterdir()]


def test_kill_9_ends_every_part_and_loses_nothing_that_was_seen(lasting_run: tuple[Child, Path], state: Path) -> None:
    child, runs = lasting_run
    parts = parts_of(child.pid)
    os.kill(child.pid, signal.SIGKILL)
    await_end(child)
    await_gone(parts.values())

    (abandoned,) = left(state)
    told = process.run([*HARNESS, "clean"])
    assert "removed" in told
    assert abandoned in told
    assert left(state) == []

    (path,) = runs.iterdir()
    record = read(path)
    assert record.meta.status == "running"
    assert record.meta.scenario == "lasting"
    (pod,) = record.pods
    assert pod.pending
    assert [node.name for node in record.nodes] == ["node-1"]
    assert (path / "inputs" / "scenario.yaml").read_text() == LASTING
    assert {"kubernetes", "etcd", "kwok"} <= record.meta.versions.keys()
    assert all("the run never finished" in (verdict.note or "") for verdict in judge(record))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_process_and_no_folder(
    lasting_run: tuple[Child, Path], state: Path, number: signal.Signals
) -> None:
    child, runs = lasting_run
    parts = parts_of(child.pid)
    os.kill(child.pid, number)
    assert await_end(child) == INTERRUPTED
    await_gone(parts.values())
    assert left(state) == []
    assert "interrupted; everything that was started has been stopped" in child.tail()
    (path,) = runs.iterdir()
    meta = json.loads((path / "run.json").read_text())
    assert (meta["status"], meta["error"]) == ("failed", "interrupted: KeyboardInterrupt")


def test_an_interrupt_while_the_cluster_comes_up_leaves_nothing_either(
    start: Start, state: Path, tmp_path: Path
) -> None:
    scenario = tmp_path / "lasting.yaml"
    scenario.write_text(LASTING)
    child = start("run", scenario, "--out", tmp_path / "runs")
    parts = await_parts(child)
    os.kill(child.pid, signal.SIGINT)
    assert await_end(child) == INTERRUPTED
    await_gone(parts.values())
    assert left(state) == []
