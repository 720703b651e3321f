"""Pictures of a comparison: its ratios with their intervals, and how they went on from block to block. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair

from harness.record.regress import Comparison, Regression
from harness.report import charts
from harness.report.document import Picture
from harness.report.sections.drawing import data
from harness.report.sections.load_names import size_text
from harness.report.sections.load_pictures import Row, rounded, share
from harness.report.sections.regress_blocks import Block
from harness.report.words import Words

# What a PASS excludes, as `harness regress` decides it: a wide tolerance widens it.
EXCLUDED = 0.10
ROW_HEIGHT = 22
STRIP_HEIGHT = 110
STRIPS_MAX = 6
VERDICT_COLOURS = {"PASS": charts.GOOD, "REGRESSION": charts.BAD, "INCONCLUSIVE": charts.COLOURS[1]}
ROWS_MAX = 40


@dataclass(frozen=True)
class Labels:
    """What a picture of ratios says besides its rows."""

    title: str
    about: str
    axis: str


def tolerance_of(regression: Regression) -> float:
    """Return the slowdown that was accepted."""
    value = regression.options.get("tolerance", 0.03)
    return float(value) if isinstance(value, int | float) else 0.03


def excluded(tolerance: float) -> float:
    """Return the slowdown that a PASS excludes."""
    return max(EXCLUDED, 2 * tolerance)


def forest_pictures(name: str, regression: Regression, words: Words) -> list[Picture]:
    """Return every ratio with its interval; many comparisons take several pictures."""
    shown = [one for one in regression.comparisons if any(metric.ratio is not None for metric in one.metrics)]
    pages: list[list[Comparison]] = [[]]
    for one in shown:
        if pages[-1] and sum(len(each.metrics) for each in (*pages[-1], one)) > ROWS_MAX:
            pages.append([])
        pages[-1].append(one)
    return [_forest(f"{name}-{place}", regression, page, words) for place, page in enumerate(pages, 1) if page]


def _forest(name: str, regression: Regression, comparisons: Sequence[Comparison], words: Words) -> Picture:
    tolerance = tolerance_of(regression)
    about = words(
        "regress.about.forest",
        tolerance=share(tolerance),
        excluded=share(excluded(tolerance)),
        lines=words("regress.join").join(_told(one, words) for one in comparisons),
    )
    labels = Labels(words("regress.picture.forest"), about, words("regress.axis.ratio"))
    return forest(name, _forest_rows(comparisons, words), tolerance, labels, words)


def forest(name: str, rows: Sequence[Row], tolerance: float, labels: Labels, words: Words) -> Picture:
    """Return ratios with their intervals over what is accepted and what a PASS excludes.

    Args:
        name: of the picture.
        rows: `title` of the panel, `metric`, `ratio`, `low`, `high`, and `verdict` in words; one at least.
        tolerance: the slowdown that was accepted.
        labels: what it says.
        words: its language.
    """
    limit = excluded(tolerance)
    low = min(0.95, *(row["low"] for row in rows)) - 0.01
    high = max(1 + limit + 0.02, *(row["high"] for row in rows)) + 0.01
    x = altair.X(
        "ratio:Q",
        title=labels.axis,
        scale=altair.Scale(domain=[rounded(low), rounded(high)], nice=False, zero=False),
        axis=altair.Axis(format=".2f", tickCount=8),
    )
    names = [words(f"regress.verdict.{one}") for one in (*VERDICT_COLOURS, "shown")]
    colour = altair.Color(
        "verdict:N",
        title=None,
        scale=altair.Scale(domain=names, range=[*VERDICT_COLOURS.values(), charts.NEUTRAL]),
        legend=altair.Legend(symbolType="circle"),
    )
    order = [row["metric"] for row in rows if row["title"] == rows[0]["title"]]
    # Without data of its own: it takes its share of the rows from the facet.
    base = altair.Chart().encode(
        y=altair.Y("metric:N", title=None, sort=list(dict.fromkeys([*order, *(row["metric"] for row in rows)]))),
        color=colour,
        tooltip=_forest_tips(words),
    )
    strip = altair.layer(
        *_bands(tolerance, limit, high),
        base.mark_rule(strokeWidth=2).encode(x=altair.X("low:Q", title=labels.axis), x2="high:Q"),
        base.mark_point(filled=True, size=70, opacity=1).encode(x=x),
    ).properties(width=charts.WIDTH - 60, height=altair.Step(ROW_HEIGHT))
    header = altair.Header(labelOrient="top", labelAnchor="start", labelFontWeight="bold", title=None)
    titles = list(dict.fromkeys(row["title"] for row in rows))
    chart: Any = strip.facet(data=data(rows), row=altair.Row("title:N", sort=titles, header=header), spacing=8)
    chart = chart.resolve_scale(y="independent")
    return Picture(name, labels.title, labels.about, charts.spec(chart))


def _forest_rows(comparisons: Sequence[Comparison], words: Words) -> list[Row]:
    return [
        {
            "title": words("regress.cell", verb=one.verb, size=size_text(one, words)),
            "metric": metric.metric,
            "ratio": rounded(metric.ratio),
            "low": rounded(metric.low),
            "high": rounded(metric.high),
            "verdict": words(f"regress.verdict.{metric.verdict or 'shown'}"),
        }
        for one in comparisons
        for metric in one.metrics
        if metric.ratio is not None and metric.low is not None and metric.high is not None
    ]


def _bands(tolerance: float, limit: float, high: float) -> list[Any]:
    """Return the ground: what is accepted, what a PASS excludes, and where both are equally fast."""
    areas = [
        {"from": rounded(1 + tolerance), "to": rounded(1 + limit), "shade": 0.10},
        {"from": rounded(1 + limit), "to": rounded(max(high, 1 + limit)), "shade": 0.22},
    ]
    ground = altair.Chart(data(areas)).mark_rect(color=charts.BAD)
    shade = altair.Opacity("shade:Q", scale=None, legend=None)
    even = altair.Chart(data([{"even": 1.0}])).mark_rule(color=charts.NEUTRAL, strokeDash=[4, 3])
    return [ground.encode(x="from:Q", x2="to:Q", opacity=shade), even.encode(x="even:Q")]


def _forest_tips(words: Words) -> list[Any]:
    return [
        altair.Tooltip("title:N", title=words("regress.column.verb")),
        altair.Tooltip("metric:N", title=words("regress.column.metric")),
        altair.Tooltip("ratio:Q", title=words("regress.column.ratio"), format=".3f"),
        altair.Tooltip("low:Q", title=words("regress.column.ratio_low"), format=".3f"),
        altair.Tooltip("high:Q", title=words("regress.column.ratio_high"), format=".3f"),
        altair.Tooltip("verdict:N", title=words("regress.column.verdict")),
    ]


def _told(one: Comparison, words: Words) -> str:
    gated = [metric for metric in one.metrics if metric.verdict and metric.ratio is not None]
    worst = max(gated, key=lambda metric: metric.ratio or 0.0, default=None)
    name = words("regress.cell", verb=one.verb, size=size_text(one, words))
    verdict = words(f"regress.verdict.{one.verdict}")
    if worst is None:
        return words("load.said", where=name, text=verdict)
    return words("regress.about.line", name=name, verdict=verdict, metric=worst.metric, ratio=f"{worst.ratio:.3f}")


def block_pictures(
    name: str, regression: Regression, found: Sequence[tuple[Comparison, Sequence[Block]]], words: Words
) -> list[Picture]:
    """Return the ratio of each block over time, a strip per comparison."""
    filled = [(one, made) for one, made in found if made]
    pages = [filled[start : start + STRIPS_MAX] for start in range(0, len(filled), STRIPS_MAX)]
    return [_course(f"{name}-{place}", regression, page, words) for place, page in enumerate(pages, 1)]


def _course(
    name: str, regression: Regression, found: Sequence[tuple[Comparison, Sequence[Block]]], words: Words
) -> Picture:
    rows: list[Row] = [
        {
            "title": words("regress.cell", verb=one.verb, size=size_text(one, words)),
            "metric": block.metric,
            "block": block.number,
            "ratio": rounded(block.ratio),
            "start": f"{block.stage}.{block.restart + 1}",
            "pairs": block.pairs,
        }
        for one, made in found
        for block in made
    ]
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    base = altair.Chart().encode(
        x=altair.X(
            "block:Q",
            title=words("regress.axis.block"),
            scale=altair.Scale(domain=[0, max(row["block"] for row in rows) + 1], nice=False),
        ),
        y=altair.Y(
            "ratio:Q",
            title=words("regress.axis.ratio-short"),
            scale=altair.Scale(zero=False),
            axis=altair.Axis(format=".2f", tickCount=4),
        ),
        color=altair.Color("metric:N", title=None, scale=charts.subject_scale(metrics)),
        tooltip=_block_tips(words),
    )
    limit = altair.Chart(data([{"at": rounded(1 + tolerance_of(regression))}])).mark_rule(
        color=charts.BAD, strokeDash=[6, 4]
    )
    even = altair.Chart(data([{"at": 1.0}])).mark_rule(color=charts.NEUTRAL, strokeDash=[2, 3])
    # A line would join what restarts took apart.
    strip = altair.layer(
        even.encode(y="at:Q"),
        limit.encode(y="at:Q"),
        base.mark_line(strokeWidth=1, opacity=0.6).encode(detail="start:N"),
        base.mark_point(filled=True, size=28, opacity=1),
    ).properties(width=charts.WIDTH, height=STRIP_HEIGHT)
    header = altair.Header(labelOrient="top", labelAnchor="start", title=None)
    titles = list(dict.fromkeys(row["title"] for row in rows))
    chart: Any = strip.facet(data=data(rows), row=altair.Row("title:N", sort=titles, header=header), spacing=8)
    about = words("regress.about.blocks", tolerance=share(tolerance_of(regression)), count=len(rows))
    return Picture(name, words("regress.picture.blocks"), about, charts.spec(chart))


def _block_tips(words: Words) -> list[Any]:
    return [
        altair.Tooltip("title:N", title=words("regress.column.verb")),
        altair.Tooltip("metric:N", title=words("regress.column.metric")),
        altair.Tooltip("block:Q", title=words("regress.axis.block")),
        altair.Tooltip("start:N", title=words("regress.tip.start")),
        altair.Tooltip("pairs:Q", title=words("regress.column.pairs")),
        altair.Tooltip("ratio:Q", title=words("regress.column.ratio"), format=".3f"),
    ]
