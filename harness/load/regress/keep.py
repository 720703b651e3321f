"""Writes a comparison to its record: the verdict as JSON, the raw pairs as arrays beside it."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.load.baseline import CheckedWithPairs
from harness.load.regress.compare import Compared
from harness.load.regress.pairs import Pairs, load, save
from harness.record import check
from harness.record.check import Checked
from harness.record.judged import FORMAT
from harness.record.regress import FILE, PAIRS, Comparison, Regression, read
from harness.record.write import RecordWriter, new_id


def keep(compared: Compared, runs: Path, facts: Mapping[str, Any]) -> Regression:
    """Write everything to a new folder below `runs` and return the comparison as it is kept there.

    Args:
        compared: what was measured and decided.
        runs: the folder of all records.
        facts: what else is known: the machine, versions, the command.

    Raises:
        HarnessError: it cannot be written.
    """
    now = datetime.now(UTC).astimezone()
    folder = runs / new_id("regress", "", compared.result.candidate, now)
    both = enumerate(zip(compared.result.comparisons, compared.pairs, strict=True), 1)
    with _writing(folder):
        comparisons = tuple(replace(one, samples=_saved(number, stages, folder)) for number, (one, stages) in both)
    result = replace(compared.result, comparisons=comparisons, path=folder)
    document = {"format": FORMAT, "id": folder.name, "taken_at": now.isoformat(timespec="seconds"), **facts}
    RecordWriter(folder, {}).write_json(FILE, {**document, **result.to_json()})
    return read(folder)


def keep_check(checked: CheckedWithPairs, runs: Path, facts: Mapping[str, Any]) -> Checked:
    """Write a check against a baseline to a new folder below `runs`, and return it as it is kept there.

    Raises:
        HarnessError: it cannot be written.
    """
    now = datetime.now(UTC).astimezone()
    folder = runs / new_id("baseline", "", checked.result.subject, now)
    titles = list(dict.fromkeys(row.title for row in checked.result.rows))
    with _writing(folder):
        names = {
            title: _saved(number, stages, folder)
            for number, (title, stages) in enumerate(zip(titles, checked.pairs, strict=True), 1)
        }
    rows = tuple(replace(row, samples=names[row.title]) for row in checked.result.rows)
    result = replace(checked.result, rows=rows, path=folder)
    document = {"format": FORMAT, "id": folder.name, "taken_at": now.isoformat(timespec="seconds"), **facts}
    RecordWriter(folder, {}).write_json(check.FILE, {**document, **result.to_json()})
    return check.read(folder)


def samples(comparison: Comparison, folder: Path) -> list[Pairs]:
    """Return the raw pairs of a comparison that was kept, stage by stage.

    Raises:
        RecordError: they cannot be read.
    """
    return [load(folder / name) for name in comparison.samples]


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(mode=0o700, parents=True)
        yield
    except OSError as error:
        raise HarnessError(f"{folder}: cannot be written: {error.strerror or error}; choose another --out") from None


def _saved(number: int, stages: tuple[Pairs, ...], folder: Path) -> tuple[str, ...]:
    names = tuple(f"{PAIRS}/{number}-{stage}.npz" for stage in range(1, len(stages) + 1))
    for name, pairs in zip(names, stages, strict=True):
        save(pairs, folder / name)
    return names
