import functools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.clock import wait_until
from harness.process import Child, family_cpu_seconds, spawn
from harness.run.cost import cpu_seconds, since
from harness.variant.base import Installed
from tests.processes import PATIENCE_SECONDS, await_text, python

# Works for at least so long, tells it, and waits for its end.
WORKS = """
import os, sys
while sum(os.times()[:2]) < float(sys.argv[1]):
    pass
print("worked", flush=True)
sys.stdin.read()
"""
# Does nothing itself.
STARTS = """
import subprocess, sys
subprocess.run([sys.executable, "-c", sys.argv[1], "0.3"])
"""

Start = Callable[..., Child]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    children: list[Child] = []

    def start(script: str, *arguments: str) -> Child:
        log = tmp_path / f"{len(children)}.log"
        children.append(spawn("worker", python(script, *arguments), log=log))
        await_text(log)
        return children[-1]

    yield start
    for child in children:
        child.kill()


def installed(schedulers: dict[str, int], *extenders: Any) -> Installed:
    """Return what stands behind these process ids."""
    traffic: Any = SimpleNamespace(extenders=extenders) if extenders else None
    running: Any = {
        name: SimpleNamespace(cpu_seconds=functools.partial(family_cpu_seconds, pid))
        for name, pid in schedulers.items()
    }
    return Installed("made", running, "", traffic=traffic)


def extender(name: str, child: Child | None, tap: Child | None) -> Any:
    return SimpleNamespace(
        name=name, running=SimpleNamespace(child=child), tap=SimpleNamespace(child=tap) if tap else None
    )


def test_schedulers_extenders_and_taps_are_told_apart(start: Start) -> None:
    busy, idle = start(WORKS, "0.4"), start(WORKS, "0")
    used = cpu_seconds(installed({"first": busy.pid}, extender("mine", busy, idle), extender("url", None, None)))
    assert used.keys() == {"first", "extender mine", "tap mine"}
    assert used["first"] >= 0.39
    assert used["extender mine"] >= 0.39
    assert used["tap mine"] < used["first"]


def test_without_extenders_only_schedulers_are_measured() -> None:
    used = cpu_seconds(installed({"only": os.getpid()}))
    assert used.keys() == {"only"}
    assert used["only"] > 0


def test_what_a_part_started_counts_as_its_own(start: Start) -> None:
    parent = start(STARTS, WORKS)
    assert cpu_seconds(installed({"guarded": parent.pid}))["guarded"] >= 0.29


def test_a_part_that_is_gone_is_left_out(start: Start) -> None:
    gone = start(WORKS, "0")
    gone.kill()
    wait_until(gone.ended.is_set, what="its end", timeout_seconds=PATIENCE_SECONDS)
    assert cpu_seconds(installed({"gone": gone.pid, "here": os.getpid()})).keys() == {"here"}


def test_between_two_measurements_only_the_difference_counts() -> None:
    assert since({"a": 1.5, "b": 2.0}, {"a": 1.75, "b": 2.0}) == {"a": 0.25, "b": 0.0}


def test_a_part_that_was_started_anew_began_at_zero() -> None:
    assert since({"a": 5.0}, {"a": 0.5}) == {"a": 0.5}


def test_a_part_that_came_later_counts_whole_and_one_that_went_not_at_all() -> None:
    assert since({"gone": 3.0}, {"new": 0.125}) == {"new": 0.125}
    assert since({}, {}) == {}


def test_milliseconds_are_enough() -> None:
    assert since({"a": 0.1}, {"a": 0.3}) == {"a": 0.2}
