"""Finds a record by what a person would type: a path, an id, the beginning of an id, or `latest`."""

import difflib
from collections.abc import Sequence
from pathlib import Path

import orjson

from harness.errors import RecordError
from harness.record import baseline, check, load, regress

LATEST = "latest"
RUN = "run.json"
OTHERS = (load.FILE, regress.FILE, check.FILE)
"""The files of records that are not of runs."""
ANY = (RUN, *OTHERS)
"""The files that make a folder a record: of a run, a load, a comparison of two extenders, or a check of one."""
_KINDS = {
    RUN: "a run",
    load.FILE: "a load",
    regress.FILE: "a comparison of two extenders",
    check.FILE: "a check against a baseline",
}
NEXT_MOVE = "`harness report` shows records of any kind, `harness regress` compares two extenders under load"
_SHOWN_MAX = 5
# `20261116-053610` at the beginning of an id.
_STAMP_CHARACTERS = 15


def resolve(name: str, root: Path, files: Sequence[str] = (RUN,)) -> Path:
    """Return the folder of the record that `name` means.

    Args:
        name: a path, an id, the beginning of an id, or `latest`.
        root: the folder of all records.
        files: which records are meant, by the file that each has; those of runs unless told.

    Raises:
        RecordError: nothing fits, or more than one record does; the message lists the nearest.
    """
    given = Path(name)
    if name and _is_record(given, files):
        return given
    if given.name in files and _has(given.parent, given.name):
        return given.parent
    if name:
        for folder in (given.parent if given.name in ANY else given, root / name):
            _refuse_other(folder, name, files)
    _refuse_baseline(given, name)
    known = ids(root, files)
    if not known:
        raise RecordError(f"{name}: no record seen under {root}; make one with `harness run`")
    if name == LATEST:
        return root / _latest(known, root)
    if name in known:
        return root / name
    fitting = [one for one in known if name and one.startswith(name)]
    if len(fitting) == 1:
        return root / fitting[0]
    if fitting:
        raise RecordError(
            f"{name}: {len(fitting)} records begin so, one expected; give more of the id: {_listed(fitting)}"
        )
    nearest = difflib.get_close_matches(name, known, n=_SHOWN_MAX, cutoff=0.4) or known[-_SHOWN_MAX:]
    raise RecordError(f"{name}: no such record under {root}; the nearest: {', '.join(nearest)}; or `{LATEST}`")


def file_of(folder: Path) -> str | None:
    """Return the file that says what a record is; None if the folder is none."""
    return next((file for file in ANY if _has(folder, file)), None)


def kind_seen(folder: Path) -> str | None:
    """Return what a folder is a record of, as a person says it; None if it is none."""
    file = file_of(folder)
    return _KINDS[file] if file else None


def newest(count: int, root: Path, files: Sequence[str] = (RUN,)) -> list[Path]:
    """Return the folders of the newest records under `root`, oldest first; fewer if there are fewer."""
    return [root / one for one in ids(root, files)[-count:]]


def ids(root: Path, files: Sequence[str] = (RUN,)) -> list[str]:
    """Return the ids of all records under `root`, oldest first."""
    if not root.is_dir():
        return []
    return sorted(folder.name for folder in root.iterdir() if _is_record(folder, files))


def _refuse_other(folder: Path, name: str, files: Sequence[str]) -> None:
    """Raise an error if there is a record, but of another kind than those that are meant."""
    kind = kind_seen(folder)
    if kind and not _is_record(folder, files):
        wanted = " or ".join(_KINDS[file] for file in files)
        raise RecordError(f"{name}: a record of {kind} seen, of {wanted} expected; {NEXT_MOVE}")


def _is_record(folder: Path, files: Sequence[str]) -> bool:
    return any(_has(folder, file) for file in files)


def _has(folder: Path, file: str) -> bool:
    """Tell whether a folder has a file of a record; a baseline that somebody saved there is none."""
    path = folder / file
    return path.is_file() and not (file == check.FILE and baseline.is_saved(path))


def _refuse_baseline(given: Path, name: str) -> None:
    """Raise an error if the file is a baseline: what is measured against it is a record, the file itself is not."""
    if name and given.is_file() and baseline.is_saved(given):
        raise RecordError(f"{name}: a baseline seen, a record expected; `harness baseline check` makes one against it")


def _latest(known: list[str], root: Path) -> str:
    """Return the newest id; ids of the same second are told apart by the start that the records state."""
    stamp = known[-1][:_STAMP_CHARACTERS]
    tied = [one for one in known if one.startswith(stamp)]
    return tied[0] if len(tied) == 1 else max(tied, key=lambda one: (_started_at(root / one), one))


def _started_at(folder: Path) -> str:
    """Return when a record was begun, as it says itself; nothing if it is damaged."""
    for file in ANY:
        try:
            value = orjson.loads((folder / file).read_bytes())
            return str(value.get("started_at") or value.get("taken_at") or "")
        except (OSError, ValueError, AttributeError):
            continue
    return ""


def _listed(names: list[str]) -> str:
    rest = len(names) - _SHOWN_MAX
    return ", ".join(names[:_SHOWN_MAX]) + (f" and {rest} more" if rest > 0 else "")
