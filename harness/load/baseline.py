"""Keeps what an extender costs, to be compared with on another machine: in units of a yardstick, never in seconds.

The yardstick is a reference extender that runs beside the subject and is asked the same, pair by pair. A machine that
is half as fast makes both take twice as long; their ratio stays.
"""

import hashlib
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from harness import temporary, toolchain
from harness.errors import InputError
from harness.extender.subject.parse import Subject, parse
from harness.load.regress.arm import Side
from harness.load.regress.compare import Options, cells_of, side_of
from harness.load.regress.corpus import Cell
from harness.load.regress.decide import MIDDLES, failure_of, starts
from harness.load.regress.duet import Measured, Order, Stage
from harness.load.regress.pairs import SIDES, Pairs
from harness.load.session import refuse_remote
from harness.load.stats.against import STARTS_MIN, interval_of, judge_against
from harness.load.stats.blocks import PAIRS_MAX, Floats
from harness.load.stats.judge import rejects
from harness.paths import PACKAGE
from harness.record.baseline import Baseline, BaselineCell, BaselineMetric, BaselineSubject
from harness.record.check import Checked, CheckedRow
from harness.record.regress import finite

YARDSTICK = "ref:pass-through"
# What the yardstick is made of: another version of it is another yardstick.
SOURCES = ("extender/author.py", "extender/references/pass_through.py", "extender/serving")
TOLERANCE = 0.05
STAGES = 2
# Two programs that have little in common are disturbed in different ways: it takes more pairs than between two alike.
PAIRS_MOST = 3
# Starts of a stage. Starts are what is compared here, so there are more of them than between two side by side.
STARTS = 6

Advance = Callable[[str], None]


@dataclass(frozen=True)
class CheckedWithPairs:
    """A check with its raw pairs: a list per comparison, with one entry per stage."""

    result: Checked
    pairs: tuple[tuple[Pairs, ...], ...]


def inputs_of(side: Side, seed: int, metrics: Sequence[str]) -> dict[str, Any]:
    """Return what has to be the same for two measurements to be comparable."""
    version = platform.python_version_tuple()
    go = None
    if side.subject.kind == "go":
        go = ".".join(toolchain.find("1.0").version.split(".")[:2])
    return {
        "seed": seed,
        "yardstick": YARDSTICK,
        "yardstick digest": _digest(),
        "python": ".".join(version[:2]),
        "go": go,
        "system": platform.system(),
        "architecture": platform.machine(),
        "metrics": list(metrics),
    }


def take(
    subjects: Sequence[Subject], options: Options, facts: Mapping[str, Any], advance: Advance = lambda piece: None
) -> Baseline:
    """Measure subjects against the yardstick.

    Raises:
        InputError: a subject cannot be asked what the yardstick can, or is on another machine and that was not allowed.
        VariantError: one does not start, or ends by itself.
    """
    options.check()
    for subject in subjects:
        refuse_remote(subject, allow_remote=options.allow_remote)
    return Baseline(tuple(_taken(subject, options, advance) for subject in subjects), facts)


def _taken(subject: Subject, options: Options, advance: Advance) -> BaselineSubject:
    with temporary.folder("baseline") as folder:
        sides = _sides(subject, folder, options)
        cells = cells_of(sides, replace(options, wire=options.wire or _wire(sides[1])))
        stages = [_stage(sides, cells, options, folder, number, advance) for number in range(1, STAGES + 1)]
    for one in stages:
        if one.died:
            raise InputError(f"{subject.text}: ended by itself, so there is nothing to keep: {one.died[SIDES[1]]}")
    for number, cell in enumerate(cells):
        if failure := failure_of([one.pairs[number] for one in stages]):
            raise InputError(f"{subject.text}: {cell.title}: {failure}; a baseline of failures is none")
    kept = tuple(_cell(cell, number, stages) for number, cell in enumerate(cells))
    return BaselineSubject(subject.text, inputs_of(sides[1], options.seed, list(kept[0].metrics)), kept)


