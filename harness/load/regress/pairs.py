"""Raw measurements of one comparison in one stage: everything that a verdict is made of, kept as arrays."""

import dataclasses
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import RecordError
from harness.load.stats.blocks import Floats
from harness.record.arrays import read_arrays

SIDES = ("base", "candidate")
# Base: processor, wall, ending, background; the same of the candidate; restart, base first, body, at.
Row = tuple[float, float, int, float, float, float, int, float, int, bool, int, float]
_COLUMNS = 12


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pair by pair: what both sides took, and how it went.

    Times are seconds. `cpu`, `wall`, `ending` and `background` have a row for the base and one for the candidate; what
    could not be read is not a number. `ending` has codes of `harness.load.lean`, `background` is the processor time of
    a side since its last answer. `restart` is in which start of the two a pair was measured, `base_first` who was asked
    first, `body` which body, `at` when. `around` has a row per block of `size` pairs, with the columns AROUND; it
    explains and decides nothing.
    """

    size: int
    cpu: Floats
    wall: Floats
    ending: NDArray[np.int8]
    background: Floats
    restart: NDArray[np.int8]
    base_first: NDArray[np.bool_]
    body: NDArray[np.int32]
    at: Floats
    around: Floats

    def __len__(self) -> int:
        return int(self.wall.shape[1])

    def times(self, what: str) -> Floats:
        """Return `cpu` or `wall` with the pairs of which a side failed blanked out: failures are no latencies."""
        values = np.array(getattr(self, what), dtype=np.float64)
        values[:, (self.ending != 0).any(axis=0)] = np.nan
        return values

    def errors(self, side: int) -> int:
        """Return how many requests of a side failed."""
        return int((self.ending[side] != 0).sum())


AROUND = ("stalled share", "stolen share", "base interruptions", "candidate interruptions", "client share")


def save(pairs: Pairs, path: Path) -> None:
    """Write the arrays to a file."""
    content = io.BytesIO()
    arrays: dict[str, Any] = {one.name: getattr(pairs, one.name) for one in dataclasses.fields(pairs)}
    np.savez_compressed(content, **arrays)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.getvalue())


def load(path: Path) -> Pairs:
    """Read what `save` wrote.

    Raises:
        RecordError: it is not there, or something else.
    """
    found = read_arrays(path)
    try:
        arrays: dict[str, Any] = {one.name: found[one.name] for one in dataclasses.fields(Pairs)}
    except KeyError as error:
        raise RecordError(f"{path}: no measurements of a comparison: {error} is missing") from None
    return Pairs(**{**arrays, "size": int(arrays["size"])})


@dataclass
class Draft:
    """Pairs while they are measured."""

    rows: list[Row] = dataclasses.field(default_factory=list)
    around: list[tuple[float, ...]] = dataclasses.field(default_factory=list)

    def finished(self, size: int) -> Pairs:
        """Return what was measured."""
        columns: Sequence[Any] = list(zip(*self.rows, strict=True)) if self.rows else [()] * _COLUMNS
        return Pairs(
            size=size,
            cpu=np.array([columns[0], columns[4]], dtype=np.float64),
            wall=np.array([columns[1], columns[5]], dtype=np.float64),
            ending=np.array([columns[2], columns[6]], dtype=np.int8),
            background=np.array([columns[3], columns[7]], dtype=np.float64),
            restart=np.array(columns[8], dtype=np.int8),
            base_first=np.array(columns[9], dtype=np.bool_),
            body=np.array(columns[10], dtype=np.int32),
            at=np.array(columns[11], dtype=np.float64),
            around=np.array(self.around, dtype=np.float64).reshape(len(self.around), len(AROUND)),
        )
