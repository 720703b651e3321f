"""Placement in one line, for the short form of a report: how even, beside random, and how far from the first. Pure."""

from harness.report.difference import Apart, Comparison
from harness.report.document import Block, Text
from harness.report.render.cells import shown
from harness.report.repeats import Side
from harness.report.words import Words

SIDES_MAX = 6


def of_comparison(comparison: Comparison, words: Words) -> tuple[Block, ...]:
    """Return the line about runs that were compared."""
    base = comparison.base
    told = [_side(base, words)]
    told += [_side(one.side, words) + _apart(one.apart, base, words) for one in comparison.others]
    if len(told) > SIDES_MAX:
        told[SIDES_MAX:] = [words("run.more", count=len(told) - SIDES_MAX)]
    return _line(base, told, words)


def of_side(side: Side, words: Words) -> tuple[Block, ...]:
    """Return the line about runs that stand alone; none where no pod has a node."""
    return _line(side, [_side(side, words)], words) if side.spread.cv is not None else ()


def _line(side: Side, told: list[str], words: Words) -> tuple[Block, ...]:
    meta = side.first.record.meta
    return (Text(words("compare.short", scenario=f"{meta.scenario}[{meta.size}]", sides=words("run.join").join(told))),)


def _side(side: Side, words: Words) -> str:
    found = side.spread
    figures = {"cv": found.cv, "index": found.index, "low": found.low, "high": found.high}
    texts = {name: shown(value, 2, words) for name, value in figures.items()}
    return words("compare.short_side", side=side.name, **texts)


def _apart(apart: Apart, base: Side, words: Words) -> str:
    if apart.distance is None:
        return ""
    floor = shown(apart.floor.most if apart.floor else None, 3, words)
    outcome = words(f"compare.outcome.{apart.outcome}")
    told = {"distance": shown(apart.distance, 3, words), "base": base.name, "floor": floor, "outcome": outcome}
    return words("compare.short_apart", **told)
