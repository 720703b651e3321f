"""Pictures of pods on nodes: bars for few nodes, a heat map with numbers for some, bins and curves for thousands."""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import Any

import altair

from harness.report import charts
from harness.report.document import Block, Picture, Text
from harness.report.sections.drawing import bins, by_variant, data, sized
from harness.report.sections.grouping import Group, Shown, natural
from harness.report.words import Words

BARS_NODES_MAX = 8
NUMBERS_NODES_MAX = 30
HEAT_CELLS_MAX = 160
RUNS_MAX = 30
_BARS_MAX = 60
_ROW_PIXELS = 26


def pictures(group: Group, words: Words) -> list[Block]:
    """Return the pictures of one scenario's runs, as they suit the number of its nodes."""
    runs = [one for one in group.runs if one.run.per_node()][:RUNS_MAX]
    if not any(count for one in runs for count in one.run.per_node().values()):
        return []
    said: list[Block] = []
    if len(runs) == RUNS_MAX < len(group.runs):
        said.append(Text(words("run.drawn", drawn=RUNS_MAX, count=len(group.runs))))
    nodes = max(len(one.run.per_node()) for one in runs)
    if nodes <= BARS_NODES_MAX and nodes * len(runs) <= _BARS_MAX:
        return [*said, _picture(group, runs, "bars", _bars(group, runs, words), words)]
    if all(len(set(one.run.per_node().values())) == 1 for one in runs):
        # A picture of one colour says less than a number.
        return [Text(words("run.placement.even", scenario=group.scenario))]
    if nodes <= NUMBERS_NODES_MAX:
        return [*said, _picture(group, runs, "heat", _numbers(runs, words), words)]
    return [
        *said,
        _picture(group, runs, "heat", _heat(runs, words), words, nodes=nodes),
        _picture(group, runs, "sorted", _sorted(group, runs, words), words, name="load-by-node"),
    ]


def _picture(  # noqa: PLR0913 - what is drawn, and what it is called
    group: Group, runs: Sequence[Shown], kind: str, chart: Any, words: Words, *, name: str = "placement", nodes: int = 0
) -> Picture:
    told = []
    for one in runs:
        counts = one.run.per_node().values()
        told.append(words("run.placement.told", run=one.label, least=min(counts), most=max(counts)))
    about = words(f"run.placement.about-{kind}", cell=max(map(len, bins(range(nodes), HEAT_CELLS_MAX)), default=1))
    return Picture(
        f"{name}{group.suffix}",
        words(f"run.placement.picture-{kind}", scenario=group.scenario),
        words("formats.sentence.join").join([about, words("run.join").join(told) + words("run.stop")]),
        charts.spec(chart),
    )


def _bars(group: Group, runs: Sequence[Shown], words: Words) -> Any:
    rows = [
        {"run": one.label, "variant": one.variant, "node": name, "pods": count}
        for one in runs
        for name, count in one.run.per_node().items()
    ]
    order = [one.label for one in runs]
    base = altair.Chart(data(rows)).encode(
        x=altair.X(
            "node:N", sort=_nodes(runs), title=words("run.column.node"), axis=altair.Axis(labelAngle=0, labelLimit=140)
        ),
        xOffset=altair.XOffset("run:N", sort=order),
        y=altair.Y("pods:Q", title=words("run.axis.pods"), axis=altair.Axis(tickMinStep=1)),
    )
    bars = base.mark_bar().encode(
        color=by_variant(group, words),
        tooltip=[
            altair.Tooltip("run:N", title=words("run.column.run")),
            altair.Tooltip("node:N", title=words("run.column.node")),
            altair.Tooltip("pods:Q", title=words("run.axis.pods")),
        ],
    )
    numbers = base.mark_text(dy=-6, fontSize=10).encode(text="pods:Q")
    return sized(bars + numbers)


def _numbers(runs: Sequence[Shown], words: Words) -> Any:
    rows = [
        {"run": one.label, "node": name, "pods": count} for one in runs for name, count in one.run.per_node().items()
    ]
    most = max(row["pods"] for row in rows if isinstance(row["pods"], int))
    base = altair.Chart(data(rows)).encode(
        x=altair.X("node:N", sort=_nodes(runs), title=words("run.column.node"), axis=altair.Axis(labelLimit=120)),
        y=altair.Y("run:N", title=None, sort=[one.label for one in runs], axis=altair.Axis(labelLimit=220)),
    )
    cells = base.mark_rect().encode(color=_heat_colour(words))
    dark = f"datum.pods > {most / 2}"
    text = base.mark_text(fontSize=10).encode(
        text="pods:Q", color=altair.condition(dark, altair.value("white"), altair.value("black"))
    )
    return sized(cells + text, _ROW_PIXELS * len(runs))


def _heat(runs: Sequence[Shown], words: Words) -> Any:
    """Draw nodes in the order of their names, several to a cell where there are too many."""
    rows = []
    for one in runs:
        counts = sorted(one.run.per_node().items(), key=lambda item: natural(item[0]))
        for place, some in enumerate(bins(counts, HEAT_CELLS_MAX)):
            first, last = some[0][0], some[-1][0]
            nodes = first if first == last else f"{first} … {last}"
            pods = round(fmean(count for _, count in some), 3)
            rows.append({"run": one.label, "place": place, "nodes": nodes, "pods": pods})
    chart = (
        altair.Chart(data(rows))
        .mark_rect()
        .encode(
            x=altair.X("place:O", title=words("run.axis.nodes-by-name"), axis=altair.Axis(labels=False, ticks=False)),
            y=altair.Y("run:N", title=None, sort=[one.label for one in runs], axis=altair.Axis(labelLimit=220)),
            color=_heat_colour(words),
            tooltip=[
                altair.Tooltip("run:N", title=words("run.column.run")),
                altair.Tooltip("nodes:N", title=words("run.column.node")),
                altair.Tooltip("pods:Q", title=words("run.axis.pods-mean")),
            ],
        )
    )
    return sized(chart, max(60, _ROW_PIXELS * len(runs)))


def _sorted(group: Group, runs: Sequence[Shown], words: Words) -> Any:
    """Draw the fullest node first; a flat line is an even spread. Nodes that hold the same share one step."""
    rows = []
    for one in runs:
        rank = 0
        for pods, nodes in sorted(Counter(one.run.per_node().values()).items(), reverse=True):
            rows.append({"run": one.label, "variant": one.variant, "rank": rank, "pods": pods})
            rank += nodes
            rows.append({"run": one.label, "variant": one.variant, "rank": rank, "pods": pods})
    chart = (
        altair.Chart(data(rows))
        .mark_line(strokeWidth=2)
        .encode(
            x=altair.X("rank:Q", title=words("run.axis.nodes-by-load")),
            y=altair.Y("pods:Q", title=words("run.axis.pods"), axis=altair.Axis(tickMinStep=1)),
            color=by_variant(group, words),
            detail="run:N",
            tooltip=[
                altair.Tooltip("run:N", title=words("run.column.run")),
                altair.Tooltip("rank:Q", title=words("run.axis.nodes-by-load")),
                altair.Tooltip("pods:Q", title=words("run.axis.pods")),
            ],
        )
    )
    return sized(chart)


def _nodes(runs: Sequence[Shown]) -> list[str]:
    return sorted({name for one in runs for name in one.run.per_node()}, key=natural)


def _heat_colour(words: Words) -> Any:
    return altair.Color(
        "pods:Q",
        title=words("run.axis.pods"),
        scale=altair.Scale(scheme="blues", domainMin=0),
        legend=altair.Legend(orient="top", tickMinStep=1),
    )
