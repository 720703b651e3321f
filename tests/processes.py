"""Looks at processes from outside, for tests about what must not survive."""

import sys
from collections.abc import Iterable
from pathlib import Path

import psutil

from harness.clock import wait_until

PATIENCE_SECONDS = 30.0
"""Deadline of every wait: far more than anything takes, so that a busy machine fails no test."""


def python(script: str, *arguments: str) -> list[str]:
    """Return the command line that runs a script."""
    return [sys.executable, "-c", script, *arguments]


def is_gone(pid: int) -> bool:
    """Return whether a process has ended; one that nobody has collected yet has."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def await_gone(pids: Iterable[int], timeout_seconds: float = PATIENCE_SECONDS) -> None:
    every = list(pids)
    wait_until(lambda: all(map(is_gone, every)), what=f"the end of processes {every}", timeout_seconds=timeout_seconds)


def parts_of(owner: int, cluster: str = "") -> dict[str, int]:
    """Return the parts of a control plane that a process has started, by their name; of one cluster, if it is named."""
    parts = {}
    for child in psutil.Process(owner).children():
        try:
            command = child.cmdline()
        except psutil.Error:
            continue
        if command[1:] and Path(command[0]).name == "controlplane" and cluster in " ".join(command):
            parts[command[1]] = child.pid
    return parts


def await_text(path: Path, timeout_seconds: float = PATIENCE_SECONDS) -> str:
    """Wait for the first whole line of a file, and return all that it holds then."""

    def text() -> str:
        found = path.read_text() if path.exists() else ""
        return found if "\n" in found else ""

    return wait_until(text, what=f"a line in {path}", timeout_seconds=timeout_seconds)
