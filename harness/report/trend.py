"""How figures went over the saved runs of a folder, like with like, and where they changed. Pure.

A change is three runs in a row on the same side of everything in the window before them, and further from its median
than three times the usual distance and than a tenth. One run alone is only said to stand out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import orjson

from harness.errors import RecordError
from harness.expect.percentile import percentile
from harness.record.find import OTHERS, ids
from harness.record.model import RunMeta
from harness.record.skim import Skimmed, skim_inputs, skim_meta, skim_pods
from harness.report.likeness import scenario_digest

METRICS = {"p50": "p50_ms", "p99": "p99_ms", "throughput": "pods_per_second", "cost": "cpu_ms_per_pod"}
WINDOW_MIN, WINDOW_MAX = 5, 20
LONE_WINDOW_MIN = 10
IN_A_ROW = 3
FACTOR = 3.0
SHARE = 0.1
# Of a normal distribution, so that the usual distance is a standard deviation there.
MAD_TO_DEVIATION = 1.4826
LOAD_PER_CORE_MAX = 1.0
_MS = 1000

Key = tuple[str, str, str, str, str, str, str]
"""Scenario, size, variant, cluster provider, machine, subjects, digest of the scenario."""


@dataclass(frozen=True)
class Point:
    """One run: its figures by name, None for what is not known, and what may explain a change."""

    run: str
    started_at: str
    figures: Mapping[str, float | None]
    held: bool | None
    versions: Mapping[str, Any]
    load_per_core: float | None

    def to_json(self) -> dict[str, Any]:
        """Return it as a program reads it."""
        return {"run": self.run, "started_at": self.started_at, "held": self.held, **self.figures}


@dataclass(frozen=True)
class Change:
    """A figure that changed with a run; `lone` says that only the last run is so. `also` is what else changed there."""

    figure: str
    run: str
    then: float
    now: float
    lone: bool
    also: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """Return how much it changed."""
        return self.now / self.then - 1 if self.then else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return it as a program reads it."""
        told = {"figure": self.figure, "run": self.run, "then": self.then, "now": self.now, "change": self.share}
        return {**told, "lone": self.lone, "also": list(self.also)}


@dataclass(frozen=True)
class Course:
    """Runs of the same on the same kind of machine, in the order of time."""

    scenario: str
    size: str
    variant: str
    cluster: str
    machine: str
    subjects: str
    digest: str
    points: tuple[Point, ...]

    @property
    def title(self) -> str:
        """Return its name for people."""
        brought = f" ({self.subjects})" if self.subjects else ""
        return f"{self.scenario}[{self.size}] {self.variant}{brought}"

    def values(self, figure: str) -> list[tuple[Point, float]]:
        """Return a figure of every run that has it."""
        return [(point, value) for point in self.points if (value := point.figures[figure]) is not None]

    def changes(self, figures: Sequence[str]) -> list[Change]:
        """Return where figures changed, in the order of the figures and of time."""
        return [change for figure in figures for change in _changes(figure, self.values(figure))]

    def to_json(self, figures: Sequence[str]) -> dict[str, Any]:
        """Return it as a program reads it."""
        named = ("scenario", "size", "variant", "cluster", "machine", "subjects", "digest")
        return {
            **{name: getattr(self, name) for name in named},
            "runs": [point.to_json() for point in self.points],
            "changes": [change.to_json() for change in self.changes(figures)],
        }


@dataclass
class Gathered:
    """What a folder holds: courses, and what was skipped and why; `others` are records that are not of runs."""

    courses: list[Course] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    unfinished: int = 0
    others: int = 0
    scenarios: set[str] = field(default_factory=set)
    variants: set[str] = field(default_factory=set)


