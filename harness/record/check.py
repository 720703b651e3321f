"""A check against a baseline as it is kept: frozen values, and how they are read back. Pure."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import RecordError
from harness.record.judged import META, VERDICTS, document, known
from harness.record.salvage import sound
from harness.record.shape import checked

FILE = "baseline.json"
_TITLE = re.compile(r"(\w+), (\d+) (\w+)")
_WITH_INTERVAL = 3


@dataclass(frozen=True)
class CheckedRow:
    """One comparison with a baseline; `now` and `then` are ratios to the yardstick with their intervals.

    What is not known, because too little was answered, is None.
    """

    title: str
    metric: str
    then: tuple[float, float, float]
    now: tuple[float | None, float | None, float | None]
    change: tuple[float | None, float | None, float | None]
    verdict: str
    p_values: tuple[float, ...]
    mde: float | None
    pairs: int
    failure: str | None = None
    samples: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Tell whether nothing speaks against the subject."""
        return self.verdict != "REGRESSION" and self.failure is None

    @property
    def cell(self) -> tuple[str, int | None, str | None]:
        """Return the verb, the number of nodes and their form; of a title of another shape, only that."""
        found = _TITLE.fullmatch(self.title)
        return (found[1], int(found[2]), found[3]) if found else (self.title, None, None)


@dataclass(frozen=True)
class Kept:
    """What a record says of a check as a whole, which counts more than what is left of its rows."""

    verdict: str
    ok: bool


@dataclass(frozen=True)
class Checked:
    """Everything that a check found.

    `kept` is None while no row was lost, because the rows say the same then; `meta` has machine, versions and command.
    """

    subject: str
    file: str
    yardstick: str
    tolerance: float
    rows: tuple[CheckedRow, ...]
    notes: tuple[str, ...] = ()
    path: Path | None = None
    kept: Kept | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """Return the worst verdict; INCONCLUSIVE if nothing was compared."""
        seen = {row.verdict for row in self.rows} or {"INCONCLUSIVE"}
        if self.kept:
            seen.add(self.kept.verdict)
        return next(one for one in VERDICTS if one in seen)

    @property
    def failures(self) -> list[str]:
        """Return what is wrong with the subject's answers."""
        return [f"{row.title}: {row.failure}" for row in self.rows if row.failure]

    @property
    def ok(self) -> bool:
        """Tell whether nothing speaks against the subject; what is inconclusive does not."""
        return self.verdict != "REGRESSION" and not self.failures and (self.kept is None or self.kept.ok)

    def to_json(self) -> dict[str, Any]:
        """Return everything as a program reads it."""
        return {
            "subject": self.subject,
            "file": self.file,
            "yardstick": self.yardstick,
            "tolerance": self.tolerance,
            "verdict": self.verdict,
            "ok": self.ok,
            "rows": [asdict(row) for row in self.rows],
            "notes": list(self.notes),
            "record": str(self.path) if self.path else None,
        }


def read(folder: Path, problems: list[str] | None = None) -> Checked:
    """Read the check of a record.

    Args:
        folder: the record.
        problems: where to put what is damaged, a sentence each, instead of raising an error: what can be read is then
            returned.

    Raises:
        RecordError: there is none, or it is of a newer format.
    """
    path = folder / FILE
    try:
        value = document(path)
        rows = tuple(sound(value["rows"], _row, FILE, problems))
        return checked(
            Checked(
                **{name: value[name] for name in ("subject", "file", "yardstick", "tolerance")},
                rows=rows,
                notes=tuple(value["notes"]),
                path=folder,
                kept=None if len(rows) == len(value["rows"]) else _kept(value),
                meta={key: one for key, one in value.items() if key in META},
            )
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecordError(f"{path}: no check against a baseline can be read from it: {error}") from None


def _row(value: Mapping[str, Any]) -> CheckedRow:
    row = known(CheckedRow, value)
    if row.verdict not in VERDICTS:
        raise ValueError(f"verdict: one of {', '.join(VERDICTS)} expected")
    for name, numbers in (("then", row.then), ("now", row.now), ("change", row.change)):
        if len(numbers) != _WITH_INTERVAL or not all(one is None or isinstance(one, int | float) for one in numbers):
            raise ValueError(f"{name}: a ratio with its interval expected")
    if not all(isinstance(one, int | float) for one in row.p_values):
        raise ValueError("p_values: numbers expected")
    return row


def _kept(value: Mapping[str, Any]) -> Kept:
    """Return what was found when every row was there; nothing is as good as what is inconclusive."""
    verdict = value.get("verdict")
    return Kept(verdict if verdict in VERDICTS else "INCONCLUSIVE", value.get("ok") is not False)
