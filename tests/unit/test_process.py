import os
import shutil
import signal
import threading
from pathlib import Path

import pytest

from harness import process
from harness.errors import CommandError
from harness.process import Child
from tests.processes import PATIENCE_SECONDS, await_gone, await_text, is_gone, python

WAITS_FOR_ITS_LIFELINE = "import os, sys; print(os.getpid(), flush=True); sys.stdin.read()"
IGNORES_TERM = (
    "import os, signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(os.getpid(), flush=True); "
    "signal.pause()"
)


def ended(child: Child) -> Child:
    assert child.ended.wait(PATIENCE_SECONDS)
    return child


def test_run_returns_both_streams_and_hands_over_each_line() -> None:
    lines: list[str] = []
    script = "import sys; print('one', flush=True); print('two', file=sys.stderr)"
    assert process.run(python(script), on_line=lines.append) == "one\ntwo\n"
    assert lines == ["one", "two"]


def test_run_takes_a_folder_and_adds_variables(tmp_path: Path) -> None:
    script = "import os; print(os.getcwd(), os.environ['ADDED'], 'PATH' in os.environ)"
    output = process.run(python(script), cwd=tmp_path, env={"ADDED": "yes"})
    assert output == f"{tmp_path} yes True\n"


def test_run_gives_no_standard_input() -> None:
    assert process.run(python("import sys; print(repr(sys.stdin.read()))")) == "''\n"


def test_a_failing_command_tells_itself_its_code_and_its_output() -> None:
    with pytest.raises(CommandError) as caught:
        process.run(python("import sys; print('no such thing'); sys.exit(7)"))
    assert caught.value.command_exit_code == 7
    assert "no such thing" in caught.value.output
    assert "exit code 7" in str(caught.value)
    assert str(caught.value).startswith(caught.value.command[0])


def test_an_interrupted_command_is_ended_with_all_it_started(tmp_path: Path) -> None:
    grandchild = tmp_path / "pid"
    script = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])\n"
        "open(sys.argv[1], 'w').write(f'{child.pid}\\n')\n"
        "print('ready', flush=True)\n"
        "child.wait()"
    )

    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        process.run(python(script, str(grandchild)), on_line=interrupt)
    await_gone([int(await_text(grandchild))])


def test_a_child_writes_its_log_and_its_end_is_announced(tmp_path: Path) -> None:
    announced = threading.Event()
    seen: list[Child] = []

    def on_exit(child: Child) -> None:
        seen.append(child)
        announced.set()

    child = process.spawn(
        "worker",
        python("import os, sys; print(os.environ['ADDED']); print('bad', file=sys.stderr); sys.exit(4)"),
        log=tmp_path / "worker.log",
        env={"ADDED": "yes"},
        on_exit=on_exit,
    )
    assert announced.wait(PATIENCE_SECONDS)
    assert seen == [child]
    assert child.died
    assert child.exit_code == 4
    assert set(child.tail().splitlines()) == {"yes", "bad"}
    description = child.describe_end()
    assert description.startswith(f"worker (pid {child.pid}) exited with code 4. Last lines of its log:\n")
    assert description.endswith(child.tail())
    child.stop()


def test_a_child_that_was_killed_is_said_to_be(tmp_path: Path) -> None:
    child = process.spawn("worker", python(WAITS_FOR_ITS_LIFELINE), log=tmp_path / "worker.log")
    await_text(child.log)
    assert child.exit_code is None
    assert not child.died
    os.kill(child.pid, signal.SIGKILL)
    assert "was ended by signal 9" in ended(child).describe_end()
    assert child.died
    child.stop()


def test_a_stopped_child_has_not_died(tmp_path: Path) -> None:
    child = process.spawn("worker", python(WAITS_FOR_ITS_LIFELINE), log=tmp_path / "worker.log")
    await_text(child.log)
    child.stop(grace_seconds=PATIENCE_SECONDS)
    assert child.exit_code == -signal.SIGTERM
    assert not child.died
    child.stop()


def test_a_child_that_will_not_go_is_made_to(tmp_path: Path) -> None:
    child = process.spawn("stubborn", python(IGNORES_TERM), log=tmp_path / "stubborn.log")
    await_text(child.log)
    child.stop(grace_seconds=0.05)
    assert child.exit_code == -signal.SIGKILL


def test_kill_does_not_ask_first(tmp_path: Path) -> None:
    child = process.spawn("worker", python(WAITS_FOR_ITS_LIFELINE), log=tmp_path / "worker.log")
    child.kill()
    assert child.exit_code == -signal.SIGKILL
    assert is_gone(child.pid)


