"""`harness regress`, without its clothes: two subjects in, a verdict with everything that it rests on out."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from harness import temporary
from harness.errors import InputError
from harness.extender.connect import entry_of
from harness.extender.entry import VERBS, Entry
from harness.extender.subject.parse import Subject
from harness.extender.subject.start import started
from harness.load.regress.arm import Side
from harness.load.regress.corpus import Cell, generated, recorded
from harness.load.regress.decide import decide, is_suspect
from harness.load.regress.duet import Measured, Order, Stage
from harness.load.regress.pairs import SIDES, Pairs
from harness.load.session import refuse_remote
from harness.load.stats.judge import TOLERANCE
from harness.record.regress import Comparison, Regression

NODES = 100
BUDGET_SECONDS = 15.0
BUDGET_SECONDS_MAX = 600.0
COMPARISONS_MAX = 24
# Compared unless told: what every extender may be asked without harm.
USUAL = ("filter", "prioritize")


@dataclass(frozen=True)
class Options:
    """How to compare.

    Args:
        verbs: kinds of calls; of filter and prioritize those that both sides serve, unless told.
        nodes: how many nodes a body names, one comparison for each.
        wire: names or objects; what both sides ask for, unless told.
        tolerance: the slowdown that is accepted, as a share.
        budget_seconds: how long one comparison may measure in one stage.
        seed: for every choice that is drawn by lot.
        cassette: where bodies are taken from instead of being made.
        allow_remote: whether a subject on another machine may be called.
    """

    verbs: tuple[str, ...] = ()
    nodes: tuple[int, ...] = (NODES,)
    wire: str | None = None
    tolerance: float = TOLERANCE
    budget_seconds: float = BUDGET_SECONDS
    seed: int = 0
    cassette: Path | None = None
    allow_remote: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return them as a record keeps them."""
        cassette = str(self.cassette) if self.cassette else None
        return {**asdict(self), "verbs": list(self.verbs), "nodes": list(self.nodes), "cassette": cassette}

    def check(self) -> None:
        """Refuse what cannot be meant.

        Raises:
            InputError: a value is out of bounds.
        """
        if not 0 <= self.tolerance <= 1:
            raise InputError(f"tolerance: {self.tolerance:.0%} seen, 0 % to 100 % expected")
        if not 0 < self.budget_seconds <= BUDGET_SECONDS_MAX:
            raise InputError(f"budget: {self.budget_seconds:g} s seen, up to {BUDGET_SECONDS_MAX:g} s expected")
        if unknown := [verb for verb in self.verbs if verb not in VERBS]:
            raise InputError(f"verb: {unknown[0]!r} seen, one of {', '.join(VERBS)} expected")


@dataclass(frozen=True)
class Compared:
    """A comparison with its raw pairs: a list per comparison, with one entry per stage."""

    result: Regression
    pairs: tuple[tuple[Pairs, ...], ...]


def compare(
    base: Subject,
    candidate: Subject,
    options: Options,
    folder: Path | None = None,
    advance: Callable[[str], None] = lambda piece: None,
) -> Compared:
    """Measure two subjects side by side and say whether the candidate is slower.

    Args:
        base: what it is compared with.
        candidate: what is judged.
        options: how.
        folder: where the subjects' logs go; nowhere unless told.
        advance: is told what is being measured.

    Raises:
        InputError: the two cannot be asked the same, or an option is out of bounds.
        VariantError: one does not start, or the base ended by itself.
    """
    options.check()
    for subject in (base, candidate):
        refuse_remote(subject, allow_remote=options.allow_remote)
    with temporary.folder("regress") as own:
        logs = folder or own
        sides = [side_of(subject, logs / name, options) for name, subject in zip(SIDES, (base, candidate), strict=True)]
        cells = cells_of(sides, options)
        return _carry_out(sides, cells, options, logs, advance)


def _carry_out(
    sides: Sequence[Side], cells: Sequence[Cell], options: Options, logs: Path, advance: Callable[[str], None]
) -> Compared:
    """Measure every comparison once, and what looks slower once more with fresh processes."""
    order = Order(seed=options.seed, budget_seconds=options.budget_seconds, tolerance=options.tolerance)
    first = Stage(sides, cells, order, logs, advance).run()
    stages: list[list[Pairs]] = [[one] for one in first.pairs]
    second = Measured()
    suspects = [
        number
        for number, pairs in enumerate(first.pairs)
        if is_suspect(pairs, options.tolerance, sees_cpu=first.sees_cpu)
    ]
    if suspects and not first.died:
        again = [cells[number] for number in suspects]
        second = Stage(sides, again, replace(order, stage=2), logs, advance).run()
        for number, pairs in zip(suspects, second.pairs, strict=True):
            stages[number].append(pairs)
    died = {**first.died, **second.died}
    comparisons: list[Comparison] = [
        decide(
            cell,
            one,
            tolerance=options.tolerance,
            sees_cpu=first.sees_cpu and second.sees_cpu,
            died=died.get(SIDES[1]),
        )
        for cell, one in zip(cells, stages, strict=True)
    ]
    notes = tuple(dict.fromkeys([*first.notes, *second.notes]))
    base, candidate = (side.subject.text for side in sides)
    result = Regression(base, candidate, options.to_json(), tuple(comparisons), notes)
    return Compared(result, tuple(map(tuple, stages)))


def side_of(subject: Subject, folder: Path, options: Options) -> Side:
    """Return a subject with its entry; one that says nothing about itself is started once and asked."""
    known = subject.entry or {}
    if any(f"{kind}Verb" in known for kind in VERBS):
        return Side(subject, Entry.from_json(dict(known), subject.text))
    with started(subject, folder=folder, seed=options.seed, kubeconfig=None) as running:
        entry, _ = entry_of(subject, running)
    if not entry.verbs():
        raise InputError(f"{subject.text}: none of the usual paths answers; say its verbs with --entry filterVerb=…")
    return Side(subject, entry)


def cells_of(sides: Sequence[Side], options: Options) -> list[Cell]:
    """Return everything that is to be compared, with its bodies.

    Raises:
        InputError: the two cannot be asked the same.
    """
    served = [kind for kind in VERBS if all(side.entry.verb(kind) for side in sides)]
    verbs = options.verbs or tuple(kind for kind in USUAL if kind in served)
    if missing := [verb for verb in verbs if verb not in served]:
        who = next(side.subject.text for side in sides if not side.entry.verb(missing[0]))
        raise InputError(f"{who}: has no {missing[0]}Verb, so it is never asked that; known of both: {served}")
    if not verbs:
        raise InputError("the two have neither filter nor prioritize in common; choose with --verb")
    if options.cassette:
        return [recorded(options.cassette, verb) for verb in verbs]
    wire = options.wire or _wire(sides)
    cells = len(verbs) * len(options.nodes)
    if cells > COMPARISONS_MAX:
        raise InputError(f"{cells} comparisons asked for, at most {COMPARISONS_MAX} are made; take fewer --nodes")
    return [generated(verb, nodes, wire) for verb in verbs for nodes in options.nodes]


def _wire(sides: Sequence[Side]) -> str:
    wires = ["names" if side.entry.node_cache_capable else "objects" for side in sides]
    if len(set(wires)) > 1:
        seen = ", ".join(f"{side.subject.text} takes {wire}" for side, wire in zip(sides, wires, strict=True))
        raise InputError(f"{seen}: both have to be asked the same; choose with --wire")
    return wires[0]
