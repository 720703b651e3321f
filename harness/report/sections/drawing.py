"""What the pictures of runs share: sizes, axes in milliseconds, and a colour per variant. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Any, TypeVar

import altair

from harness.report import charts
from harness.report.sections.grouping import Group
from harness.report.words import Words

MS = 1000
POINTS_MAX = 150
Value = TypeVar("Value")


def data(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Return rows as the data of a chart."""
    return altair.InlineData(values=list(rows))


def sized(chart: Any, height: float = charts.HEIGHT) -> Any:
    """Return a chart of some height; whoever shows it chooses the width."""
    return chart.properties(height=height)


def by_variant(group: Group, words: Words) -> Any:
    """Return the encoding that gives each variant its colour; nobody needs a legend for one."""
    return told_apart(group.variants, words("run.column.variant"))["color"]


def told_apart(names: Sequence[str], title: str, field: str = "variant:N", *, dashed: bool = True) -> dict[str, Any]:
    """Return the encodings that tell lines apart: by colour, and those that share one by dashes or by strength."""
    legend = altair.Legend(title=title, orient="top", labelLimit=300) if len(names) > 1 else None
    encodings: dict[str, Any] = {"color": altair.Color(field, scale=charts.scale(names), legend=legend)}
    places = charts.places(names)
    if any(places.values()):
        looks: Sequence[Any] = charts.DASHES if dashed else charts.STRENGTHS
        scale = altair.Scale(domain=list(places), range=[looks[place % len(looks)] for place in places.values()])
        channel = altair.StrokeDash if dashed else altair.Opacity
        encodings["strokeDash" if dashed else "opacity"] = channel(field, scale=scale, legend=legend)
    return encodings


def thinned(values: Sequence[Value], most: int = POINTS_MAX) -> list[tuple[int, Value]]:
    """Return at most so many of the values with their places, evenly spaced; the first and the last are among them."""
    if len(values) <= most:
        return list(enumerate(values))
    places = dict.fromkeys(round(step * (len(values) - 1) / (most - 1)) for step in range(most))
    return [(place, values[place]) for place in places]


def bins(values: Sequence[Value], most: int) -> list[Sequence[Value]]:
    """Return the values in their order, cut into at most so many pieces of the same length (the last may be short)."""
    size = max(1, ceil(len(values) / most))
    return [values[start : start + size] for start in range(0, len(values), size)]


def rounded(value: float | None, digits: int = 3) -> float | None:
    """Return a coordinate: nobody sees a thousandth of a millisecond, and every digit is in the page."""
    return None if value is None else round(value, digits)
