"""An extender or a tap that dies in the middle of a run costs no verdict, no record and no process."""

import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from harness.clock import wait_until
from harness.cluster.base import ClusterSpec
from harness.expect.judge import judge
from harness.record.model import Record
from harness.record.read import read
from harness.run.brought import bring
from harness.run.session import Session
from harness.scenario.load import load
from harness.variant.base import Installed
from tests.e2e.conftest import Start, await_end
from tests.processes import PATIENCE_SECONDS, await_gone

pytestmark = [pytest.mark.embedded, pytest.mark.extender]

STRANGER = Path(__file__).parents[1] / "subjects" / "stranger"
TWO_WAVES = """\
name: two-waves
summary: Two pods before and two after something happens.
timeoutSeconds: 20
nodes: [{count: 2}]
steps:
- {op: createPods, count: 2, name: "before-{index}"}
- op: settle
- {op: createPods, count: 2, name: "after-{index}"}
expect: [{kind: count, running: 4}]
"""
LASTING = TWO_WAVES.replace("expect: [", "expect: [{kind: staysPending, pods: never, seconds: 600}, ").replace(
    "expect:", "- {op: createPods, count: 1, name: never, requests: {cpu: 64}}\nexpect:"
)


def run_and_kill(session: Session, folder: Path, victim: Callable[[Installed], int]) -> Record:
    scenario = folder / "two-waves.yaml"
    scenario.write_text(TWO_WAVES)

    def kill_before_the_second_wave(step: str) -> None:
        if "step 3" in step:
            installed = session.install("extender", load(scenario).at(None))
            os.kill(victim(installed), signal.SIGKILL)
            await_closed(installed)

    return read(session.run(load(scenario).at(None), "extender", report=kill_before_the_second_wave))


def await_closed(installed: Installed) -> None:
    """Wait until the tap refuses calls or is gone: a call before that would be cut off instead of refused."""
    assert installed.traffic
    tap = installed.traffic.extenders[0].tap
    assert tap

    address = urlsplit(tap.url)

    def is_closed() -> bool:
        # A connection also makes the tap look after its extender.
        try:
            socket.create_connection((address.hostname, address.port), PATIENCE_SECONDS).close()
        except OSError:
            return True
        return False

    wait_until(is_closed, what="the tap being closed", timeout_seconds=PATIENCE_SECONDS)


@pytest.fixture
def session(tmp_path: Path) -> "Session":
    """A session whose extender is a stranger's program."""
    return Session("embedded", ClusterSpec(), tmp_path / "runs", brought=bring([f"go:{STRANGER}"], []))


def test_a_killed_extender_is_told_and_the_run_is_judged(session: Session, tmp_path: Path) -> None:
    def extender(installed: Installed) -> int:
        assert installed.traffic
        return installed.traffic.extenders[0].running.processes()[0].pid

    with session:
        record = run_and_kill(session, tmp_path, extender)
        assert record.meta.status == "finished"
        assert [verdict.kind for verdict in judge(record) if not verdict.ok] == ["count"]
        assert any("extender stranger ended during the run" in warning for warning in record.meta.warnings)
        refused = [pod for pod in record.pods if pod.name.startswith("after")]
        assert all("connection refused" in (pod.condition.message if pod.condition else "") for pod in refused)
        assert {call.pod for call in record.calls} == {"default/before-1", "default/before-2"}
        # The next run gets it back.
        again = read(session.run(load(tmp_path / "two-waves.yaml").at(None), "extender"))
        assert all(verdict.ok for verdict in judge(again))
        assert not again.meta.warnings or all("ended" not in warning for warning in again.meta.warnings)


def test_a_killed_tap_is_told_and_the_run_is_judged(session: Session, tmp_path: Path) -> None:
    def tap(installed: Installed) -> int:
        assert installed.traffic
        found = installed.traffic.extenders[0].tap
        assert found
        return found.child.pid

    with session:
        record = run_and_kill(session, tmp_path, tap)
        assert record.meta.status == "finished"
        assert [verdict.kind for verdict in judge(record) if not verdict.ok] == ["count"]
        assert any("the tap of stranger ended during the run" in warning for warning in record.meta.warnings)
        assert {call.pod for call in record.calls} == {"default/before-1", "default/before-2"}
        # A tap is not mended: what comes next is installed anew.
        again = read(session.run(load(tmp_path / "two-waves.yaml").at(None), "extender"))
        assert all(verdict.ok for verdict in judge(again))
        assert len(again.calls) == 8


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_survives_the_harness(start: Start, tmp_path: Path, number: signal.Signals) -> None:
    scenario, runs = tmp_path / "lasting.yaml", tmp_path / "runs"
    scenario.write_text(LASTING)
    child = start("run", scenario, "--out", runs, "--extender", f"go:{STRANGER}")

    def is_pending() -> bool:
        assert not child.ended.is_set(), child.tail()
        return any(b"Unschedulable" in path.read_bytes() for path in runs.glob("*/pods.jsonl"))

    wait_until(is_pending, what="a pending pod in the record", timeout_seconds=2 * PATIENCE_SECONDS)
    family = psutil.Process(child.pid).children(recursive=True)
    names = {one.name() for one in family}
    assert {"tap", "subject"} <= names, names
    os.kill(child.pid, number)
    await_end(child)
    await_gone([one.pid for one in family])
