"""The picture of single pods over time: a bar for waiting, one for starting, a mark for every refusal and attempt."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair

from harness.report import charts
from harness.report.document import Picture
from harness.report.sections.drawing import MS, data, rounded, sized
from harness.report.sections.grouping import Group, Shown, slug
from harness.report.sections.lives import Life
from harness.report.words import Words

_ROW_PIXELS = 14
_MARKS_PER_POD_MAX = 100
_ROOM = 1.03

Row = dict[str, Any]


@dataclass(frozen=True)
class Frame:
    """The time axis of a picture: what its times count from, and between which it lies."""

    zero_t: float
    begin_t: float
    end_t: float

    def at_ms(self, t: float) -> float | None:
        """Return a moment as the axis has it."""
        return rounded(MS * (t - self.zero_t))


def gantt(  # noqa: PLR0913 - what is drawn, and in which frame
    group: Group,
    one: Shown,
    lives: Sequence[Life],
    words: Words,
    end_seconds: float | None = None,
    *,
    of: int | None = None,
    zero_t: float | None = None,
) -> Picture:
    """Return the bars of pods, in the order of their creation.

    Args:
        group: the runs whose pictures have the same colours.
        one: the run.
        lives: its pods.
        words: the language.
        end_seconds: where the time axis ends; at the last moment of these pods unless told.
        of: how many pods these are the slowest of.
        zero_t: what times count from; the creation of the first of these pods unless told.
    """
    start_t = lives[0].pod.created_t
    zero_t = start_t if zero_t is None else zero_t
    if end_seconds is None:
        end_seconds = max((t for life in lives for t in life.moments_t), default=one.run.record.end_t) - start_t
    end_t = start_t + _ROOM * max(end_seconds, 0.001)
    names = _names(lives)
    frame = Frame(zero_t, start_t, end_t)
    y = altair.Y("name:N", sort=list(names.values()), title=words("run.column.pod"), axis=altair.Axis(labelLimit=200))
    bars = _bars(one, _segments(lives, names, frame, words), y, words, frame)
    moments = _moments(lives, names, frame, words)
    # Of an empty layer Vega would still tell readers that it holds marks.
    layers = [bars, _marks(moments, y, words)] if moments else [bars]
    shape = "slowest" if of else "timeline"
    about = words(
        f"run.timeline.about-{shape}",
        run=one.label,
        count=len(lives),
        of=of or len(lives),
        retries=sum(life.retries for life in lives),
        pending=sum(life.pod.pending for life in lives),
        most=f"{MS * max((life.wait_seconds or 0.0 for life in lives), default=0.0):.1f}",
    )
    return Picture(
        f"{shape}{group.suffix}-{slug(one.variant)}-{one.repeat}",
        words(f"run.timeline.picture-{shape}", run=one.title, count=len(lives)),
        about,
        charts.spec(sized(altair.layer(*layers), _ROW_PIXELS * len(lives))),
    )


def _bars(one: Shown, rows: Sequence[Row], y: Any, words: Words, frame: Frame) -> Any:
    parts = {
        words("run.part.waiting"): charts.colours([one.variant])[one.variant],
        words("run.part.starting"): charts.NEUTRAL,
        words("run.part.pending"): charts.BAD,
    }
    used = [part for part in parts if any(row["part"] == part for row in rows)]
    colour = altair.Color(
        "part:N",
        title=None,
        scale=altair.Scale(domain=used, range=[parts[part] for part in used]),
        legend=altair.Legend(orient="top"),
    )
    domain = [frame.at_ms(frame.begin_t), frame.at_ms(frame.end_t)]
    tips = [altair.Tooltip(f"{tip}:N", title=words(f"run.column.{tip}")) for tip in ("pod", "node", "part", "state")]
    return (
        altair.Chart(data(rows))
        .mark_bar(height=9)
        .encode(
            x=altair.X("from:Q", title=words("run.axis.since_ms"), scale=altair.Scale(domain=domain, nice=False)),
            x2="to:Q",
            y=y,
            color=colour,
            tooltip=[*tips, altair.Tooltip("ms:Q", title=words("run.column.lasted_ms"))],
        )
    )


def _segments(lives: Sequence[Life], names: Mapping[str, str], frame: Frame, words: Words) -> list[Row]:
    rows: list[Row] = []
    for pod in (life.pod for life in lives):
        gone_t = pod.deleted_t or frame.end_t
        never = words("run.part.pending")
        spans = [
            (words("run.part.waiting") if pod.bound_t is not None else never, pod.created_t, pod.bound_t or gone_t)
        ]
        if pod.bound_t is not None:
            spans.append((words("run.part.starting"), pod.bound_t, pod.running_t or gone_t))
        for part, from_t, to_t in spans:
            start_t, stop_t = max(from_t, frame.begin_t), min(to_t, frame.end_t)
            if stop_t >= start_t:
                state = words("run.pod.pending") if pod.pending else pod.phase
                whom = {"name": names[pod.uid], "pod": pod.full_name, "node": pod.node or "", "state": state}
                times = {"from": frame.at_ms(start_t), "to": frame.at_ms(stop_t), "ms": rounded(MS * (to_t - from_t))}
                rows.append({**whom, "part": part, **times})
    return rows


def _moments(lives: Sequence[Life], names: Mapping[str, str], frame: Frame, words: Words) -> list[Row]:
    """Return every refusal, and the beginning of every attempt where there were several."""
    rows: list[Row] = []
    for life in lives:
        moments = [(t, words("run.part.refused")) for t in life.refused_t]
        if len(life.tried_t) > 1:
            moments += [(t, words("run.part.tried")) for t in life.tried_t]
        # The table has the number of all attempts; so many marks on one bar cannot be told apart anyway.
        rows += [
            {"name": names[life.pod.uid], "pod": life.pod.full_name, "at": frame.at_ms(t), "what": what}
            for t, what in sorted(moments)[:_MARKS_PER_POD_MAX]
            if frame.begin_t <= t <= frame.end_t
        ]
    return rows


def _marks(rows: Sequence[Row], y: Any, words: Words) -> Any:
    forms = {words("run.part.refused"): "cross", words("run.part.tried"): "triangle-up"}
    used = [what for what in forms if any(row["what"] == what for row in rows)]
    shapes = altair.Scale(domain=used, range=[forms[what] for what in used])
    return (
        altair.Chart(data(rows))
        .mark_point(size=45, filled=True, opacity=1, color="black", stroke="white", strokeWidth=0.6)
        .encode(
            x="at:Q",
            y=y,
            shape=altair.Shape("what:N", title=None, scale=shapes, legend=altair.Legend(orient="top")),
            tooltip=[
                altair.Tooltip("pod:N", title=words("run.column.pod")),
                altair.Tooltip("what:N", title=words("run.column.what")),
                altair.Tooltip("at:Q", title=words("run.axis.since_ms")),
            ],
        )
    )


def _names(lives: Sequence[Life]) -> dict[str, str]:
    """Return what each bar is called, by UID: pods of a name that comes again are numbered."""
    spaces = {life.pod.namespace for life in lives}
    seen: Counter[str] = Counter()
    names = {}
    for pod in (life.pod for life in lives):
        name = pod.full_name if len(spaces) > 1 else pod.name
        seen[name] += 1
        names[pod.uid] = name if seen[name] == 1 else f"{name} #{seen[name]}"
    return names
