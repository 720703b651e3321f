"""A scheduler of any variant that is killed in the middle of a run costs a verdict, and nothing else."""

import os
import signal
from pathlib import Path

import psutil
import pytest

from harness.clock import wait_until
from harness.cluster.base import ClusterSpec, Scheduler
from harness.cluster.embedded.cluster import EmbeddedScheduler
from harness.expect.judge import judge
from harness.record.model import Record
from harness.record.read import read
from harness.run.session import Session
from harness.scenario.load import load
from harness.variant.base import Installed
from tests.e2e.conftest import Start, await_end
from tests.processes import PATIENCE_SECONDS, await_gone

pytestmark = pytest.mark.embedded

# Which of the schedulers a variant runs is the one under test, by what pods ask for it.
UNDER_TEST = {
    "second-scheduler": "my-scheduler",
    "framework-plugin": "default-scheduler",
    "controller": "controller-scheduler",
    "rebuilt-scheduler": "default-scheduler",
}
# Each is also among the tests of its variant: `pytest -m controller` kills a controller.
VARIANTS = [pytest.param(name, marks=getattr(pytest.mark, name.replace("-", "_"))) for name in UNDER_TEST]
TWO_WAVES = """\
name: two-waves
summary: Two pods before and two after something happens.
timeoutSeconds: 60
variants: [second-scheduler, framework-plugin, controller, rebuilt-scheduler]
nodes: [{count: 2}]
steps:
- {op: createPods, count: 2, name: "before-{index}"}
- op: settle
- {op: createPods, count: 2, name: "after-{index}"}
expect: [{kind: count, total: {min: 2}}]
"""
LASTING = TWO_WAVES.replace(
    "expect: [", "- {op: createPods, count: 1, name: never, requests: {cpu: 64}}\nexpect: ["
).replace("{kind: count, total: {min: 2}}", "{kind: staysPending, pods: [never], seconds: 600}")


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A session of its own: what it loses is missed by nobody else."""
    return Session("embedded", ClusterSpec(), tmp_path / "runs")


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "two-waves.yaml"
    path.write_text(TWO_WAVES)
    return path


def family(pid: int) -> list[int]:
    """Return a process and all that it started: a guard has the scheduler below it."""
    return [pid, *(one.pid for one in psutil.Process(pid).children(recursive=True))]


def pid_of(scheduler: Scheduler) -> int:
    assert isinstance(scheduler, EmbeddedScheduler)
    return scheduler.pid


def program_of(pid: int) -> int:
    """Return the process that schedules, which is not the guard before it."""
    return family(pid)[-1]


def run_and_kill(session: Session, scenario: Path, variant: str) -> tuple[Record, list[int]]:
    """Kill the scheduler under test before the second wave; return the record, and what was running until then."""
    running: list[int] = []

    def kill_before_the_second_wave(step: str) -> None:
        if "step 3" in step:
            installed: Installed = session.install(variant, load(scenario).at(None))
            victim = pid_of(installed.schedulers[UNDER_TEST[variant]])
            running.extend(one for each in installed.schedulers.values() for one in family(pid_of(each)))
            os.kill(program_of(victim), signal.SIGKILL)

    record = read(session.run(load(scenario).at(None), variant, report=kill_before_the_second_wave))
    assert running
    return record, running


@pytest.mark.parametrize("chosen", VARIANTS)
def test_a_killed_scheduler_is_a_verdict_and_the_next_run_works(session: Session, scenario: Path, chosen: str) -> None:
    before = set(family(os.getpid()))
    with session:
        record, running = run_and_kill(session, scenario, chosen)
        assert (record.meta.status, record.meta.settled, record.meta.error) == ("finished", False, None)
        assert [verdict.kind for verdict in judge(record) if not verdict.ok] == ["schedulerAlive"]
        (death,) = record.meta.deaths
        assert "was ended by signal 9" in death
        placed = {pod.name: pod.node for pod in record.pods}
        assert placed["before-1"]
        assert placed["before-2"]
        assert not any(node for name, node in placed.items() if name.startswith("after"))
        again = read(session.run(load(scenario).at(None), chosen))
        assert [verdict.kind for verdict in judge(again) if not verdict.ok] == []
        assert [pod.name for pod in again.pods if not pod.node] == []
        await_gone(running)
        mine = set(family(os.getpid())) - before
        assert mine
    await_gone(mine)


@pytest.mark.parametrize("chosen", VARIANTS)
def test_nothing_survives_the_harness(start: Start, tmp_path: Path, chosen: str) -> None:
    scenario, runs = tmp_path / "lasting.yaml", tmp_path / "runs"
    scenario.write_text(LASTING)
    child = start("run", scenario, "--out", runs, "--variant", chosen)

    def is_pending() -> bool:
        assert not child.ended.is_set(), child.tail()
        return any(b"Unschedulable" in path.read_bytes() for path in runs.glob("*/pods.jsonl"))

    wait_until(is_pending, what="a pending pod in the record", timeout_seconds=2 * PATIENCE_SECONDS)
    everybody = family(child.pid)
    os.kill(child.pid, signal.SIGKILL)
    await_end(child)
    await_gone(everybody)
