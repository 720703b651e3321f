import os
import signal
import sys
from pathlib import Path

import pytest

from harness import process
from harness.process import Child
from tests.processes import PATIENCE_SECONDS, await_gone, await_text, is_gone, python

IGNORES_TERM = (
    "import os, signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(os.getpid(), flush=True); "
    "signal.pause()"
)
# Starts a process in its own session, out of reach of every signal to a group, and says both ids.
HIDES_A_GRANDCHILD = (
    "import os, subprocess, sys\n"
    "code = 'import signal; signal.pause()'\n"
    "hidden = subprocess.Popen([sys.executable, '-c', code], start_new_session=True)\n"
    "print(os.getpid(), hidden.pid, flush=True)\n"
)
STAYS = HIDES_A_GRANDCHILD + "import signal; signal.pause()"


def ended(child: Child) -> Child:
    assert child.ended.wait(PATIENCE_SECONDS)
    return child


def pids(log: Path) -> list[int]:
    return [int(word) for word in await_text(log).split()]


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_guarded_child_ends_with_all_that_it_started(tmp_path: Path, end: str) -> None:
    child = process.spawn("stranger", python(STAYS), log=tmp_path / "stranger.log", guarded=True)
    started = pids(child.log)
    assert not any(map(is_gone, started))
    if end == "stop":
        child.stop(grace_seconds=0.2)  # what hides is not asked by a signal to the group, so it is made to go
    else:
        child.kill()
    assert child.exit_code == (-signal.SIGTERM if end == "stop" else -signal.SIGKILL)
    assert not child.died
    await_gone([*started, child.pid])


def test_a_guarded_child_that_ends_by_itself_leaves_nothing_and_keeps_its_code(tmp_path: Path) -> None:
    script = HIDES_A_GRANDCHILD + "sys.exit(5)"
    child = process.spawn("stranger", python(script), log=tmp_path / "stranger.log", guarded=True)
    assert ended(child).exit_code == 5
    assert child.died
    await_gone(pids(child.log))
    child.stop()


def test_a_guarded_child_that_was_killed_is_said_to_be(tmp_path: Path) -> None:
    child = process.spawn("stranger", python(STAYS), log=tmp_path / "stranger.log", guarded=True)
    command, hidden = pids(child.log)
    os.kill(command, signal.SIGSEGV)
    assert ended(child).exit_code == -signal.SIGSEGV
    await_gone([hidden])
    child.stop()


def test_a_guarded_child_is_asked_before_it_is_made_to_go(tmp_path: Path) -> None:
    script = (
        "import signal, sys\n"
        "def leave(*_): print('bye', flush=True); sys.exit(3)\n"
        "signal.signal(signal.SIGTERM, leave)\n"
        "print(repr(sys.stdin.read()), flush=True)\n"
        "while True: signal.pause()"
    )
    child = process.spawn("polite", python(script), log=tmp_path / "polite.log", guarded=True)
    assert await_text(child.log) == "''\n"
    child.stop(grace_seconds=PATIENCE_SECONDS)
    assert child.tail().splitlines()[-1] == "bye"
    assert child.exit_code == 3


def test_a_guarded_child_that_will_not_go_is_made_to(tmp_path: Path) -> None:
    child = process.spawn("stubborn", python(IGNORES_TERM), log=tmp_path / "stubborn.log", guarded=True)
    command = int(await_text(child.log))
    child.stop(grace_seconds=0.05)
    assert child.exit_code == -signal.SIGKILL
    assert is_gone(command)


def test_a_guarded_command_that_is_not_there_says_so(tmp_path: Path) -> None:
    child = process.spawn("missing", [str(tmp_path / "none")], log=tmp_path / "missing.log", guarded=True)
    assert ended(child).exit_code == 127
    assert "none: cannot be started: No such file or directory" in child.tail()
    child.stop()


def test_a_guarded_child_starts_where_it_is_told_with_ordinary_signals(tmp_path: Path) -> None:
    script = "import os, signal; print(os.getcwd(), signal.getsignal(signal.SIGTERM).name, flush=True)"
    child = process.spawn("there", python(script), log=tmp_path / "there.log", cwd=tmp_path, guarded=True)
    assert await_text(child.log) == f"{tmp_path} SIG_DFL\n"
    ended(child).stop()


def test_nothing_that_a_guarded_child_started_outlives_our_kill_9(tmp_path: Path) -> None:
    script = (
        "import sys, signal, threading\n"
        "from pathlib import Path\n"
        "from harness.process import spawn\n"
        f"command = [sys.executable, '-c', {STAYS!r}]\n"
        "start = lambda: spawn('child', command, log=Path(sys.argv[1]), guarded=True)\n"
        # Started by a thread that has ended since, which must not end the child.
        "thread = threading.Thread(target=start); thread.start(); thread.join()\n"
        "signal.pause()"
    )
    owner = process.spawn("owner", python(script, str(tmp_path / "child.log")), log=tmp_path / "owner.log")
    started = pids(tmp_path / "child.log")
    assert not any(map(is_gone, started))
    os.kill(owner.pid, signal.SIGKILL)
    await_gone(started)
    owner.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent has died")
def test_a_command_does_not_outlive_its_guard(tmp_path: Path) -> None:
    child = process.spawn("stranger", python(IGNORES_TERM), log=tmp_path / "stranger.log", guarded=True)
    command = int(await_text(child.log))
    os.kill(child.pid, signal.SIGKILL)
    await_gone([command])
    ended(child).stop()
