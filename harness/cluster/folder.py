"""The folder of a running cluster. The owner holds its lock, so one whose owner crashed can be told and removed."""

import contextlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from harness.errors import ClusterError, InputError
from harness.paths import state_folder

DESCRIPTION = "cluster.json"
LEFT = "left"
# It becomes a folder that is emptied and removed, so it must never lead to another; and sockets want short paths.
NAME = re.compile(r"[a-z][a-z0-9-]{0,29}")


@dataclass(frozen=True)
class ClusterFolder:
    """One cluster's private folder."""

    path: Path

    @property
    def name(self) -> str:
        """Return the cluster's name."""
        return self.path.name

    @classmethod
    @contextlib.contextmanager
    def create(cls, name: str | None = None) -> "Iterator[ClusterFolder]":
        """Make the folder of a new cluster, and remove it at the end.

        Raises:
            InputError: a cluster of that name runs already, or it is no name.
            ClusterError: the folder cannot be made, for example because the disk is full.
        """
        name = f"c{secrets.token_hex(3)}" if name is None else name
        if not NAME.fullmatch(name):
            raise InputError(f'cluster "{name}": a name has 1 to 30 small letters, digits and dashes, first a letter')
        lock = FileLock(_locks() / f"{name}.lock", timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise InputError(f'cluster "{name}" runs already; "harness down {name}" ends it') from None
        path = _clusters() / name
        try:
            _make_empty(path)
            yield cls(path)
        finally:
            if not (path / LEFT).exists():
                shutil.rmtree(path, ignore_errors=True)
            lock.release()
            Path(lock.lock_file).unlink(missing_ok=True)

    def announce(self, **facts: Any) -> None:
        """Publish what others may know of this cluster; there is no such file before it is ready."""
        facts = {"name": self.name, "owner": os.getpid(), **facts}
        draft = self.path / f"{DESCRIPTION}.new"
        draft.write_text(json.dumps(facts, indent=2))
        draft.replace(self.path / DESCRIPTION)

    def leave(self) -> None:
        """Let the folder stay at the end: what it tells is needed to remove what is left elsewhere."""
        (self.path / LEFT).touch()

    def facts(self) -> dict[str, Any]:
        """Return what was announced; empty while the cluster is still starting."""
        try:
            facts: dict[str, Any] = json.loads((self.path / DESCRIPTION).read_text())
        except OSError:
            return {}
        return facts

    def is_owned(self) -> bool:
        """Return whether the process that made it still lives."""
        try:
            with FileLock(_locks() / f"{self.name}.lock", timeout=0):
                return False
        except Timeout:
            return True


def folders() -> list[ClusterFolder]:
    """Return the folder of every cluster, living or left behind."""
    return [ClusterFolder(path) for path in sorted(_clusters().iterdir()) if path.is_dir()]


def folder_of(name: str) -> ClusterFolder:
    """Return the folder of a running cluster."""
    return ClusterFolder(_clusters() / name)


def remove_abandoned(first: Callable[[ClusterFolder], bool] = lambda _: True) -> list[str]:
    """Remove the folders whose owners are gone; their processes went with the owner. Return their names.

    `first` is called for each before it is removed; one for which it returns False stays.
    """
    removed = []
    for folder in folders():
        if not folder.is_owned() and first(folder):
            shutil.rmtree(folder.path, ignore_errors=True)
            (_locks() / f"{folder.name}.lock").unlink(missing_ok=True)
            removed.append(folder.name)
    return removed


def _make_empty(path: Path) -> None:
    try:
        if path.exists():
            shutil.rmtree(path)
        path.mkdir(mode=0o700)
    except OSError as error:
        raise ClusterError(
            f"{path}: {error.strerror}; free some room or set HARNESS_STATE to another folder"
        ) from error


def _clusters() -> Path:
    path = state_folder() / "clusters"
    path.mkdir(mode=0o700, exist_ok=True)
    return path


def _locks() -> Path:
    path = state_folder() / "locks"
    path.mkdir(mode=0o700, exist_ok=True)
    return path