def _cell(cell: Cell, number: int, stages: Sequence[Measured]) -> BaselineCell:
    metrics = {}
    for name in MIDDLES:
        found = [start for one in stages for start in starts(one.pairs[number], name)]
        if len(found) >= STARTS_MIN and all(name in _seen(one, number) for one in stages):
            blocks = tuple(tuple(map(float, start)) for start in found)
            metrics[name] = BaselineMetric(*interval_of(found), blocks)
    if not metrics:
        raise InputError(f"{cell.title}: too few requests were answered to keep anything")
    return BaselineCell(cell.verb, cell.nodes, cell.wire, cell.source, cell.digest, metrics)


def _seen(measured: Measured, number: int) -> list[str]:
    """Return which metrics of a comparison were measured."""
    seen = [name for name in MIDDLES if starts(measured.pairs[number], name)]
    return [name for name in seen if measured.sees_cpu or not name.startswith("cpu")]


def check(
    baseline: Baseline,
    file: str,
    subject: Subject,
    options: Options,
    *,
    name: str | None = None,
    advance: Advance = lambda piece: None,
) -> CheckedWithPairs:
    """Measure a subject as the baseline was measured, and compare the ratios.

    Args:
        baseline: what to compare with.
        file: where it comes from, for people.
        subject: what is judged.
        options: tolerance, budget, cassette; everything else is as the baseline says.
        name: which subject of the file; needed if it has several and none of the same text.
        advance: is told what is being measured.

    Raises:
        InputError: inputs are not alike; names each with both values. Or the subject is on another machine and that
            was not allowed.
        VariantError: one does not start, or the yardstick ended by itself.
    """
    refuse_remote(subject, allow_remote=options.allow_remote)
    then = _chosen(baseline, file, subject, name)
    options = replace(options, seed=int(then.inputs.get("seed", 0)))
    options.check()
    with temporary.folder("baseline") as folder:
        sides = _sides(subject, folder, options)
        cells = [_same_cell(cell, sides, options, file) for cell in then.cells]
        _refuse_unlike(then, inputs_of(sides[1], options.seed, _readable(then, subject)), file)
        stages = [_stage(sides, cells, options, folder, 1, advance)]
        _refuse_unseen(then, stages[0], file)
        if not stages[0].died and _is_suspect(then.cells, stages[0], options.tolerance):
            stages.append(_stage(sides, cells, options, folder, 2, advance))
            _refuse_unseen(then, stages[1], file)
    pairs = tuple(tuple(one.pairs[number] for one in stages) for number in range(len(cells)))
    died = next((one.died[SIDES[1]] for one in stages if one.died), None)
    rows = tuple(
        row
        for cell, measured in zip(then.cells, pairs, strict=True)
        for row in _rows(cell, measured, options.tolerance, died)
    )
    notes = tuple(dict.fromkeys(note for one in stages for note in one.notes))
    return CheckedWithPairs(Checked(subject.text, file, YARDSTICK, options.tolerance, rows, notes), pairs)


def _rows(cell: BaselineCell, pairs: Sequence[Pairs], tolerance: float, died: str | None) -> list[CheckedRow]:
    rows = []
    for name in _gates(cell):
        then = cell.metrics[name]
        stages = [starts(one, name) for one in pairs]
        found = judge_against(_starts_of(then), stages, tolerance)
        now = interval_of([start for one in stages for start in one])
        rows.append(
            CheckedRow(
                title=cell.title,
                metric=name,
                then=(then.ratio, then.low, then.high),
                now=(finite(now[0]), finite(now[1]), finite(now[2])),
                change=(finite(found.ratio), finite(found.low), finite(found.high)),
                verdict=found.verdict,
                p_values=found.p_values,
                mde=finite(found.mde),
                pairs=sum(map(len, pairs)),
                failure=failure_of(pairs, died),
            )
        )
    return rows


