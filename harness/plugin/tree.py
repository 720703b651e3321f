"""Lays out a Go module with some files changed, without copying the rest.

`go build -overlay` must not replace files of the module cache. So the module is replaced by a folder of links: real
folders along the way to what is changed, links to the original everywhere else. Packages that did not change keep their
place in Go's build cache, because under -trimpath it knows them by module, version and content.
"""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

# Of another world: a workspace of the original's authors.
_LEFT_OUT = {"go.work", "go.work.sum", "vendor"}


def plant(original: Path, changed: Mapping[PurePosixPath, Path], into: Path) -> None:
    """Make `into` look like `original`, except for the files that `changed` has others for, or has in addition."""
    into.mkdir()
    groups: dict[str, dict[PurePosixPath, Path]] = {}
    for path, file in changed.items():
        groups.setdefault(path.parts[0], {})[PurePosixPath(*path.parts[1:])] = file
    if original.is_dir():
        for entry in original.iterdir():
            if entry.name not in groups and entry.name not in _LEFT_OUT:
                (into / entry.name).symlink_to(entry)
    for name, below in groups.items():
        if PurePosixPath() in below:
            (into / name).symlink_to(below[PurePosixPath()])
        else:
            plant(original / name, below, into / name)