def gather(folder: Path, scenario: str | None = None, variant: str | None = None) -> Gathered:
    """Read the runs of a folder, each once and without keeping its lines; what does not fit is not read further."""
    found = Gathered(others=len(ids(folder, OTHERS)))
    points: dict[Key, list[Point]] = {}
    for name in ids(folder):
        path = folder / name
        try:
            meta = skim_meta(path)
            found.scenarios.add(meta.scenario)
            found.variants.add(meta.variant)
            if scenario not in (None, meta.scenario) or variant not in (None, meta.variant):
                continue
            if meta.status != "finished":
                found.unfinished += 1
                continue
            written, subjects = skim_inputs(path)
            machine = str(meta.machine.get("id") or "unknown")
            kind = (meta.scenario, meta.size, meta.variant, meta.cluster, machine)
            key = (*kind, " + ".join(subjects), scenario_digest(written))
            points.setdefault(key, []).append(_point(path, meta, skim_pods(path)))
        except (RecordError, TypeError, ValueError, AttributeError) as error:
            found.damaged.append(f"{name} ({error})")
    for key, some in points.items():
        found.courses.append(Course(*key, tuple(sorted(some, key=lambda point: (point.started_at, point.run)))))
    found.courses.sort(key=lambda one: (one.cluster, one.machine, one.title, one.points[0].started_at))
    return found


def _point(path: Path, meta: RunMeta, pods: Skimmed) -> Point:
    waits = [_MS * seconds for seconds in pods.waits_seconds]
    used = sum(meta.cpu_seconds.values())
    load, cores = meta.machine.get("load_at_start"), meta.machine.get("cores")
    return Point(
        run=path.name,
        started_at=meta.started_at,
        figures={
            "p50_ms": percentile(waits, 50),
            "p99_ms": percentile(waits, 99),
            "pods_per_second": pods.pods_per_second,
            "cpu_ms_per_pod": _MS * used / len(waits) if used and waits else None,
        },
        held=_held(path),
        versions=dict(meta.versions),
        load_per_core=float(load) / int(cores) if load is not None and cores else None,
    )


def _held(path: Path) -> bool | None:
    try:
        verdicts = orjson.loads((path / "verdicts.json").read_bytes())
        return all(bool(verdict["ok"]) for verdict in verdicts)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _changes(figure: str, values: Sequence[tuple[Point, float]]) -> Iterator[Change]:
    start, place = 0, WINDOW_MIN
    while place <= len(values) - IN_A_ROW:
        window = [value for _, value in values[max(start, place - WINDOW_MAX) : place]]
        later = [value for _, value in values[place : place + IN_A_ROW]]
        if len(window) >= WINDOW_MIN and beyond(window, later):
            yield _change(figure, values, place, (median(window), median(later)))
            # What comes later is held against what is usual now.
            start, place = place, place + WINDOW_MIN
        else:
            place += 1
    window = [value for _, value in values[max(start, len(values) - 1 - WINDOW_MAX) : -1]]
    if len(window) >= LONE_WINDOW_MIN and beyond(window, [values[-1][1]]):
        yield _change(figure, values, len(values) - 1, (median(window), values[-1][1]), lone=True)


def beyond(window: Sequence[float], later: Sequence[float]) -> bool:
    """Tell whether all later values are on the same side of all of the window, and far from its median."""
    middle = median(window)
    usual = MAD_TO_DEVIATION * median(abs(value - middle) for value in window)
    far = max(FACTOR * usual, SHARE * abs(middle))
    above = all(value > max(window) and value - middle > far for value in later)
    below = all(value < min(window) and middle - value > far for value in later)
    return above or below


def _change(
    figure: str,
    values: Sequence[tuple[Point, float]],
    place: int,
    levels: tuple[float, float],
    *,
    lone: bool = False,
) -> Change:
    before, here = values[place - 1][0], values[place][0]
    return Change(figure, here.run, *levels, lone=lone, also=tuple(_also(before, here)))


def _also(before: Point, here: Point) -> Iterator[str]:
    for key in sorted({*before.versions, *here.versions}):
        then, now = before.versions.get(key), here.versions.get(key)
        if then != now:
            yield f"{key} {then} → {now}"
    then_load, load = before.load_per_core, here.load_per_core
    if then_load is not None and load is not None and abs(load - then_load) > LOAD_PER_CORE_MAX:
        yield f"load per core {then_load:.1f} → {load:.1f}"
