"""Another program in the place of a part: what it is given, and how its end is told."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.cluster.base import Program
from harness.cluster.embedded.supervisor import SCHEDULER, Supervisor
from harness.errors import ClusterError, SchedulerDied
from harness.process import Child
from tests.processes import PATIENCE_SECONDS, await_gone, await_text

# Tells what it was started with, and waits to be ended.
TELLS = """
import json, os, signal, sys
told = {"arguments": sys.argv[1:], "lifeline": os.environ.get("CONTROLPLANE_LIFELINE"), "own": os.environ.get("OWN")}
print(json.dumps({**told, "input": os.readlink("/proc/self/fd/0")}), flush=True)
signal.pause()
"""
FLAGS = ["--config=c.yaml", "--secure-port=1"]


@pytest.fixture
def supervisor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Supervisor]:
    """A control plane whose own program must not be started."""
    monkeypatch.delenv("CONTROLPLANE_LIFELINE", raising=False)
    with Supervisor(Path("/nowhere/controlplane"), tmp_path / "logs") as supervisor:
        yield supervisor


def program(*words: str, script: str = TELLS, **more: Any) -> Program:
    return Program((sys.executable, "-c", script, *words), **more)


def told(child: Child) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(await_text(child.log))
    return found


def test_it_gets_the_flags_behind_its_own_words_but_not_the_parts_name(supervisor: Supervisor) -> None:
    child = supervisor.start(SCHEDULER, FLAGS, name="mine", program=program("first"))
    assert told(child)["arguments"] == ["first", *FLAGS]
    assert child.log.name == "mine.log"
    assert supervisor.pids() == {"mine": child.pid}


def test_one_that_takes_no_flags_gets_none(supervisor: Supervisor) -> None:
    child = supervisor.start(SCHEDULER, FLAGS, program=program("first", takes_flags=False))
    assert told(child)["arguments"] == ["first"]
    assert child.name == SCHEDULER


def test_one_of_ours_holds_the_lifeline(supervisor: Supervisor) -> None:
    one = supervisor.start(SCHEDULER, FLAGS, name="one", program=program(env={"OWN": "mine"}))
    held = supervisor.start(SCHEDULER, FLAGS, name="held", program=program(), held=True)
    facts = told(one)
    assert (facts["lifeline"], facts["own"]) == ("stdin", "mine")
    assert facts["input"].startswith("pipe:")
    assert told(held)["lifeline"] == "stdin-held"


def test_a_strangers_knows_no_lifeline_and_reads_nothing(supervisor: Supervisor) -> None:
    """The variable would make kube-scheduler end at once: its standard input is empty."""
    child = supervisor.start(SCHEDULER, FLAGS, program=program(env={"OWN": "mine"}, guarded=True))
    facts = told(child)
    assert (facts["lifeline"], facts["input"]) == (None, os.devnull)
    assert (facts["own"], facts["arguments"]) == ("mine", FLAGS)


def test_a_strangers_ends_with_the_supervisor_and_so_does_what_it_started(tmp_path: Path) -> None:
    leaves = f"import os\nif os.fork():\n    os.setsid() if os.getpgrp() != os.getpid() else None\n{TELLS}"
    with Supervisor(Path("/nowhere/controlplane"), tmp_path / "logs") as supervisor:
        child = supervisor.start(SCHEDULER, FLAGS, program=program(script=leaves, guarded=True))
        await_text(child.log)
        family = [child.pid, *(one.pid for one in psutil.Process(child.pid).children(recursive=True))]
        assert len(family) >= 3, "the guard, the program and its child"
    await_gone(family)


def test_a_strangers_that_was_stopped_is_not_missed(supervisor: Supervisor) -> None:
    child = supervisor.start(SCHEDULER, FLAGS, program=program(guarded=True))
    await_text(child.log)
    supervisor.stop(child)
    supervisor.check()
    assert supervisor.pids() == {}


@pytest.mark.parametrize("guarded", [False, True])
def test_the_death_of_a_scheduler_is_told_as_one_with_its_signal(supervisor: Supervisor, guarded: bool) -> None:
    child = supervisor.start(SCHEDULER, FLAGS, name="second", program=program(guarded=guarded))
    await_text(child.log)
    (victim,) = psutil.Process(child.pid).children() if guarded else (psutil.Process(child.pid),)
    os.kill(victim.pid, signal.SIGKILL)
    assert child.ended.wait(PATIENCE_SECONDS)
    with pytest.raises(SchedulerDied, match=r"lost a part: second \(pid \d+\) was ended by signal 9"):
        supervisor.check()


def test_a_guard_that_is_killed_takes_its_program_along(supervisor: Supervisor) -> None:
    child = supervisor.start(SCHEDULER, FLAGS, program=program(guarded=True))
    await_text(child.log)
    (below,) = psutil.Process(child.pid).children()
    os.kill(child.pid, signal.SIGKILL)
    await_gone([child.pid, below.pid])
    with pytest.raises(SchedulerDied):
        supervisor.check()


def test_the_death_of_another_part_is_trouble_with_the_cluster(supervisor: Supervisor) -> None:
    """Also when a scheduler dies with it: no scheduler lives without an API server."""
    for part in (SCHEDULER, "kube-apiserver"):
        child = supervisor.start(part, FLAGS, name=part, program=program(script="raise SystemExit(3)"))
        assert child.ended.wait(PATIENCE_SECONDS)
    with pytest.raises(ClusterError, match=r"kube-scheduler .* exited with code 3(?s:.*)kube-apiserver") as caught:
        supervisor.check()
    assert not isinstance(caught.value, SchedulerDied)


def test_a_command_that_is_not_there_is_told_by_its_guard(supervisor: Supervisor) -> None:
    child = supervisor.start(SCHEDULER, FLAGS, program=Program(("/nowhere/scheduler",), guarded=True))
    assert child.ended.wait(PATIENCE_SECONDS)
    with pytest.raises(SchedulerDied, match=r"exited with code 127(?s:.*)/nowhere/scheduler: cannot be started"):
        supervisor.check()
