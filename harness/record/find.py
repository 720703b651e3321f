"""Finds a record by what a person would type: a path, an id, the beginning of an id, or `latest`."""

import difflib
from pathlib import Path

from harness.errors import RecordError
from harness.record.read import read_meta

LATEST = "latest"
_SHOWN_MAX = 5
# `20261116-053610` at the beginning of an id.
_STAMP_CHARACTERS = 15


def resolve(name: str, root: Path) -> Path:
    """Return the folder of the record that `name` means; `root` holds all records.

    Raises:
        RecordError: nothing fits, or more than one record does; the message lists the nearest.
    """
    given = Path(name)
    if name and (given / "run.json").is_file():
        return given
    if given.name == "run.json" and given.is_file():
        return given.parent
    known = ids(root)
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


def ids(root: Path) -> list[str]:
    """Return the ids of all records under `root`, oldest first."""
    if not root.is_dir():
        return []
    return sorted(folder.name for folder in root.iterdir() if (folder / "run.json").is_file())


def _latest(known: list[str], root: Path) -> str:
    """Return the newest id; ids of the same second are told apart by the start that their run.json states."""
    stamp = known[-1][:_STAMP_CHARACTERS]
    tied = [one for one in known if one.startswith(stamp)]
    return tied[0] if len(tied) == 1 else max(tied, key=lambda one: (read_meta(root / one).started_at, one))


def _listed(names: list[str]) -> str:
    rest = len(names) - _SHOWN_MAX
    return ", ".join(names[:_SHOWN_MAX]) + (f" and {rest} more" if rest > 0 else "")
