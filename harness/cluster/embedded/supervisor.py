"""Keeps the parts of one control plane: starts them, notices at once when one dies, ends them all."""

import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from harness.clock import WaitTimeoutError, wait_until
from harness.cluster.base import Program
from harness.errors import ClusterError, SchedulerDied
from harness.process import Child, spawn, undisturbed

Value = TypeVar("Value")

START_TIMEOUT_SECONDS = 60.0
SCHEDULER = "kube-scheduler"


class Supervisor:
    """The processes of one cluster. A context manager: none of them outlives it.

    `program` is what parts are started from that bring none of their own; None where all of them do.
    """

    def __init__(self, program: Path | None, logs: Path) -> None:
        logs.mkdir(mode=0o700)
        self._program = program
        self._logs = logs
        self._children: list[Child] = []
        self._schedulers: list[Child] = []
        self._lock = threading.Lock()
        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Killed, not asked: nobody needs the data, and a kube-apiserver without etcd takes long to leave by itself.
        with undisturbed(), self._lock:
            self._ended = True
            for child in reversed(self._children):
                child.kill()

    def start(
        self,
        part: str,
        arguments: Sequence[str],
        *,
        name: str | None = None,
        held: bool = False,
        program: Program | None = None,
    ) -> Child:
        """Start a part, of another program if one is given; a held one loads itself and then waits for `release`."""
        name = name or part
        # A stranger's program is ended by its guard, which also keeps our end of the lifeline from it.
        stranger = program is not None and program.guarded
        lifeline = {} if stranger else {"CONTROLPLANE_LIFELINE": "stdin-held" if held else "stdin"}
        with undisturbed():
            child = spawn(
                name,
                self.command(part, arguments, program),
                log=self._logs / f"{name}.log",
                env={**lifeline, **(program.env if program else {})},
                guarded=stranger,
            )
            with self._lock:
                self._children.append(child)
                if part == SCHEDULER:
                    self._schedulers.append(child)
        return child

    def command(self, part: str, arguments: Sequence[str], program: Program | None = None) -> list[str]:
        """Return the command line that a part is started with."""
        if program is None:
            if self._program is None:
                raise ClusterError(f"{part}: no program to start it from")
            return [str(self._program), part, *arguments]
        return [*program.command, *(arguments if program.takes_flags else ())]

    def stop(self, child: Child) -> None:
        """End one part and forget it."""
        child.stop()
        with self._lock:
            self._children.remove(child)
            if child in self._schedulers:
                self._schedulers.remove(child)

    def pids(self) -> Mapping[str, int]:
        """Return the process id of each part."""
        with self._lock:
            return {child.name: child.pid for child in self._children}

    def logs(self) -> Mapping[str, Path]:
        """Return every log file there is, also of parts that have ended."""
        return {path.stem: path for path in sorted(self._logs.glob("*.log"))}

    def check(self) -> None:
        """Raise when a part ended by itself, or when all were ended: nobody need wait for them any more."""
        if self._ended:
            raise ClusterError("the cluster has been ended")
        with self._lock:
            dead = [child for child in self._children if child.died]
        if dead:
            kind = SchedulerDied if all(child in self._schedulers for child in dead) else ClusterError
            raise kind("the cluster lost a part: " + "; ".join(child.describe_end() for child in dead))

    def wait(
        self, check: Callable[[], Value | None], what: str, timeout_seconds: float = START_TIMEOUT_SECONDS
    ) -> Value:
        """Wait for something of a part's, but never longer than every part lives."""

        def checked() -> Value | None:
            self.check()
            return check()

        try:
            return wait_until(checked, what=what, timeout_seconds=timeout_seconds, poll_seconds=0.01)
        except WaitTimeoutError as error:
            tails = "\n".join(f"--- {child.name}: {child.log}\n{child.tail()}" for child in self._children)
            raise ClusterError(f"{error}; every part still runs. Their last words:\n{tails}") from error

    def await_socket(self, path: Path) -> None:
        """Wait until something accepts connections on a Unix socket."""

        def accepts() -> bool:
            with socket.socket(socket.AF_UNIX) as probe:
                try:
                    probe.connect(str(path))
                except OSError:
                    return False
                return True

        self.wait(accepts, f"{path.name} accepting connections")
