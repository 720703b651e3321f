"""What differs between runs and the first of them: placement, waiting, speed, cost, verdicts. Pure.

Pods of one run depend on each other: each waits for those before it. A test over pods therefore finds differences that
the next run does not have, so only a test over runs is ever called significant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice, product
from typing import Any, Literal

import numpy as np

from harness.report.calls import call_rows
from harness.report.distance import (
    ALPHA,
    PAIRS_MAX,
    Floor,
    distance,
    distance_p,
    drawn_floor,
    figure_p,
    measured_floor,
    nameless_distance,
)
from harness.report.likeness import Unlike, unlike
from harness.report.moves import Moves, moves
from harness.report.repeats import Side, middle
from harness.report.summary import RunSummary

Outcome = Literal[
    "same", "different", "not-significant", "unclear", "too-few", "beyond", "within", "not-compared", "unknown"
]

LATENCIES = ("p50_ms", "p90_ms")
FIGURES = (*LATENCIES, "pods_per_second", "cpu_ms_per_pod", "attempts", "pending")
# What a busy or another machine changes.
TIMED = frozenset({*LATENCIES, "pods_per_second", "cpu_ms_per_pod"})
NEARLY = 1e-9
MORE_IS_BETTER = frozenset({"pods_per_second"})


@dataclass(frozen=True)
class Figure:
    """One figure of two sides, medians of their runs.

    `change` is here over base, less 1; `p` is the chance of such a difference between runs of one kind, tested over
    `tested`: runs, pods, or nothing. Over pods all waits are tested together, which is told once, at the p50.
    """

    name: str
    base: float | None
    here: float | None
    change: float | None
    p: float | None
    tested: Literal["runs", "pods", ""]
    outcome: Outcome

    @property
    def worse(self) -> float:
        """Return how much worse it got, as a share; 0 or less if it did not."""
        change = self.change or 0.0
        return -change if self.name in MORE_IS_BETTER else change


@dataclass(frozen=True)
class Apart:
    """How far two sides place pods apart, the mean over all pairs of their runs, and how far runs of one kind are."""

    distance: float | None
    nameless: float | None
    floor: Floor | None
    p: float | None
    outcome: Outcome


@dataclass(frozen=True)
class CallFigures:
    """The calls of one kind to one extender, medians of the runs of a side."""

    extender: str
    kind: str
    calls: float
    failed: float
    p50_ms: float | None
    p95_ms: float | None


@dataclass(frozen=True)
class Versus:
    """One side held against the base. `moves` is of the first runs, `counts` of every run against the base's first."""

    side: Side
    apart: Apart
    moves: Moves
    counts: Mapping[str, Mapping[str, int]]
    figures: tuple[Figure, ...]
    rejected: tuple[str, ...]

    def figure(self, name: str) -> Figure:
        """Return one figure by name."""
        return next(one for one in self.figures if one.name == name)


@dataclass(frozen=True)
class Comparison:
    """Everything that differs from the first side, `base`."""

    base: Side
    others: tuple[Versus, ...]
    unlike: tuple[Unlike, ...]

    @property
    def sides(self) -> tuple[Side, ...]:
        """Return all sides, the base first."""
        return (self.base, *(one.side for one in self.others))

    def to_json(self) -> dict[str, Any]:
        """Return everything as a program reads it."""
        return {
            "base": _side_json(self.base),
            "unlike": [one.to_json() for one in self.unlike],
            "others": [_versus_json(one) for one in self.others],
        }


def compare(sides: Sequence[Side]) -> Comparison:
    """Hold every side against the first."""
    found = unlike([run.record for side in sides for run in side.runs])
    slow = {one.run for one in found if one.slows}
    return Comparison(sides[0], tuple(_versus(side, sides[0], slow) for side in sides[1:]), found)


def calls_of(side: Side) -> list[CallFigures]:
    """Return the calls to extenders, a row per extender and kind."""
    groups: dict[tuple[str, str], list[Any]] = {}
    for run in side.runs:
        for row in call_rows(run.record):
            groups.setdefault((row.extender, row.kind), []).append(row)

    def typical(rows: Sequence[Any], name: str) -> float | None:
        return middle([value for row in rows if (value := getattr(row, name)) is not None])

    return [
        CallFigures(
            *key,
            calls=typical(rows, "calls") or 0.0,
            failed=typical(rows, "failed") or 0.0,
            p50_ms=typical(rows, "p50_ms"),
            p95_ms=typical(rows, "p95_ms"),
        )
        for key, rows in groups.items()
    ]


