"""Changed sources of Kubernetes that a user brings, in the layout of its source tree."""

import difflib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

import yaml

from harness.errors import InputError
from harness.files import read_text
from harness.scenario.words import listed, shown

KUBERNETES = "k8s.io/kubernetes"
EDITS = ".edits.yaml"
_STAGING = PurePosixPath("staging/src")
_STAGED_PARTS = 4
_NEAR = 3

Changed = dict[str, dict[PurePosixPath, Path]]
"""By module, each changed or added file and where the user keeps it."""


def read(folder: Path) -> Changed:
    """Return the sources in a folder; notes and hidden files in it are none.

    Raises:
        InputError: there is no such folder, or nothing in it, or an edit in it is none.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; name one with changed files, such as pkg/scheduler/scheduler.go")
    changed: Changed = {}
    for file in _files(folder.resolve()):
        path = PurePosixPath(file.relative_to(folder.resolve()).as_posix())
        if len(path.parts) == 1 and path.suffix != ".go":
            continue
        if file.name.endswith(EDITS):
            _edits(file)
        meant = path.with_name(path.name.removesuffix(EDITS))
        module, inside = _placed(meant)
        changed.setdefault(module, {})[inside] = file
    if not changed:
        raise InputError(
            f"{folder}: no changed files there; lay them out as in Kubernetes' source tree: pkg/scheduler/scheduler.go"
        )
    return changed


def edited(
    changed: Mapping[PurePosixPath, Path], original: Path, version: str, into: Path
) -> dict[PurePosixPath, Path]:
    """Return the changed files, those made that are told by edits: FILE.edits.yaml lists what is replaced in FILE.

    An edit says only what differs, so one may fit several releases; its old text has to be there exactly once.

    Raises:
        InputError: an edit is none, or does not fit this release.
    """
    made = {}
    for path, file in changed.items():
        if not file.name.endswith(EDITS):
            made[path] = file
            continue
        source = original / path
        if not source.is_file():
            raise InputError(f"{file}: Kubernetes {version} has no {path}; near ones: {listed(_near(path, original))}")
        target = into / str(path).replace("/", "_")
        into.mkdir(parents=True, exist_ok=True)
        target.write_text(_applied(source.read_text(encoding="utf-8"), file, version), encoding="utf-8")
        made[path] = target
    return made


def _applied(text: str, file: Path, version: str) -> str:
    for number, edit in enumerate(_edits(file), start=1):
        count = text.count(edit["old"])
        if count != 1:
            raise InputError(
                f"{file}: edit {number}: its old text is {count} times in Kubernetes {version}, once expected"
            )
        text = text.replace(edit["old"], edit["new"])
    return text


def _edits(file: Path) -> list[dict[str, str]]:
    """Return the edits of a file.

    Raises:
        InputError: it is no YAML, or lists something else.
    """
    try:
        edits = yaml.safe_load(read_text(file))
    except yaml.YAMLError as error:
        raise InputError(f"{file}: no YAML: {error}") from error
    if not isinstance(edits, list) or not all(isinstance(one, dict) and {"old", "new"} == one.keys() for one in edits):
        raise InputError(f"{file}: a list of {{old: …, new: …}} expected")
    for number, edit in enumerate(edits, start=1):
        for key, value in edit.items():
            if not isinstance(value, str):
                raise InputError(f"{file}: edit {number}: {key}: {shown(value)} seen, text expected; quote it")
    return edits


def check(changed: Mapping[PurePosixPath, Path], original: Path, version: str) -> None:
    """Refuse a file that replaces none and that no changed file needs: it was meant to be another one.

    Raises:
        InputError: there is such a file; lists those with a similar path.
    """
    accepted = {path for path in changed if (original / path).is_file()}
    waiting = set(changed) - accepted
    texts = [changed[path].read_text(encoding="utf-8", errors="replace") for path in accepted]
    while needed := {path for path in waiting if _is_needed(path, accepted, texts)}:
        texts += [changed[path].read_text(encoding="utf-8", errors="replace") for path in needed]
        accepted |= needed
        waiting -= needed
    for path in sorted(waiting):
        raise InputError(
            f"{changed[path]}: Kubernetes {version} has no {path}, and no changed file needs it; "
            f"near ones: {listed(_near(path, original))}"
        )


def _placed(path: PurePosixPath) -> tuple[str, PurePosixPath]:
    """Return the module that a path of the source tree belongs to, and its path in there."""
    if path.is_relative_to(_STAGING) and len(path.parts) > _STAGED_PARTS:
        return "/".join(path.parts[2:_STAGED_PARTS]), PurePosixPath(*path.parts[_STAGED_PARTS:])
    return KUBERNETES, path


def _is_needed(path: PurePosixPath, accepted: set[PurePosixPath], texts: list[str]) -> bool:
    beside = any(one.parent == path.parent for one in accepted)
    return beside or any(f'/{path.parent}"' in text for text in texts)


def _near(path: PurePosixPath, original: Path) -> list[str]:
    known = [file.relative_to(original).as_posix() for file in _files(original) if file.suffix == path.suffix]
    same_name = [one for one in known if PurePosixPath(one).name == path.name]
    return difflib.get_close_matches(str(path), same_name or known, n=_NEAR, cutoff=0.0 if same_name else 0.6)


def _files(folder: Path) -> Iterator[Path]:
    for parent, below, names in os.walk(folder):
        below[:] = sorted(name for name in below if not name.startswith("."))
        yield from (Path(parent) / name for name in sorted(names) if not name.startswith("."))