def _gates(cell: BaselineCell) -> list[str]:
    """Return what is compared: processor time, else the wall clock, whose ratio differs from machine to machine."""
    return [name for name in MIDDLES if name in cell.metrics][:1]


def _starts_of(metric: BaselineMetric) -> list[Floats]:
    return [np.array(start, dtype=np.float64) for start in metric.blocks]


def _is_suspect(cells: Sequence[BaselineCell], measured: Measured, tolerance: float) -> bool:
    return any(
        rejects(judge_against(_starts_of(cell.metrics[name]), [starts(pairs, name)], tolerance).p_values[0])
        for cell, pairs in zip(cells, measured.pairs, strict=True)
        for name in _gates(cell)
    )


def _sides(subject: Subject, folder: Path, options: Options) -> list[Side]:
    return [side_of(one, folder / name, options) for name, one in zip(SIDES, (parse(YARDSTICK), subject), strict=True)]


def _wire(side: Side) -> str:
    # The yardstick speaks both.
    return "names" if side.entry.node_cache_capable else "objects"


def _stage(
    sides: Sequence[Side], cells: Sequence[Cell], options: Options, folder: Path, number: int, advance: Advance
) -> Measured:
    order = Order(
        seed=options.seed,
        budget_seconds=options.budget_seconds,
        stage=number,
        restarts=STARTS,
        pairs_max=PAIRS_MOST * PAIRS_MAX,
    )
    return Stage(sides, cells, order, folder, advance).run()


def _chosen(baseline: Baseline, file: str, subject: Subject, name: str | None) -> BaselineSubject:
    known = {one.subject: one for one in baseline.subjects}
    wanted = name or subject.text
    if wanted in known:
        return known[wanted]
    if name is None and len(known) == 1:
        return next(iter(known.values()))
    raise InputError(f"{file}: no baseline of {wanted!r}; choose with --as: {', '.join(known) or 'it holds none'}")


def _same_cell(cell: BaselineCell, sides: Sequence[Side], options: Options, file: str) -> Cell:
    """Return the bodies that the baseline was measured with, made again.

    Raises:
        InputError: they are others.
    """
    if cell.source.startswith("cassette") and options.cassette is None:
        raise InputError(f"{file}: {cell.title} was measured with {cell.source}; give it with --cassette")
    asked = replace(options, verbs=(cell.verb,), nodes=(cell.nodes,), wire=cell.wire)
    (made,) = cells_of(sides, asked)
    if made.digest != cell.body_digest:
        raise InputError(
            f"{file}: body digest: {cell.body_digest} then, {made.digest} now ({cell.title}); "
            "other bodies cannot be compared: make the baseline again"
        )
    return made


def _readable(then: BaselineSubject, subject: Subject) -> list[str]:
    """Return which metrics of then can be measured now, as far as is known before: what runs elsewhere has no clock."""
    metrics = then.inputs.get("metrics") or []
    return [name for name in metrics if subject.is_started or not name.startswith("cpu")]


def _refuse_unlike(then: BaselineSubject, now: Mapping[str, Any], file: str) -> None:
    unlike = [
        f"{name}: {then.inputs.get(name)} then, {value} now"
        for name, value in now.items()
        if then.inputs.get(name) != value
    ]
    if unlike:
        raise InputError(f"{file}: measured under other conditions, so ratios cannot be compared: {'; '.join(unlike)}")


def _refuse_unseen(then: BaselineSubject, measured: Measured, file: str) -> None:
    """Refuse to compare what could not be measured now. Where nothing was, the subject failed, and its row says so."""
    for number, cell in enumerate(then.cells):
        seen = _seen(measured, number)
        if seen and not set(_gates(cell)) <= set(seen):
            _refuse_unlike(then, {"metrics": seen}, file)


def _digest() -> str:
    digest = hashlib.sha256()
    for source in SOURCES:
        path = PACKAGE / source
        for one in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            digest.update(one.relative_to(PACKAGE).as_posix().encode() + b"\0" + one.read_bytes())
    return digest.hexdigest()[:16]
