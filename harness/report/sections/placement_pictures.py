"""Pictures of pods on nodes: bars for few nodes, a heat map with numbers for some, bins and curves for thousands."""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import Any

import altair

from harness.report import charts
from harness.report.document import Block, Picture, Text
from harness.report.sections.drawing import bins, data, sized, told_apart
from harness.report.sections.grouping import Group, Shown, natural
from harness.report.words import Words

BARS_NODES_MAX = 8
NUMBERS_NODES_MAX = 30
HEAT_CELLS_MAX = 160
RUNS_MAX = 30
_BARS_MAX = 60
_ROW_PIXELS = 26
# How much of the widest bar a character needs, also on a narrow page.
_CHARACTER_SHARE = 0.018


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
    """Draw a bar per run, the nodes stacked in it; beside its name stands the colour of its variant."""
    nodes = _nodes(runs)
    widest = max(sum(one.run.per_node().values()) for one in runs)
    rows = [
        {"run": one.label, "variant": one.variant, "node": name, "pods": pods, "place": nodes.index(name)}
        | {"label": _fitting(name, pods, widest)}
        for one in runs
        for name, pods in one.run.per_node().items()
    ]
    base = altair.Chart(data(rows)).encode(
        y=altair.Y("run:N", title=None, sort=[one.label for one in runs], axis=altair.Axis(offset=8, labelLimit=220)),
        tooltip=[
            altair.Tooltip("run:N", title=words("run.column.run")),
            altair.Tooltip("node:N", title=words("run.column.node")),
            altair.Tooltip("pods:Q", title=words("run.axis.pods")),
        ],
    )
    piled = base.encode(
        x=altair.X("pods:Q", title=words("run.column.pods"), axis=altair.Axis(tickMinStep=1), stack="zero"),
        order=altair.Order("place:Q"),
    )
    shades = charts.shades(len(nodes))
    legend = altair.Legend(title=words("run.column.node"), orient="top", labelLimit=140)
    bars = piled.mark_bar(stroke="white", strokeWidth=1).encode(
        color=altair.Color("node:N", sort=nodes, scale=altair.Scale(domain=nodes, range=shades), legend=legend)
    )
    dark = f"datum.place >= {sum(charts.is_light(shade) for shade in shades)}"
    numbers = (
        piled.encode(x=altair.X("pods:Q", stack="zero", bandPosition=0.5))
        .mark_text(fontSize=11)
        .encode(
            text="label:N",
            detail="node:N",
            color=altair.condition(dark, altair.value("white"), altair.value("black")),
        )
    )
    names = base.mark_bar().encode(
        x=altair.value(-7),
        x2=altair.value(-2),
        color=altair.Color("variant:N", scale=charts.scale(group.variants), legend=None),
    )
    return sized((bars + numbers + names).resolve_scale(color="independent"), _ROW_PIXELS * len(runs))


def _fitting(node: str, pods: int, widest: int) -> str:
    """Return what fits into a part of a bar: the node and its number of pods, the number alone, or nothing."""
    texts = (f"{node}: {pods}", str(pods), "")
    return next(text for text in texts if not text or len(text) * _CHARACTER_SHARE * widest < pods)


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
            **told_apart(group.variants, words("run.column.variant")),
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
