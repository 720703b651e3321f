"""Temporary folders that survive nobody: the owner holds a lock, so one whose owner was killed is told and removed.

They lie below the state folder, whose path is short: sockets may be made in them.
"""

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from harness.errors import HarnessError
from harness.paths import state_folder

FOLDER = "tmp"
LOCK = ".lock"


@contextlib.contextmanager
def folder(what: str) -> Iterator[Path]:
    """Make a private folder, and remove it at the end; also those that killed owners left behind.

    Args:
        what: the beginning of its name, for a person who looks around there.

    Raises:
        HarnessError: it cannot be made, for example because the disk is full.
    """
    remove_abandoned()
    path = _all() / f"{what}-{secrets.token_hex(3)}"
    # The lock first: a folder without one is taken for abandoned. Whoever begins may end it in another thread.
    lock = FileLock(_lock_of(path), timeout=0, thread_local=False)
    try:
        lock.acquire()
        path.mkdir(mode=0o700)
    except (OSError, Timeout) as error:
        lock.release()
        reason = getattr(error, "strerror", None) or "somebody else has it"
        raise HarnessError(f"{path}: {reason}; free some room or set HARNESS_STATE to another folder") from error
    try:
        yield path
    finally:
        _remove(path)
        give_back(lock)


def remove_abandoned() -> list[str]:
    """Remove the folders whose owners are gone; return their names."""
    removed = []
    for path in sorted(_all().iterdir()):
        # A lock without a folder is of one that was killed in between.
        made = path if path.suffix != LOCK else path.with_suffix("")
        # On a full disk nothing can be locked; whoever comes later removes it.
        with contextlib.suppress(OSError):
            if lock := unowned(_lock_of(made)):
                if made.is_dir():
                    _remove(made)
                    removed.append(made.name)
                give_back(lock)
    return removed


def unowned(path: Path) -> FileLock | None:
    """Return the lock of a file, taken, if nobody holds it."""
    lock = FileLock(path, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        return None
    return lock


def give_back(lock: FileLock) -> None:
    """Release a lock and remove its file.

    In this order: whoever opened the file before finds, when it gets the lock, that it has no name any more, and makes
    another. The other way round, it could remove the file of the next owner.
    """
    Path(lock.lock_file).unlink(missing_ok=True)
    lock.release()


def _remove(path: Path) -> None:
    # Go makes copies of its modules read-only, and what is in such a folder cannot be removed.
    for parent, _, _ in os.walk(path):
        with contextlib.suppress(OSError):
            os.chmod(parent, 0o700)  # noqa: PTH101 - one word for one of many
    shutil.rmtree(path, ignore_errors=True)


def _lock_of(path: Path) -> Path:
    return path.with_name(f"{path.name}{LOCK}")


def _all() -> Path:
    # Whole: programs that run in other folders are told of it.
    path = (state_folder() / FOLDER).absolute()
    path.mkdir(mode=0o700, exist_ok=True)
    return path
