"""Whom a kind cluster belongs to, written where each of its containers shows it, and the proof that this owner is gone.

It is the *path* of a mount. kind gives its containers labels of its own and takes none of ours, and a label of Docker
cannot be added later; but kind mounts what its configuration names, and Docker shows the mounts of a container. So the
mark is there from the first moment of the first container on, in a cluster that is half made or stopped, when every
folder of ours is gone, and nobody can change it. A label of the nodes in Kubernetes would need an API server that
answers; a file inside comes later than its container; a file in a folder of this machine is lost with the folder.

A pid alone proves nothing: it is given again, and means another process elsewhere. What the mark holds beside it tells
the machine, its boot, the pids' namespace and the user apart, and when the process was started.
"""

import os
import platform
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Self
from urllib.parse import quote, unquote

PLACE = "/harness-owner"
PROCESSES = Path("/proc")
MACHINE_FILES = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
UNKNOWN = "unknown"
_ENDED = ("Z", "X", "x")


@dataclass(frozen=True)
class Owner:
    """The process that made a cluster, and whether the cluster was to outlast it."""

    machine: str
    host: str
    boot: str
    namespace: str
    user: str
    process: str
    started: str
    keep: str

    @classmethod
    def here(cls, *, keep: bool) -> Self:
        """Return this process; what the system does not tell is empty."""
        return cls(
            machine=next(filter(None, map(_read, MACHINE_FILES)), ""),
            host=platform.node(),
            boot=_read(PROCESSES / "sys/kernel/random/boot_id"),
            namespace=_number(PROCESSES / "self/ns/pid"),
            user=str(os.getuid()),
            process=str(os.getpid()),
            started=_started(str(os.getpid())) or "",
            keep="yes" if keep else "no",
        )

    @property
    def place(self) -> str:
        """Return the path that says all this."""
        return "/".join((PLACE, *(f"{name}={quote(value, safe='')}" for name, value in asdict(self).items())))

    @classmethod
    def parse(cls, place: str) -> Self | None:
        """Return the owner that a path tells of, None if it tells of none."""
        if not place.startswith(f"{PLACE}/"):
            return None
        pairs = (part.partition("=") for part in place.removeprefix(f"{PLACE}/").split("/"))
        told = {name: unquote(value) for name, _, value in pairs}
        # What a later harness adds is none of our business; what is missing proves nothing.
        return cls(**{field.name: told.get(field.name, "") for field in fields(cls)})

    @property
    def lives(self) -> bool:
        """Tell whether it is certain that the process is still there."""
        return self._is_visible() and _started(self.process) == self.started

    def doubt(self) -> str | None:
        """Say why it is not certain that nobody needs the cluster any more; None if it is."""
        us = type(self).here(keep=False)
        if not all(asdict(self).values()) or not all(asdict(us).values()):
            return "this system does not tell for certain which process made it"
        if self.keep != "no":
            return "it was made to be kept"
        if (self.machine, self.host) != (us.machine, us.host):
            return f"it was made on another machine ({self.host})"
        if self.user != us.user:
            return f"it was made by another user (uid {self.user})"
        if self.boot != us.boot:
            # Nothing that ran before this machine was started runs now.
            return None
        if self.namespace != us.namespace:
            return "it was made in another container of this machine, whose processes cannot be seen from here"
        is_there = _started(self.process) in {self.started, UNKNOWN}
        return f"process {self.process} uses it" if is_there else None

    def _is_visible(self) -> bool:
        us = type(self).here(keep=False)
        return bool(self.boot and self.started) and (self.boot, self.namespace) == (us.boot, us.namespace)


def _started(process: str) -> str | None:
    """Return when a process was started, in ticks of this boot; None if it has ended or there are no such files."""
    try:
        # The name before it may have blanks and brackets.
        fields_ = (PROCESSES / process / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    except OSError:
        return UNKNOWN
    state, threads, started = fields_[0], fields_[17], fields_[19]
    # One that nobody has collected yet has ended, unless only its first thread has.
    return None if state in _ENDED and int(threads) <= 1 else started


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _number(path: Path) -> str:
    """Return which namespace a link is about; its target is a word and a number in brackets."""
    try:
        return "".join(filter(str.isdecimal, path.readlink().name))
    except OSError:
        return ""
