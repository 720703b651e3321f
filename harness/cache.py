"""Keeps what is slow to make. Two makers wait for each other, and an interrupted one leaves nothing half made."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock, Timeout

from harness import progress


def kept(folder: Path, make: Callable[[Path], None], *, what: str) -> Path:
    """Return a folder of the cache, filled by `make` if it is not there yet.

    `make` gets an empty draft folder beside it, which takes the name only when complete.
    """
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder.parent / f"{folder.name}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        progress.note(f"{what} is being made by another process; waiting for it.")
        lock.acquire()
    try:
        if not folder.exists():
            _make(folder, make)
    finally:
        lock.release()
    return folder


def _make(folder: Path, make: Callable[[Path], None]) -> None:
    for leftover in folder.parent.glob(f"{folder.name}.draft-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(prefix=f"{folder.name}.draft-", dir=folder.parent))
    try:
        make(draft)
        draft.replace(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
