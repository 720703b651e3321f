"""Decides whether a comparison is bad enough to fail a build: the conditions of `--fail-on`. Pure.

With a PERCENT a condition is a plain limit. Without, only what chance does not explain counts, and where too few runs
were made to tell, it says so and is not hit. A run that did not finish proves nothing: it is found whatever was asked.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harness.errors import InputError
from harness.report.difference import Apart, Comparison, Figure, Versus
from harness.report.render.cells import shown
from harness.report.words import Words

FIGURES = {"latency": ("p50_ms", "p90_ms"), "throughput": ("pods_per_second",), "cost": ("cpu_ms_per_pod",)}
CONDITIONS = ("placement", "pending", *FIGURES, "verdict")
WITHOUT_PERCENT = frozenset({"verdict"})
# What is found of a run that did not finish, whatever was asked.
STATUS = "status"
FINISHED = "finished"
DIGITS = 2


@dataclass(frozen=True)
class Condition:
    """What must not get worse; `share` is the limit, None where chance decides."""

    name: str
    share: float | None = None

    @property
    def title(self) -> str:
        """Return it as a person writes it."""
        return self.name if self.share is None else f"{self.name}:{100 * self.share:g}"


@dataclass(frozen=True)
class Finding:
    """A condition that was hit, or one about which nothing can be told."""

    condition: str
    side: str
    hit: bool
    text: str

    def to_json(self) -> dict[str, Any]:
        """Return it as a program reads it."""
        return asdict(self)


def conditions(text: str) -> tuple[Condition, ...]:
    """Return the conditions that a person names: `placement,latency:20`.

    Raises:
        InputError: one is not known, or its percentage is none.
    """
    found = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, colon, percent = part.partition(":")
        if name not in CONDITIONS:
            raise InputError(f"--fail-on {part}: {name!r} seen; choose from {', '.join(CONDITIONS)}")
        if colon and name in WITHOUT_PERCENT:
            raise InputError(f"--fail-on {part}: {name} takes no percentage")
        found.append(Condition(name, _share(part, percent) if colon else None))
    if not found:
        raise InputError(f"--fail-on {text!r}: nothing seen; choose from {', '.join(CONDITIONS)}")
    return tuple(found)


def gate(comparison: Comparison, wanted: Sequence[Condition], words: Words) -> tuple[Finding, ...]:
    """Return every condition that is hit or cannot be decided, side by side."""
    found = []
    for one in comparison.others:
        if wanted:
            found += [Finding(STATUS, one.side.name, hit=True, text=text) for text in _unfinished(one, words)]
        for condition in wanted:
            told = _CHECKS.get(condition.name, _figures)(one, condition, words)
            found += [Finding(condition.title, one.side.name, hit, text) for hit, text in told]
    return tuple(found)


def _unfinished(one: Versus, words: Words) -> Iterator[str]:
    for meta in (run.record.meta for run in one.side.runs):
        if meta.status != FINISHED:
            yield words("compare.gate.unfinished", run=meta.id, status=meta.status)


Findings = Iterator[tuple[bool, str]]


def _placement(one: Versus, condition: Condition, words: Words) -> Findings:
    apart = one.apart
    if condition.share is not None:
        if one.moves.share > condition.share:
            yield True, words("compare.gate.moved", share=f"{one.moves.share:.1%}", limit=f"{condition.share:.1%}")
    elif apart.outcome in ("different", "beyond"):
        yield True, _far(one.apart, words)
    elif apart.outcome == "unknown":
        yield False, words("compare.gate.nowhere")


def _far(apart: Apart, words: Words) -> str:
    """Say by which of its measures a placement is too far away."""
    named, nameless, floor = apart.distance or 0.0, apart.nameless or 0.0, apart.floor
    if apart.p is not None or floor is None:
        return words("compare.gate.apart_runs", distance=f"{named:.3f}", p=f"{apart.p:.2g}")
    if named > floor.most:
        return words("compare.gate.apart", distance=f"{named:.3f}", floor=f"{floor.most:.3f}")
    return words("compare.gate.apart_sorted", distance=f"{nameless:.3f}", floor=f"{floor.nameless_most:.3f}")


def _pending(one: Versus, condition: Condition, words: Words) -> Findings:
    figure = one.figure("pending")
    limit = (condition.share or 0.0) * one.moves.pods
    if figure.here is not None and figure.base is not None and figure.here - figure.base > limit:
        told = {"here": f"{figure.here:g}", "base": f"{figure.base:g}", "limit": f"{limit:g}"}
        yield True, words("compare.gate.pending", **told)


def _verdict(one: Versus, condition: Condition, words: Words) -> Findings:
    for verdict in one.rejected:
        yield True, words("compare.gate.verdict", verdict=words.phrase(verdict))


def _figures(one: Versus, condition: Condition, words: Words) -> Findings:
    for name in FIGURES[condition.name]:
        yield from _figure(one.figure(name), condition.share, words)


def _figure(figure: Figure, limit: float | None, words: Words) -> Findings:
    title = words(f"compare.figure.{figure.name}")
    if figure.outcome in ("unknown", "not-compared"):
        yield False, words(f"compare.gate.{figure.outcome.replace('-', '_')}", figure=title)
        return
    told = {
        "figure": title,
        "here": shown(figure.here, DIGITS, words),
        "base": shown(figure.base, DIGITS, words),
        "worse": f"{figure.worse:.1%}",
    }
    if limit is not None:
        if figure.worse > limit:
            yield True, words("compare.gate.figure", **told, limit=f"{limit:.1%}")
    elif figure.worse > 0 and figure.outcome == "different":
        yield True, words("compare.gate.significant", **told, p=f"{figure.p:.2g}")
    elif figure.worse > 0 and figure.tested != "runs":
        yield False, words("compare.gate.too_few", figure=title, worse=told["worse"])


_CHECKS: Mapping[str, Callable[[Versus, Condition, Words], Findings]] = {
    "placement": _placement,
    "pending": _pending,
    "verdict": _verdict,
}


def _share(part: str, percent: str) -> float:
    try:
        value = float(percent.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise InputError(f"--fail-on {part}: {percent!r} seen, a percentage such as 10 expected")
    return value / 100
