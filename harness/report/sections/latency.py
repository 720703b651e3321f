"""The curve of an extender's latency over percentiles: the more nines, the more room, since that is where it hurts."""

from collections.abc import Sequence
from typing import Any

import altair

from harness.expect.percentile import percentile
from harness.report import charts
from harness.report.document import Block, Picture, Text
from harness.report.sections.drawing import MS, data, rounded, sized
from harness.report.sections.grouping import Group
from harness.report.words import Words

SERIES_MAX = len(charts.SUBJECTS)
CALLS_MIN = 5
_POINTS_PER_TENFOLD = 25
_TENFOLDS_MAX = 6


def latency_curves(group: Group, words: Words) -> list[Block]:
    """Return the picture of one scenario's runs: a line per run, extender and kind of call with enough calls."""
    series = {name: times for name, times in _series(group).items() if len(times) >= CALLS_MIN}
    if not series:
        return []
    drawn = dict(list(series.items())[:SERIES_MAX])
    blocks: list[Block] = [_picture(group, drawn, words)]
    if len(series) > len(drawn):
        blocks.append(Text(words("run.drawn", drawn=len(drawn), count=len(series))))
    return blocks


def curve(ordered: Sequence[float]) -> list[tuple[float, float]]:
    """Return (1 / (1 - p), value) so that the value at p is the smallest that so large a share lies at or below."""
    count = len(ordered)
    places = {0, count - 1}
    for step in range(_POINTS_PER_TENFOLD * _TENFOLDS_MAX):
        place = count - round(count / 10 ** (step / _POINTS_PER_TENFOLD))
        places.add(min(max(place, 0), count - 1))
    points = [(count / (count - place), ordered[place]) for place in sorted(places)]
    # The longest is that of every percentile beyond the last call but one.
    return [*points, (2.0 * count, ordered[-1])]


def _series(group: Group) -> dict[str, list[float]]:
    several = sum(bool(one.run.record.calls) for one in group.runs) > 1
    series: dict[str, list[float]] = {}
    for one in group.runs:
        for call in one.run.record.calls:
            if call.seconds is not None and call.kind:
                name = f"{call.extender} {call.kind}"
                series.setdefault(f"{one.label}: {name}" if several else name, []).append(MS * call.seconds)
    return {name: sorted(times) for name, times in series.items()}


def _picture(group: Group, series: dict[str, list[float]], words: Words) -> Picture:
    rows = [
        {"series": name, "over": rounded(over, 6), "ms": rounded(ms, 4), "share": rounded(1 - 1 / over, 8)}
        for name, times in series.items()
        for over, ms in curve(times)
    ]
    told = []
    for name, times in series.items():
        ends = {f"p{percent}": f"{percentile(times, percent):.2f}" for percent in (50, 99)}
        told.append(words("run.extenders.told", series=name, calls=len(times), most=f"{times[-1]:.2f}", **ends))
    chart = (
        altair.Chart(data(rows))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=altair.X(
                "over:Q", title=words("run.axis.percentile"), scale=altair.Scale(type="log", nice=False), axis=_axis()
            ),
            y=altair.Y("ms:Q", title=words("run.axis.call_ms"), scale=_height(series)),
            color=altair.Color(
                "series:N",
                title=None,
                scale=charts.subject_scale(list(series)),
                legend=altair.Legend(orient="top", columns=2, labelLimit=300),
            ),
            tooltip=[
                altair.Tooltip("series:N", title=words("run.column.call")),
                altair.Tooltip("share:Q", title=words("run.axis.percentile"), format=".3~%"),
                altair.Tooltip("ms:Q", title=words("run.axis.call_ms")),
            ],
        )
    )
    return Picture(
        f"extender-latency{group.suffix}",
        words("run.extenders.picture", scenario=group.scenario),
        words("run.extenders.about", told=words("run.join").join(told)),
        charts.spec(sized(chart)),
    )


def _axis() -> Any:
    values = [1, 2, 4, 10, 20, 100, 200, 1000, 10_000, 100_000]
    return altair.Axis(values=values, labelExpr="format(1 - 1 / datum.value, '.6~p')")


def _height(series: dict[str, list[float]]) -> Any:
    least, most = min(times[0] for times in series.values()), max(times[-1] for times in series.values())
    # Over more than a tenfold, the usual calls would lie flat on the ground below a single slow one.
    return altair.Scale(type="log") if least > 0 and most > 10 * least else altair.Scale(zero=True)