def _versus(side: Side, base: Side, slow: set[str]) -> Versus:
    timed = not any(run.record.meta.id in slow for one in (side, base) for run in one.runs)
    first = moves(side.first.record, base.first.record)
    later = {run.record.meta.id: moves(run.record, base.first.record).counts for run in side.runs[1:]}
    return Versus(
        side=side,
        apart=_apart(side, base),
        moves=first,
        counts={side.first.record.meta.id: first.counts, **later},
        figures=tuple(_figure(name, side, base, timed=timed) for name in FIGURES),
        rejected=tuple(_rejected(side.runs, base.runs)),
    )


def _apart(side: Side, base: Side) -> Apart:
    here, there = ([one.counts for one in each.loads] for each in (side, base))
    pairs = list(islice(product(there, here), PAIRS_MAX))
    named = [apart for pair in pairs if (apart := distance(*pair)) is not None]
    nameless = [apart for pair in pairs if (apart := nameless_distance(*pair)) is not None]
    if not named:
        return Apart(None, None, None, None, "unknown")
    known = [floor for floor in (measured_floor(there), measured_floor(here)) if floor]
    floor = max(known, key=lambda one: one.mean) if known else drawn_floor(base.loads[0].lots)
    p = distance_p(there, here)
    apart = float(np.mean(named))
    return Apart(apart, float(np.mean(nameless)), floor, p, _placed((apart, float(np.mean(nameless))), floor, p))


def _placed(apart: tuple[float, float], floor: Floor, p: float | None) -> Outcome:
    named, nameless = apart
    if named == 0:
        return "same"
    if p is not None:
        return "different" if p < ALPHA else "not-significant"
    far = named > floor.most + NEARLY or nameless > floor.nameless_most + NEARLY
    return "beyond" if far else "within"


def _figure(name: str, side: Side, base: Side, *, timed: bool) -> Figure:
    here, there = side.figures(name), base.figures(name)
    now, then = middle(here), middle(there)
    if now is None or then is None:
        return Figure(name, then, now, None, None, "", "unknown")
    change = now / then - 1 if then else None
    if name in TIMED and not timed:
        return Figure(name, then, now, change, None, "", "not-compared")
    if len({*here, *there}) == 1:
        return Figure(name, then, now, change, None, "", "same")
    if (p := figure_p(there, here)) is not None:
        return Figure(name, then, now, change, p, "runs", "different" if p < ALPHA else "not-significant")
    if name == LATENCIES[0]:
        # The test asks whether waits are longer, all of them: it says nothing about one percentile, least a high one.
        p = _pods_p(side, base)
        return Figure(name, then, now, change, p, "pods", "unclear" if p < ALPHA else "not-significant")
    return Figure(name, then, now, change, None, "", "same" if set(here) == set(there) else "too-few")


def _pods_p(side: Side, base: Side) -> float:
    """Return the p-value of Mann and Whitney's test over pods, both ways."""
    from scipy.stats import mannwhitneyu

    here, there = (np.concatenate([np.asarray(waits) for waits in one.waits_ms]) for one in (side, base))
    return float(mannwhitneyu(here, there, alternative="two-sided").pvalue)


def _rejected(here: Sequence[RunSummary], there: Sequence[RunSummary]) -> list[str]:
    """Return what held in every run of the base and was rejected in one of these."""
    sound: dict[tuple[int | None, str], bool] = {}
    for run in there:
        for verdict in run.verdicts:
            key = (verdict.index, verdict.kind)
            sound[key] = sound.get(key, True) and verdict.ok
    found: dict[str, None] = {}
    for run in here:
        for verdict in run.verdicts:
            if not verdict.ok and sound.get((verdict.index, verdict.kind), False):
                found[f"{verdict.title}: {verdict.expected} expected, {verdict.seen} seen"] = None
    return list(found)


def _side_json(side: Side) -> dict[str, Any]:
    return {
        "name": side.name,
        "runs": [run.record.meta.id for run in side.runs],
        "spread": side.spread.to_json(),
        "figures": {name: middle(side.figures(name)) for name in FIGURES},
        "calls": [asdict(one) for one in calls_of(side)],
    }


def _versus_json(one: Versus) -> dict[str, Any]:
    apart = one.apart
    floor = apart.floor.to_json() if apart.floor else None
    return {
        **_side_json(one.side),
        "placement": {**asdict(apart), "floor": floor, "moved_share": one.moves.share},
        "moves": [asdict(move) for move in one.moves.named],
        "workloads": [
            {**asdict(work), "there": dict(work.there), "here": dict(work.here), "moved": work.moved}
            for work in one.moves.workloads
        ],
        "counts": {run: dict(counts) for run, counts in one.counts.items()},
        "changes": [asdict(figure) for figure in one.figures],
        "rejected": list(one.rejected),
    }
