"""Pictures made of the raw samples of loads: the percentile curve, and latency over time. Pure.

Every point is a value that was seen. What the generator limited never gets here: `load_samples` leaves it out.
"""

import json
from collections.abc import Sequence
from typing import Any

import altair

from harness.record.load import LoadResult
from harness.report import charts
from harness.report.document import Picture
from harness.report.sections.drawing import data
from harness.report.sections.load_names import grouped, labels, number
from harness.report.sections.load_samples import NAMED_PERCENTILES, Bin, Course, Curve
from harness.report.words import Words

LINES_MAX = len(charts.SUBJECTS)
COURSES_MAX = 6
LINES_TOLD_MAX = 4
COURSE_HEIGHT = 110
# Beyond this, the smaller values of a linear axis lie on its ground.
LINEAR_RATIO_MAX = 20.0
DIGITS = 6
DASHES = ([1, 0], [5, 3])
# Marks of the axis: 50, 90, 99 % and so on; of so many requests one is slower.
RARITIES = (2, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
ZERO_TOLD_BELOW = 10_000
PERCENT_LABEL = "format(100 - 100 / datum.value, '.8~g') + ' %'"
Row = dict[str, Any]


def percentile_pictures(curves: Sequence[Curve], words: Words, *, name: str = "load-percentiles") -> list[Picture]:
    """Return as many pictures as keep their lines apart; the two models never share one."""
    made = []
    for model in dict.fromkeys(curve.result.model for curve in curves):
        mine = [curve for curve in curves if curve.result.model == model]
        for place, group in enumerate(grouped(mine, [_keys(one.result) for one in mine], LINES_MAX), 1):
            made.append(percentile_picture(f"{name}-{model}-{place}", group, words))
    return made


def percentile_picture(name: str, curves: Sequence[Curve], words: Words) -> Picture:
    """Return one picture with a line per result, and in an open load a second one for its service times."""
    names = labels([(curve.record, curve.result) for curve in curves], words)
    rows = [row for label, curve in zip(names, curves, strict=True) for row in _curve_rows(label, curve)]
    kinds = {"latency": words("load.latency"), "service": words("load.service")}
    if all(curve.result.model == "closed" for curve in curves):
        # Sent when it was to be sent: the two are the same.
        kinds = {"latency": words("load.closed-time")}
    last = max(10.0, *(point.rarity for curve in curves for point in curve.points))
    values = [float(row[key]) for row in rows for key in kinds if key in row]
    base = altair.Chart(data(rows)).encode(
        x=altair.X(
            "rarity:Q",
            title=words("load.axis.percentile"),
            scale=altair.Scale(type="log", domain=[1, last], nice=False),
            axis=altair.Axis(values=_ticks(last), labelExpr=PERCENT_LABEL),
        ),
        color=altair.Color("series:N", scale=charts.subject_scale(names), title=None, legend=_legend(names)),
    )
    dash = altair.StrokeDash(
        "kind:N",
        scale=altair.Scale(domain=list(kinds.values()), range=DASHES[: len(kinds)]),
        title=None,
        legend=altair.Legend(symbolType="stroke", symbolSize=400) if len(kinds) > 1 else None,
    )
    layers = []
    for key, text in kinds.items():
        line = base.transform_calculate(kind=quoted(text), percent="100 - 100 / datum.rarity").encode(
            y=milliseconds(key, words("load.axis.latency"), values), tooltip=_percentile_tips(key, words)
        )
        layers += [line.mark_line().encode(strokeDash=dash)]
        layers += [line.transform_filter("datum.named").mark_point(filled=True, size=36, opacity=1)]
    chart = altair.layer(*layers).properties(width=charts.WIDTH, height=charts.HEIGHT)
    return Picture(name, _percentile_title(curves, words), _percentile_about(names, curves, words), charts.spec(chart))


def _ticks(last: float) -> list[int]:
    """Return where the axis has its marks; a long one has no room for 0 beside 50 %."""
    return [*([1] if last < ZERO_TOLD_BELOW else []), *(one for one in RARITIES if one <= last)]


def _percentile_tips(key: str, words: Words) -> list[Any]:
    return [
        altair.Tooltip("series:N", title=words("load.tip.line")),
        altair.Tooltip("kind:N", title=words("load.tip.counted")),
        altair.Tooltip("percent:Q", title=words("load.tip.percentile"), format=".6~g"),
        altair.Tooltip(f"{key}:Q", title=words("load.tip.ms"), format=".4~g"),
    ]


def _curve_rows(label: str, curve: Curve) -> list[Row]:
    rows = []
    for point in curve.points:
        row: Row = {"series": label, "rarity": rounded(point.rarity), "latency": rounded(point.latency_ms)}
        if curve.result.model != "closed":
            row["service"] = rounded(point.service_ms)
        if point.percent in NAMED_PERCENTILES:
            row["named"] = True
        rows.append(row)
    return rows


def _percentile_title(curves: Sequence[Curve], words: Words) -> str:
    return words("load.picture.percentiles", what=_what([curve.result for curve in curves], words))


def _percentile_about(names: Sequence[str], curves: Sequence[Curve], words: Words) -> str:
    # Of many lines, the quickest and the slowest are told.
    order = sorted(zip(names, curves, strict=True), key=lambda pair: pair[1].result.p99_ms or 0.0)
    told = [
        words(
            "load.about.percentiles.line",
            line=name,
            p50=number(curve.result.p50_ms or 0.0),
            p99=number(curve.result.p99_ms or 0.0),
            most=number(curve.result.max_ms or 0.0),
        )
        for name, curve in (order if len(order) <= LINES_TOLD_MAX else (order[0], order[-1]))
    ]
    return words("load.about.percentiles", lines=words("load.join").join(told))


def course_pictures(courses: Sequence[Course], words: Words) -> list[Picture]:
    """Return how latency went on over time, a strip per measurement and verb."""
    groups = grouped(courses, [_keys(one.results[0]) for one in courses], COURSES_MAX)
    return [_course_picture(f"load-over-time-{place}", group, words) for place, group in enumerate(groups, 1)]


def _course_picture(name: str, courses: Sequence[Course], words: Words) -> Picture:
    names = labels([(course.record, course.results[0]) for course in courses], words)
    rows = [row for label, course in zip(names, courses, strict=True) for row in _course_rows(label, course)]
    values = [float(row[key]) for row in rows for key in ("p50", "max") if row[key] is not None]
    stats = {key: words(f"load.stat.{key}") for key in ("p50", "p99", "max")}
    colour = altair.Color("series:N", scale=charts.subject_scale(names), legend=None)
    base = altair.Chart(data(rows)).encode(
        x=altair.X(
            "second:Q",
            title=words("load.axis.seconds"),
            scale=altair.Scale(domain=_span(courses), nice=False),
            axis=altair.Axis(tickCount=10),
        ),
        color=colour,
        tooltip=_course_tips(stats, words),
    )
    axis = milliseconds("p50", words("load.axis.latency"), values)
    band = base.mark_area(opacity=0.25).encode(y=axis, y2="p99:Q")
    domain = list(stats.values())
    lines = [
        base.transform_calculate(stat=quoted(stats[key]))
        .mark_line(strokeWidth=width)
        .encode(
            y=milliseconds(key, words("load.axis.latency"), values),
            strokeDash=altair.StrokeDash(
                "stat:N",
                scale=altair.Scale(domain=domain, range=[[1, 0], [5, 3], [1, 3]]),
                title=None,
                legend=altair.Legend(symbolType="stroke", symbolSize=400),
            ),
        )
        for key, width in (("p50", 2), ("p99", 1.5), ("max", 1.5))
    ]
    failures = (
        base.transform_filter("datum.failed > 0")
        .mark_point(shape="triangle-down", filled=True, color=charts.BAD, size=45, opacity=1)
        .encode(y=altair.value(4), color=altair.value(charts.BAD))
    )
    strip = altair.layer(band, *lines, failures).properties(width=charts.WIDTH, height=COURSE_HEIGHT * 2)
    chart: Any = strip
    if len(courses) > 1:
        header = altair.Header(labelOrient="top", labelAnchor="start")
        chart = strip.properties(height=COURSE_HEIGHT).facet(
            row=altair.Row("series:N", title=None, sort=names, header=header)
        )
    title = words("load.picture.over-time", what=_what([one.results[0] for one in courses], words))
    return Picture(name, title, _course_about(names, courses, words), charts.spec(chart))


def _course_tips(stats: dict[str, str], words: Words) -> list[Any]:
    return [
        altair.Tooltip("second:Q", title=words("load.axis.seconds"), format=".4~g"),
        altair.Tooltip("requests:Q", title=words("load.column.requests")),
        altair.Tooltip("failed:Q", title=words("load.column.errors")),
        *(altair.Tooltip(f"{key}:Q", title=f"{text} (ms)", format=".4~g") for key, text in stats.items()),
    ]


def _course_rows(label: str, course: Course) -> list[Row]:
    return [
        {
            "series": label,
            "second": rounded(one.middle),
            "requests": one.requests,
            "failed": one.failed,
            **{key: rounded(getattr(one, f"{key}_ms")) for key in ("p50", "p99", "max")},
        }
        for one in course.bins
    ]


def _course_about(names: Sequence[str], courses: Sequence[Course], words: Words) -> str:
    told = []
    for name, course in zip(names, courses, strict=True):
        seen = [one for one in course.bins if one.p99_ms is not None]
        if not seen:
            continue
        worst: Bin = max(seen, key=lambda one: one.p99_ms or 0.0)
        at, p99 = number(worst.middle), number(worst.p99_ms or 0.0)
        told.append(words("load.about.over-time.line", line=name, p99=p99, second=at))
    widths = sorted({course.bin_seconds for course in courses})
    text = words("load.join").join(told)
    return words("load.about.over-time", bins=" / ".join(f"{width:g}" for width in widths), lines=text)


def _span(courses: Sequence[Course]) -> list[float]:
    half = [(course.bin_seconds / 2, one.middle) for course in courses for one in course.bins]
    return [min(middle - width for width, middle in half), max(middle + width for width, middle in half)]


def _keys(result: LoadResult) -> tuple[object, ...]:
    return result.verb, result.wire, result.subject, result.nodes, result.node_kib


def _what(results: Sequence[LoadResult], words: Words) -> str:
    """Say what all lines of a picture have in common, as far as a heading has room for it."""
    verbs = list(dict.fromkeys(result.verb for result in results))
    models = list(dict.fromkeys(words(f"load.model.{result.model}") for result in results))
    return ", ".join([" + ".join(verbs), " / ".join(models)])


def milliseconds(field: str, title: str, values: Sequence[float]) -> Any:
    """Return a vertical axis for times: logarithmic where they differ by much."""
    low, high = min(values, default=1.0), max(values, default=1.0)
    if low <= 0 or high / low < LINEAR_RATIO_MAX:
        return altair.Y(f"{field}:Q", title=title, scale=altair.Scale(domain=[0, high * 1.05], nice=False))
    decades = [value for exponent in range(-4, 8) if low / 10 < (value := 10.0**exponent) < high * 10]
    return altair.Y(
        f"{field}:Q",
        title=title,
        scale=altair.Scale(type="log", domain=[low * 0.8, high * 1.25], nice=False),
        axis=altair.Axis(format="~g", values=decades),
    )


def _legend(names: Sequence[str]) -> Any:
    """Return a legend, or none where a single line needs no name."""
    return altair.Legend(columns=2, labelLimit=300, symbolType="stroke", symbolSize=400) if len(names) > 1 else None


def rounded(value: float | None) -> float | None:
    """Return a value with more digits than a picture can show, and fewer than the clock invents."""
    return None if value is None else float(f"{value:.{DIGITS}g}")


def share(value: float) -> str:
    """Return a share in percent."""
    return f"{100 * value:.3g} %"


def quoted(text: str) -> str:
    """Return a text as an expression of Vega."""
    return json.dumps(text, ensure_ascii=False)
