"""What becomes of a run when an extender or its tap ends, by a step or by itself."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from harness.clock import wait_until
from harness.extender.traffic import Connected
from harness.record.call import SPOOL
from tests.processes import PATIENCE_SECONDS, await_gone
from tests.unit.extender.asking import answer, ask
from tests.unit.extender.standing import Bench, standing

pytestmark = pytest.mark.usefixtures("built_tap")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with standing(tmp_path, "ref:pass-through") as bench:
        yield bench


def crash(pid: int) -> None:
    """End a process from outside, with all that it started."""
    process = psutil.Process(pid)
    every = [*process.children(recursive=True), process]
    for one in every:
        # Some end by themselves as soon as one of the others has.
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()
    await_gone(one.pid for one in every)


def crash_extender(one: Connected) -> None:
    assert one.running.child
    crash(one.running.child.pid)
    wait_until(lambda: not one.running.alive, what="the end being noticed", timeout_seconds=PATIENCE_SECONDS)


def crash_tap(one: Connected) -> None:
    assert one.tap
    tap = one.tap
    crash(tap.child.pid)
    wait_until(lambda: not tap.alive, what="the end being noticed", timeout_seconds=PATIENCE_SECONDS)


@pytest.mark.parametrize("how", ["kill", "terminate"])
def test_an_extender_that_a_step_stops_is_no_trouble_and_comes_back(bench: Bench, how: str) -> None:
    with bench.run():
        assert bench.traffic.stop(None, how) == ["x1"]
        assert ask(bench.first).status is None
        assert bench.traffic.troubles() == []
        assert bench.traffic.start("x1") == ["x1"]
        assert ask(bench.first).status == 200
    assert bench.warnings == []


def test_an_extender_that_a_step_stopped_runs_in_the_next_run(bench: Bench) -> None:
    with bench.run():
        bench.traffic.stop("x1", "kill")
    with bench.run():
        assert ask(bench.first).status == 200
    assert bench.warnings == []


def test_an_extender_that_dies_is_told_once_and_started_for_the_next_run(bench: Bench) -> None:
    with bench.run():
        crash_extender(bench.first)
        bench.traffic.watch()
        bench.traffic.watch()
        assert ask(bench.first).status is None
        assert bench.traffic.intact
    (warning,) = bench.warnings
    assert warning.startswith("extender x1 ended during the run: ")
    with bench.run():
        assert ask(bench.first).status == 200
    assert bench.warnings == []


def test_a_dead_extender_that_a_step_starts_again_is_no_trouble_any_more(bench: Bench) -> None:
    with bench.run():
        crash_extender(bench.first)
        bench.traffic.watch()
        bench.traffic.start("x1")
        assert bench.traffic.troubles() == []


def test_a_tap_that_dies_is_told_and_what_it_wrote_is_kept(bench: Bench) -> None:
    with bench.run():
        answer(bench.first)
        wait_until(lambda: bench.traffic.calls_seen(None), what="its line", timeout_seconds=PATIENCE_SECONDS)
        assert bench.traffic.intact
        crash_tap(bench.first)
        assert not bench.traffic.intact
        assert bench.traffic.busy() == []
        assert ask(bench.first).ending == "unreachable"
    (warning,) = bench.warnings
    assert warning.startswith("the tap of x1 ended during the run: calls after that were refused")
    assert [call.status for call in bench.calls()] == [200]
    assert not (bench.path / SPOOL).exists()
