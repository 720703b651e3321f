"""Runs commands and keeps children that can never outlive us.

A child gets a pipe as its standard input, its lifeline: the kernel closes our end however we end, `kill -9` included,
and the child leaves when it sees the end of it (the control plane's own binary does; see controlplane/lifeline.go).
A command of somebody else's knows nothing of that: harness/guard.py stands before it and holds the lifeline.
"""

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import IO

from harness.errors import CommandError
from harness.paths import PACKAGE

TAIL_LINES = 12
GUARD_SECONDS = 2.0


def run(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] | None = None,
) -> str:
    """Run a command to its end and return what it printed, both streams together.

    Args:
        command: program and arguments; no shell is involved.
        cwd: where to run it.
        env: variables added to our own.
        on_line: called with each line as it comes, for progress.

    Raises:
        CommandError: the command failed; an interrupted command is ended with its whole process group.
    """
    process = subprocess.Popen(
        [*ends_with_us(), *command],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    lines: deque[str] = deque(maxlen=10_000)
    try:
        for line in process.stdout or ():
            lines.append(line)
            if on_line:
                on_line(line.rstrip())
        code = process.wait()
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    finally:
        if process.stdout:
            process.stdout.close()
    if code:
        raise CommandError(command, code, "".join(lines))
    return "".join(lines)


@functools.cache
def ends_with_us() -> tuple[str, ...]:
    """Return what makes a command that knows no lifeline end when we are killed, where the system offers it.

    The kernel watches the thread that starts the command, and `run` keeps that thread until the command has ended.
    """
    setpriv = shutil.which("setpriv") if sys.platform == "linux" else None
    return (setpriv, "--pdeathsig", "KILL", "--") if setpriv else ()


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM until the context ends, for what must be done whole or not at all.

    A child that was started but not yet written down anywhere would be stopped by nobody.
    """
    if threading.current_thread() is not threading.main_thread():
        # Signals only ever disturb the main thread.
        yield
        return
    held: list[tuple[signal.Signals, FrameType | None]] = []

    def hold(number: int, frame: FrameType | None) -> None:
        held.append((signal.Signals(number), frame))

    before = {number: signal.signal(number, hold) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number, frame in held[:1]:
            handler = before[number]
            if callable(handler):
                handler(number, frame)
            elif handler is signal.SIG_DFL:
                signal.raise_signal(number)


class Child:
    """A process of ours, with its log in a file.

    It is in a session of its own: Ctrl-C reaches only us, and we stop children in the order that suits them.
    """

    def __init__(self, name: str, process: "subprocess.Popen[bytes]", log: Path, *, guarded: bool = False) -> None:
        self.name = name
        self.log = log
        self.guarded = guarded
        self._process = process
        self._stopping = False
        self.ended = threading.Event()

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Return the exit code, or None while it runs."""
        return self._process.returncode

    @property
    def died(self) -> bool:
        """Return whether it ended without having been asked to."""
        return not self._stopping and self._has_ended()

    def release(self) -> None:
        """Let a child that was started held begin its work."""
        self._write_lifeline(b"\n")

    def stop(self, *, grace_seconds: float = 3.0) -> None:
        """End it: ask politely, then insist. Calling it twice is harmless."""
        self._stopping = True
        self._signal(signal.SIGTERM)
        if not self.ended.wait(grace_seconds):
            self._insist()
            self.ended.wait()
        self._close_lifeline()

    def kill(self) -> None:
        """End it at once, for a child whose data nobody needs any more."""
        self._stopping = True
        self._insist()
        self.stop()

    def tail(self) -> str:
        """Return the last lines of its log."""
        return tail(self.log)

    def describe_end(self) -> str:
        """Say how it ended and what it said last; where its log is would be of no use, a run's folder goes with it."""
        code = self.exit_code
        how = f"was ended by signal {-code}" if code is not None and code < 0 else f"exited with code {code}"
        return f"{self.name} (pid {self.pid}) {how}. Last lines of its log:\n{self.tail()}"

    def _has_ended(self) -> bool:
        if self.ended.is_set() or not hasattr(os, "waitid"):
            return self.ended.is_set()
        # Asked of the kernel: the thread that waits may not have had its turn yet.
        try:
            gone = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            gone = True
        return gone and self.ended.wait(1.0)

    def _signal(self, number: int) -> None:
        if not self.ended.is_set():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def _insist(self) -> None:
        if self.guarded:
            # The guard knows everything that the command started, also what left its process group.
            self._close_lifeline()
            if self.ended.wait(GUARD_SECONDS):
                return
        self._signal(signal.SIGKILL)

    def _close_lifeline(self) -> None:
        if self._process.stdin:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def _write_lifeline(self, data: bytes) -> None:
        if self._process.stdin:
            # A child that died or was stopped already cannot be released; its end is told by whoever watches it.
            with contextlib.suppress(BrokenPipeError, ValueError):
                self._process.stdin.write(data)
                self._process.stdin.flush()


def spawn(  # noqa: PLR0913 - what a process is started with
    name: str,
    command: Sequence[str],
    *,
    log: Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    guarded: bool = False,
    on_exit: Callable[[Child], None] | None = None,
) -> Child:
    """Start a child with a lifeline; `on_exit` is called from another thread as soon as it ends.

    A `guarded` child knows no lifeline and gets an empty standard input: it and all that it started end when we do,
    and when it ends.
    """
    # Isolated and without site packages, the guard is up in a few hundredths of a second.
    guard = [sys.executable, "-I", "-S", str(PACKAGE / "guard.py")] if guarded else []
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*guard, *command],
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    child = Child(name, process, log, guarded=guarded)

    def watch() -> None:
        process.wait()
        child.ended.set()
        if on_exit:
            on_exit(child)

    threading.Thread(target=watch, name=f"watch-{name}", daemon=True).start()
    return child


def detach(command: Sequence[str], *, log: Path) -> "tuple[int, IO[str]]":
    """Start a process that outlives us; return its id and a stream of what it prints until it closes it."""
    with log.open("ab") as errors:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
    if process.stdout is None:  # pragma: no cover - PIPE always gives one
        raise CommandError(command, 0, "no output stream")
    return process.pid, process.stdout


def family_cpu_seconds(pid: int) -> float | None:
    """Return the CPU time of a process and of all that it started, None when it is gone."""
    # Here and not above: few who start processes measure them.
    import psutil  # noqa: PLC0415

    total = 0.0
    try:
        for one in (process := psutil.Process(pid), *process.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                times = one.cpu_times()
                total += times.user + times.system
    except psutil.Error:
        return None
    return total


def tail(log: Path, lines: int = TAIL_LINES) -> str:
    """Return the last lines of a log file, or a word that there is none."""
    try:
        with log.open("rb") as stream:
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - 16_384))
            text = stream.read().decode(errors="replace")
    except OSError as error:
        return f"(no log: {error})"
    return "\n".join(text.splitlines()[-lines:]) or "(nothing)"
