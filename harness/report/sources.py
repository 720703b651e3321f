"""What a report is made of: records of any kind, read from their folders as far as they can be read."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, get_args

from harness.errors import RecordError
from harness.expect.base import Status, Verdict
from harness.expect.judge import judge
from harness.record import check, load, read, regress
from harness.record.check import Checked
from harness.record.find import ANY, RUN, file_of
from harness.record.load import LoadRecord
from harness.record.model import Record
from harness.record.regress import Regression
from harness.record.shape import checked
from harness.report.doubt import doubts
from harness.report.summary import RunSummary

Read = TypeVar("Read")

VERDICTS = "verdicts.json"


@dataclass(frozen=True)
class Sources:
    """Records, by kind, each in the order given.

    Args:
        runs: with the verdicts that were saved; a damaged run without saved verdicts has none.
        broken: what is doubtful about the records themselves, one sentence each that begins with the record's id. The
            `warnings` of a run's record are among them; records that cannot be read at all are only here.
        checked: checks against baselines.
    """

    runs: tuple[RunSummary, ...] = ()
    loads: tuple[LoadRecord, ...] = ()
    regressions: tuple[Regression, ...] = ()
    broken: tuple[str, ...] = ()
    checked: tuple[Checked, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of all records."""
        return (
            *(run.record.path.name for run in self.runs),
            *(load.path.name for load in self.loads),
            *(regression.path.name for regression in self.regressions if regression.path),
            *(one.path.name for one in self.checked if one.path),
        )


def gather(paths: Sequence[Path]) -> Sources:
    """Read records from their folders; one that is given twice counts once.

    Raises:
        RecordError: a folder is no record at all.
    """
    broken: list[str] = []
    folders = {path.resolve(): path for path in paths}.values()
    kinds = {file: [path for path in folders if kind_of(path) == file] for file in ANY}
    records = [_read(path, read.read, broken) for path in kinds[RUN]]
    runs = _judged([one for one in records if one], broken)
    loads = [_read(path, load.read, broken) for path in kinds[load.FILE]]
    unfinished = [one for one, _ in filter(None, loads) if one.meta.get("status") == "running"]
    broken += [
        f"{one.path.name}: {load.FILE}: the load never finished; what was measured until then is there"
        for one in unfinished
    ]
    regressions = [_read(path, regress.read, broken) for path in kinds[regress.FILE]]
    checks = [_read(path, check.read, broken) for path in kinds[check.FILE]]
    return Sources(
        runs,
        tuple(one[0] for one in loads if one),
        tuple(one[0] for one in regressions if one),
        tuple(broken),
        tuple(one[0] for one in checks if one),
    )


def kind_of(path: Path) -> str:
    """Return the file that says what a record is: run.json, load.json, regress.json or baseline.json.

    Raises:
        RecordError: there is none of them.
    """
    found = file_of(path)
    if found is None:
        raise RecordError(
            f"{path}: no record of a run, a load, a comparison or a check is there ({', '.join(ANY)} expected)"
        )
    return found


def _read(path: Path, reader: Callable[[Path, list[str] | None], Read], broken: list[str]) -> tuple[Read, bool] | None:
    """Return a record and whether it is damaged; None, with a sentence, where nothing can be read."""
    problems: list[str] = []
    try:
        record = reader(path, problems)
    except RecordError as error:
        problems.append(str(error).removeprefix(f"{path}/").removeprefix(f"{path}: "))
        record = None
    broken.extend(f"{path.name}: {problem}" for problem in problems)
    return None if record is None else (record, bool(problems))


def _judged(records: Sequence[tuple[Record, bool]], broken: list[str]) -> tuple[RunSummary, ...]:
    sound = [record for record, damaged in records if not damaged]
    runs: list[RunSummary] = []
    for record, damaged in records:
        broken.extend(f"{record.path.name}: {warning}" for warning in record.warnings)
        verdicts = _saved(record.path, broken)
        if not damaged:
            broken.extend(f"{record.path.name}: {doubt}" for doubt in doubts(record, verdicts))
        if verdicts is None and damaged:
            broken.append(f"{record.path.name}: {VERDICTS}: missing, and a damaged record is not judged again")
            verdicts = ()
        if verdicts is None:
            verdicts = tuple(judge(record, [peer for peer in sound if peer is not record]))
        runs.append(RunSummary(record, verdicts))
    return tuple(runs)


def _saved(path: Path, broken: list[str]) -> tuple[Verdict, ...] | None:
    """Return the verdicts that were given when the run was made; None if there are none that can be read."""
    try:
        saved = json.loads((path / VERDICTS).read_text(encoding="utf-8"))
        verdicts = tuple(checked(Verdict.from_json(one)) for one in saved)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, AttributeError):
        verdicts = ()
    if verdicts and all(verdict.status in get_args(Status) for verdict in verdicts):
        return verdicts
    broken.append(f"{path.name}: {VERDICTS}: the verdicts that were saved cannot be read")
    return None
