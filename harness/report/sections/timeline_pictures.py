"""What many pods did together: how many were bound when, and how long they waited in the order of their creation."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair

from harness.expect.percentile import percentile
from harness.report import charts
from harness.report.document import Picture
from harness.report.sections.drawing import MS, bins, by_variant, data, rounded, sized, thinned, told_apart
from harness.report.sections.grouping import Group, Shown
from harness.report.sections.lives import Life
from harness.report.words import Words

_BINS = 40
_PANEL_PIXELS = 110


def throughput(group: Group, mine: Mapping[Shown, Sequence[Life]], words: Words) -> Picture:
    """Return how many pods had been created and bound when; its slope is the throughput."""
    created, bound = words("run.part.created"), words("run.part.bound")
    rows, told = [], []
    for one, lives in mine.items():
        begin_t = lives[0].pod.created_t
        moments = {
            created: [life.pod.created_t for life in lives],
            bound: sorted(life.pod.bound_t for life in lives if life.pod.bound_t is not None),
        }
        for what, times in moments.items():
            for place, t in thinned(times):
                row = {"run": one.label, "variant": one.variant, "what": what}
                rows.append({**row, "at": rounded(t - begin_t), "pods": place + 1})
        speed = one.run.pods_per_second
        if speed is not None:
            values = {"bound": len(moments[bound]), "of": len(lives), "speed": f"{speed:.1f}"}
            told.append(words("run.timeline.told-speed", run=one.label, **values))
    dash = altair.StrokeDash(
        "what:N",
        title=None,
        scale=altair.Scale(domain=[bound, created], range=[[1, 0], [4, 3]]),
        legend=altair.Legend(orient="top"),
    )
    chart = (
        altair.Chart(data(rows))
        .mark_line(strokeWidth=2, interpolate="step-after")
        .encode(
            x=altair.X("at:Q", title=words("run.axis.since_s")),
            y=altair.Y("pods:Q", title=words("run.axis.pods-total")),
            **told_apart(group.variants, words("run.column.variant"), dashed=False),
            strokeDash=dash,
            detail="run:N",
            tooltip=[
                altair.Tooltip("run:N", title=words("run.column.run")),
                altair.Tooltip("what:N", title=words("run.column.what")),
                altair.Tooltip("at:Q", title=words("run.axis.since_s")),
                altair.Tooltip("pods:Q", title=words("run.axis.pods-total")),
            ],
        )
    )
    about = words("run.timeline.about-throughput", told=words("run.join").join(told) or "-")
    title = words("run.timeline.picture-throughput", scenario=group.scenario)
    return Picture(f"throughput{group.suffix}", title, about, charts.spec(sized(chart)))


def bands(group: Group, mine: Mapping[Shown, Sequence[Life]], words: Words) -> Picture | None:
    """Return how long pods waited, in the order of their creation: the middle, and between which most lie."""
    rows: list[dict[str, Any]] = []
    size = 1
    for one, lives in mine.items():
        bound = [(life, life.wait_seconds) for life in lives if life.wait_seconds is not None]
        place = 0
        for some in bins(bound, _BINS):
            waits = sorted(MS * wait for _, wait in some if wait is not None)
            low, middle, high = (rounded(percentile(waits, percent)) for percent in (10, 50, 90))
            row = {"run": one.label, "variant": one.variant, "first": place + 1, "last": place + len(some)}
            rows.append({**row, "low": low, "middle": middle, "high": high, "most": rounded(waits[-1])})
            place += len(some)
            size = max(size, len(some))
        if bound:
            # A step needs an end.
            rows.append({**rows[-1], "first": place})
    if not rows:
        return None
    base = altair.Chart().encode(x=altair.X("first:Q", title=words("run.axis.order")), color=by_variant(group, words))
    band = base.mark_area(opacity=0.3, interpolate="step-after").encode(
        y=altair.Y("low:Q", title=words("run.axis.wait_ms")), y2="high:Q"
    )
    tips = [altair.Tooltip(f"{key}:Q", title=words(f"run.band.{key}")) for key in ("first", "last")]
    tips += [altair.Tooltip(f"{key}:Q", title=words(f"run.band.{key}")) for key in ("low", "middle", "high", "most")]
    line = base.mark_line(interpolate="step-after", strokeWidth=2).encode(y="middle:Q", tooltip=tips)
    panel = altair.layer(band, line).properties(width=charts.WIDTH, height=_PANEL_PIXELS)
    order = [one.label for one in mine]
    rows_of = altair.Row("run:N", sort=order, title=None, header=altair.Header(labelOrient="top", labelAnchor="start"))
    chart = panel.facet(row=rows_of, data=data(rows))
    about = words("run.timeline.about-bands", size=size)
    title = words("run.timeline.picture-bands", scenario=group.scenario)
    return Picture(f"waiting-bands{group.suffix}", title, about, charts.spec(chart))
