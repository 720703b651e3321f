"""Runs one command and ends it, with everything it started, as soon as standard input ends.

A program of the harness: `process.spawn(…, guarded=True)` puts it before a command that knows no lifeline. The command
has a process group of its own and an empty standard input; its end, code or signal, is the guard's own end. Imports
nothing of the harness, so that it starts at once.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys
from types import FrameType

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
NOT_STARTED_CODE = 127
LIFELINE = 0


class Guard:
    """One command under watch."""

    def __init__(self, command: list[str]) -> None:
        self._wake, wake = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self._status: int | None = None
        self._stopping = False
        # Whoever loses its parent below us becomes our child, so that nobody can hide.
        _prctl(PR_SET_CHILD_SUBREAPER, 1)
        held = signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
        for number in PASSED_ON:
            signal.signal(number, self._pass_on)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self._pid = os.fork()
        if self._pid == 0:
            _become(command, held)
        # Done on both sides: nobody knows which of the two comes first.
        with contextlib.suppress(OSError):
            os.setpgid(self._pid, self._pid)
        signal.pthread_sigmask(signal.SIG_SETMASK, held)

    def watch(self) -> int:
        """Return the command's status as `waitpid` gives it, when nothing of it is left."""
        while True:
            ready, _, _ = select.select([LIFELINE, self._wake], [], [])
            if LIFELINE in ready and not os.read(LIFELINE, 4096):
                self._sweep()
                break
            with contextlib.suppress(BlockingIOError):
                os.read(self._wake, 4096)
            if not self._collect(os.WNOHANG):
                break
            # Asked to stop, what belongs to the command may take its time; after an end of its own nothing may stay.
            if self._status is not None and not self._stopping:
                self._sweep()
                break
        return self._status or 0

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        self._stopping = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pid, number)

    def _collect(self, options: int) -> bool:
        """Take note of who has ended; return whether anybody is left."""
        try:
            while True:
                pid, status = os.waitpid(-1, options)
                if pid == 0:
                    return True
                if pid == self._pid:
                    self._status = status
                if not options:
                    return True
        except ChildProcessError:
            return False

    def _sweep(self) -> None:
        """End everything below us. The children of a dead child become ours, until there are none."""
        left = True
        while left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)
            for pid in _children():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            left = self._collect(0)


def _become(command: list[str], mask: set[int | signal.Signals]) -> None:
    """Turn the fresh child into the command; never returns."""
    try:
        os.setpgid(0, 0)
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # Python ignores these two, and a command would inherit that.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        for number in PASSED_ON:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.dup2(os.open(os.devnull, os.O_RDONLY), LIFELINE)
        os.execvp(command[0], command)  # noqa: S606 - this is what the program is for
    except OSError as error:
        os.write(2, f"{command[0]}: cannot be started: {error.strerror}\n".encode())
    finally:
        os._exit(NOT_STARTED_CODE)


def _prctl(option: int, value: int) -> None:
    # Where the system has no such call, the process group alone has to do.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _children() -> list[int]:
    """Return our direct children, as far as the system tells."""
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():  # noqa: PTH112, PTH208 - starts faster
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as stream:  # noqa: PTH123 - see above
                fields = stream.read().rpartition(b")")[2].split()
                if int(fields[1]) == os.getpid():
                    found.append(int(name))
    return found


def main() -> None:
    """Guard the command given as arguments, and end as it ended."""
    status = Guard(sys.argv[1:]).watch()
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
