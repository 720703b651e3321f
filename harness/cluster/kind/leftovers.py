"""Deletes the kind clusters of runs that crashed: those whose folder is here and whose owner is gone."""

import shutil
from pathlib import Path

from harness.cluster.folder import folders
from harness.cluster.kind.creation import LABEL, delete
from harness.cluster.kind.tools import docker, unavailable
from harness.errors import CommandError

NAME_FILE = "kind.name"


def leftovers() -> list[str]:
    """Return the names of kind clusters that were being created or used by owners that are gone."""
    names = []
    for folder in folders():
        file = folder.path / NAME_FILE
        if file.exists() and not folder.is_owned():
            names.append(file.read_text().strip())
    return names


def remove_leftovers(program: Path | None = None) -> list[str]:
    """Delete what is left of clusters whose owners are gone; return the names of those that had containers."""
    abandoned = leftovers()
    if not abandoned or unavailable():
        return []
    removed = []
    for name in abandoned:
        if docker("ps", "--all", "--quiet", f"--filter=label={LABEL}={name}").split():
            removed.append(name)
        found = program or shutil.which("kind")
        try:
            delete(Path(found) if found else Path("kind"), name)
        except CommandError:
            # Told by the next one who looks: its folder stays.
            continue
        for folder in folders():
            file = folder.path / NAME_FILE
            if file.exists() and file.read_text().strip() == name and not folder.is_owned():
                shutil.rmtree(folder.path, ignore_errors=True)
    return removed
