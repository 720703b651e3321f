"""Keeps a load as a record while it goes on: every measurement is on disk as soon as it is made."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.load import samples
from harness.load.measure import Run
from harness.load.samples import OUTCOMES, VERBS
from harness.record.load import FILE, FORMAT, KIND, Knee, LoadResult
from harness.record.write import RecordWriter, new_id

SAMPLES = "samples"


class LoadWriter:
    """Writes one record of a load; `facts` are the machine, versions and the command."""

    def __init__(self, root: Path, title: str, facts: Mapping[str, Any]) -> None:
        now = datetime.now(UTC).astimezone()
        self.path = root / new_id("load", "", title, now)
        self.results: list[LoadResult] = []
        self.knees: list[Knee] = []
        self._measurements: list[dict[str, Any]] = []
        self._meta = {
            "format": FORMAT,
            "kind": KIND,
            "id": self.path.name,
            "status": "running",
            "taken_at": now.isoformat(timespec="seconds"),
            **facts,
            "outcomes": OUTCOMES,
            "verbs": VERBS,
        }
        try:
            (self.path / SAMPLES).mkdir(mode=0o700, parents=True)
        except OSError as error:
            raise HarnessError(f"{self.path}: cannot be made: {error.strerror}; choose another --out") from None
        self._record = RecordWriter(self.path, {})
        self._write()

    def add(self, run: Run, results: Sequence[LoadResult], inputs: Mapping[str, Any]) -> list[LoadResult]:
        """Keep a measurement: its raw samples and the results that were made of them, which are returned as kept.

        Raises:
            HarnessError: the disk does not take it.
        """
        number = len(self._measurements) + 1
        name = f"{SAMPLES}/{number}.npz"
        try:
            samples.save(self.path / name, run.main.columns)
            if len(run.floor):
                samples.save(self.path / SAMPLES / f"{number}-floor.npz", run.floor.columns)
        except OSError as error:
            raise HarnessError(f"{self.path / name}: cannot be written: {error.strerror}; free some space") from None
        kept = [replace(result, samples=name) for result in results]
        self.results += kept
        self._measurements.append(
            {"samples": name, "ended": run.ended, **inputs, "workers": run.workers, "floor_workers": run.floor_workers}
        )
        self._write()
        return kept

    def add_knee(self, knee: Knee) -> None:
        """Keep what a search for the knee found."""
        self.knees.append(knee)
        self._write()

    def finish(self, status: str, warnings: Sequence[str], facts: Mapping[str, Any]) -> None:
        """Say how it ended."""
        self._meta = {**self._meta, **facts, "status": status, "warnings": list(warnings)}
        self._write()

    def _write(self) -> None:
        results = [result.to_json() for result in self.results]
        knees = [knee.to_json() for knee in self.knees]
        document = {**self._meta, "measurements": self._measurements, "results": results, "knees": knees}
        self._record.write_json(FILE, document)