def test_a_held_child_begins_when_it_is_released(tmp_path: Path) -> None:
    script = "import sys; sys.stdin.buffer.read(1); print('begun', flush=True); sys.stdin.read()"
    child = process.spawn("held", python(script), log=tmp_path / "held.log")
    assert child.tail() == "(nothing)"
    child.release()
    assert await_text(child.log) == "begun\n"
    child.stop()


def test_releasing_a_child_that_has_ended_is_harmless(tmp_path: Path) -> None:
    child = ended(process.spawn("gone", python("pass"), log=tmp_path / "gone.log"))
    child.release()
    child.stop()


def test_releasing_a_child_that_was_stopped_is_harmless(tmp_path: Path) -> None:
    child = process.spawn("gone", python(WAITS_FOR_ITS_LIFELINE), log=tmp_path / "gone.log")
    child.stop()
    child.release()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_until_what_must_be_whole_is_done(number: signal.Signals) -> None:
    done: list[str] = []

    def interrupt(number: int, frame: object) -> None:
        done.append("interrupted")
        raise KeyboardInterrupt

    def work() -> None:
        with process.undisturbed():
            os.kill(os.getpid(), number)
            done.append("worked")

    before = signal.signal(number, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        assert done == ["worked", "interrupted"]
        assert signal.getsignal(number) is interrupt
    finally:
        signal.signal(number, before)


def test_other_threads_are_never_disturbed_and_change_nothing() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen: list[object] = []

    def work() -> None:
        with process.undisturbed():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


def test_a_child_is_out_of_reach_of_our_terminal(tmp_path: Path) -> None:
    """Ctrl-C goes to a whole process group; children are stopped by us, in their order."""
    child = process.spawn("worker", python(WAITS_FOR_ITS_LIFELINE), log=tmp_path / "worker.log")
    assert os.getpgid(child.pid) != os.getpgid(0)
    child.stop()


def test_no_child_outlives_its_owner_not_even_after_kill_9(tmp_path: Path) -> None:
    script = (
        "import sys, signal\n"
        "from pathlib import Path\n"
        "from harness.process import spawn\n"
        f"spawn('child', [sys.executable, '-c', {WAITS_FOR_ITS_LIFELINE!r}], log=Path(sys.argv[1]))\n"
        "signal.pause()"
    )
    owner = process.spawn("owner", python(script, str(tmp_path / "child.log")), log=tmp_path / "owner.log")
    child = int(await_text(tmp_path / "child.log"))
    assert not is_gone(child)
    os.kill(owner.pid, signal.SIGKILL)
    await_gone([child])
    owner.stop()


@pytest.mark.skipif(not shutil.which("setpriv"), reason="setpriv is not installed: run cannot ask the kernel for this")
def test_a_command_that_knows_no_lifeline_ends_with_its_owner(tmp_path: Path) -> None:
    """As a compiler does, which would go on for minutes."""
    code = "import os, signal, sys; open(sys.argv[1], 'w').write(f'{os.getpid()}\\n'); signal.pause()"
    script = f"import sys; from harness.process import run; run([sys.executable, '-c', {code!r}, sys.argv[1]])"
    owner = process.spawn("owner", python(script, str(tmp_path / "pid")), log=tmp_path / "owner.log")
    command = int(await_text(tmp_path / "pid"))
    os.kill(owner.pid, signal.SIGKILL)
    await_gone([command])
    owner.stop()


def test_a_detached_process_outlives_its_starter(tmp_path: Path) -> None:
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from harness.process import detach\n"
        "code = \"import os, signal; print('up', flush=True); os.close(1); signal.pause()\"\n"
        "pid, output = detach([sys.executable, '-c', code], log=Path(sys.argv[1]))\n"
        "print(output.readline().strip(), pid)"
    )
    word, pid = process.run(python(script, str(tmp_path / "log"))).split()
    assert word == "up"
    assert not is_gone(int(pid))
    os.kill(int(pid), signal.SIGKILL)
    await_gone([int(pid)])


def test_the_tail_of_a_log_is_short_and_of_a_missing_one_a_word(tmp_path: Path) -> None:
    log = tmp_path / "long.log"
    log.write_text("".join(f"line {number} {'x' * 40}\n" for number in range(5000)))
    assert process.tail(log, lines=2).split()[:2] == ["line", "4998"]
    assert len(process.tail(log).splitlines()) == process.TAIL_LINES
    assert process.tail(tmp_path / "none.log").startswith("(no log:")
