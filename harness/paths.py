"""Where things are kept. Environment variables that move them: HARNESS_CACHE, HARNESS_STATE, HARNESS_RUNS."""

import os
import tempfile
from pathlib import Path

import platformdirs

from harness.errors import InputError

PACKAGE = Path(__file__).parent


def cache_folder() -> Path:
    """Return the folder of what is slow to make and safe to delete: built control planes and their first state."""
    override = os.environ.get("HARNESS_CACHE")
    return Path(override) if override else platformdirs.user_cache_path("scheduler-harness")


def state_folder() -> Path:
    """Return the private folder of everything that runs now: clusters, temporary folders.

    Short on purpose: etcd's socket lies below it, and a socket's path may have only about a hundred characters.
    """
    override = os.environ.get("HARNESS_STATE")
    return _private(Path(override), "HARNESS_STATE") if override else machine_folder()


def machine_folder() -> Path:
    """Return the private folder of what a user's runs share whatever their state folders: reserved ports."""
    return _private(Path(tempfile.gettempdir()) / f"harness-{os.getuid()}", "TMPDIR")


def _private(folder: Path, variable: str) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        # Anybody may have made a folder of this name in a shared place; keys do not go there.
        raise InputError(f"{folder}: belongs to another user; set {variable} to a folder of yours")
    return folder


def runs_folder() -> Path:
    """Return the folder of saved records."""
    return Path(os.environ.get("HARNESS_RUNS", "reports/runs"))


def shipped(name: str) -> Path:
    """Return a folder that ships with the harness ("controlplane", "scenarios"), in a checkout or a wheel."""
    checkout = PACKAGE.parent / name
    return checkout if (PACKAGE.parent / "pyproject.toml").exists() else PACKAGE / "shipped" / name
