"""The picture of a comparison: how full nodes are, beside what chance would give. Pure."""

from typing import Any

import altair
import numpy as np

from harness.report import charts
from harness.report.difference import Comparison
from harness.report.document import Picture
from harness.report.randomness import CONFIDENCE, Lots, draws
from harness.report.repeats import Side
from harness.report.sections.drawing import data, sized, thinned, told_apart
from harness.report.words import Words

# With fewer nodes the table says as much.
NODES_MIN = 6
DRAWS = 500


def loads_picture(comparison: Comparison, words: Words, suffix: str = "") -> Picture | None:
    """Return the nodes of every side sorted by their load, with the band of random placements of the base."""
    base = comparison.base.loads[0]
    count = len(base.counts)
    sides = [side for side in comparison.sides if len(side.loads[0].counts) == count]
    if count < NODES_MIN or not base.pods or not base.alike or all(_even(side) for side in sides):
        return None
    rows = [
        {"side": side.name, "rank": rank + 1, "pods": round(float(pods), 3)}
        for side in sides
        for rank, pods in thinned(_sorted(side))
    ]
    band = [
        {"rank": rank + 1, "low": float(low), "high": float(high)} for rank, (low, high) in thinned(_band(base.lots))
    ]
    tops = words("run.join").join(f"{side.name} {_sorted(side)[0]:.4g}" for side in sides)
    chart = sized(_chart(rows, band, [side.name for side in sides], words))
    about = words("compare.loads.about", base=comparison.base.name, tops=tops)
    return Picture(f"compared-loads{suffix}", words("compare.loads.title"), about, charts.spec(chart))


def _chart(rows: list[dict[str, Any]], band: list[dict[str, float]], names: list[str], words: Words) -> Any:
    rank = altair.X("rank:Q", title=words("compare.loads.rank"), scale=altair.Scale(nice=False))
    title = words("compare.loads.pods")
    area = (
        altair.Chart(data(band))
        .mark_area(color=charts.NEUTRAL, opacity=0.3, interpolate="step-after")
        .encode(x=rank, y=altair.Y("low:Q", title=title), y2="high:Q")
    )
    lines = (
        altair.Chart(data(rows))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=rank,
            y=altair.Y("pods:Q", title=title, axis=altair.Axis(tickMinStep=1)),
            **told_apart(names, words("compare.column.side"), "side:N"),
            tooltip=[
                altair.Tooltip("side:N", title=words("compare.column.side")),
                altair.Tooltip("rank:Q", title=words("compare.loads.rank")),
                altair.Tooltip("pods:Q", title=title),
            ],
        )
    )
    return area + lines


def _sorted(side: Side) -> list[float]:
    """Return the loads of nodes, the fullest first, each rank the mean over the runs."""
    count = len(side.loads[0].counts)
    rows = [sorted(one.counts.values(), reverse=True) for one in side.loads if len(one.counts) == count]
    return [float(value) for value in np.mean(rows, axis=0)]


def _band(lots: Lots) -> list[tuple[float, float]]:
    """Return between which numbers of pods the node of each rank lies in 99 % of random placements."""
    drawn = np.concatenate([np.sort(part, axis=1)[:, ::-1] for part in draws(lots, DRAWS, stream=3)])
    edges = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    low, high = np.quantile(drawn, edges, axis=0)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _even(side: Side) -> bool:
    loads = _sorted(side)
    return loads[0] == loads[-1]
