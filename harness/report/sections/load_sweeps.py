"""Pictures made of many results of a load: latency over the number of nodes, and the knee. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair

from harness.record.load import Knee, LoadRecord, LoadResult
from harness.report import charts
from harness.report.document import Picture
from harness.report.load import shortened
from harness.report.sections.drawing import data
from harness.report.sections.load_names import distinct, grouped, knee_labels, number
from harness.report.sections.load_pictures import DASHES, LINES_MAX, Row, milliseconds, rounded
from harness.report.words import Words

SIZES_MIN, STEPS_MIN = 2, 2
PANEL_HEIGHT = 170
ACHIEVED_HEIGHT = 120
IDEAL_POINTS = 30
SAME_RATE = 1e-6
# A slanted cross that can be filled, which Vega does not have.
CROSS = "M-1.1-.7L-.7-1.1 0-.4 .7-1.1 1.1-.7 .4 0 1.1.7 .7 1.1 0 .4-.7 1.1-1.1 .7-.4 0Z"
LOG_RATIO_MIN = 4.0


def nodes_pictures(records: Sequence[LoadRecord], words: Words) -> list[Picture]:
    """Return latency over the number of nodes, a panel per verb, for whatever was measured with several sizes."""
    lines: dict[tuple[object, ...], list[LoadResult]] = {}
    for result in (result for record in records if not record.knees for result in record.results):
        if not result.generator_limited and result.p50_ms is not None:
            load = result.rate if result.model == "open" else result.schedulers
            what = (result.subject, result.verb, result.wire, result.node_kib, result.model, load)
            lines.setdefault(what, []).append(result)
    swept = [results for results in lines.values() if len({one.nodes for one in results}) >= SIZES_MIN]
    keys = [(one[0].model, one[0].verb, one[0].subject) for one in swept]
    return [
        _nodes_picture(f"load-nodes-{place}", group, words) for place, group in enumerate(_by_model(swept, keys), 1)
    ]


def _by_model(swept: Sequence[list[LoadResult]], keys: Sequence[tuple[object, ...]]) -> list[list[list[LoadResult]]]:
    """Return lines by picture: the two models never share one."""
    groups = []
    for model in dict.fromkeys(key[0] for key in keys):
        mine = [(one, key) for one, key in zip(swept, keys, strict=True) if key[0] == model]
        groups += grouped([one for one, _ in mine], [key[1:] for _, key in mine], LINES_MAX)
    return groups


def _nodes_picture(name: str, lines: Sequence[list[LoadResult]], words: Words) -> Picture:
    names = _line_names(lines, words)
    stats = {"p50_ms": words("load.stat.p50"), "p99_ms": words("load.stat.p99")}
    rows: list[Row] = [
        {"line": label, "nodes": one.nodes, "stat": text, "ms": rounded(getattr(one, key)), "requests": one.requests}
        for label, results in zip(names, lines, strict=True)
        for one in results
        for key, text in stats.items()
    ]
    counts = sorted({one.nodes for results in lines for one in results})
    chart = (
        altair.Chart(data(rows))
        .mark_line(point=altair.OverlayMarkDef(size=45, filled=True))
        .encode(
            x=altair.X(
                "nodes:Q",
                title=words("load.axis.nodes"),
                scale=_span(counts),
                axis=altair.Axis(values=counts, format="~d", labelOverlap=True),
            ),
            y=milliseconds("ms", words("load.axis.latency"), [row["ms"] for row in rows]),
            color=altair.Color(
                "line:N",
                title=None,
                scale=charts.subject_scale(names),
                legend=altair.Legend(columns=2, labelLimit=300, symbolType="stroke", symbolSize=400),
            ),
            strokeDash=altair.StrokeDash(
                "stat:N",
                title=None,
                scale=altair.Scale(domain=list(stats.values()), range=list(DASHES)),
                legend=altair.Legend(symbolType="stroke", symbolSize=400),
            ),
            tooltip=_size_tips(words),
        )
        .properties(width=charts.WIDTH, height=charts.HEIGHT)
    )
    title = words("load.picture.nodes", verbs=" + ".join(dict.fromkeys(one[0].verb for one in lines)))
    return Picture(name, title, _nodes_about(names, lines, words), charts.spec(chart))


def _line_names(lines: Sequence[list[LoadResult]], words: Words) -> list[str]:
    return distinct(
        [
            (
                shortened(one[0].subject),
                one[0].verb,
                words(f"load.wire.{one[0].wire}"),
                words("load.kib", kib=number(one[0].node_kib)) if one[0].node_kib is not None else "",
                words("load.open", rate=number(one[0].rate)) if one[0].rate is not None else "",
                "",
            )
            for one in lines
        ],
        otherwise=2,
    )


def _size_tips(words: Words) -> list[Any]:
    return [
        altair.Tooltip("line:N", title=words("load.tip.line")),
        altair.Tooltip("nodes:Q", title=words("load.axis.nodes")),
        altair.Tooltip("stat:N", title=words("load.tip.percentile")),
        altair.Tooltip("ms:Q", title=words("load.tip.ms"), format=".4~g"),
        altair.Tooltip("requests:Q", title=words("load.column.requests")),
    ]


def _nodes_about(names: Sequence[str], lines: Sequence[list[LoadResult]], words: Words) -> str:
    told = []
    for name, results in zip(names, lines, strict=True):
        least, most = min(results, key=lambda one: one.nodes), max(results, key=lambda one: one.nodes)
        values = {"low": number(least.p50_ms or 0.0), "high": number(most.p50_ms or 0.0)}
        told.append(words("load.about.nodes.line", line=name, few=least.nodes, many=most.nodes, **values))
    return words("load.about.nodes", lines=words("load.join").join(told))


def knee_pictures(records: Sequence[LoadRecord], words: Words) -> list[Picture]:
    """Return p99 and answered requests over the offered rate, for searches of which enough steps are the extender's."""
    found = [(record, knee, steps) for record in records for knee in record.knees if (steps := _steps(record, knee))]
    enough = [one for one in found if len(one[2]) >= STEPS_MIN]
    made: list[Picture] = []
    for budget in dict.fromkeys(knee.budget_ms for _, knee, _ in enough):
        mine = [one for one in enough if one[1].budget_ms == budget]
        keys = [(knee.verb, knee.wire, knee.nodes, knee.node_kib, knee.subject) for _, knee, _ in mine]
        for group in grouped(mine, keys, LINES_MAX):
            made.append(_knee_picture(f"load-knee-{len(made) + 1}", group, words))
    return made


def _steps(record: LoadRecord, knee: Knee) -> list[dict[str, Any]]:
    """Return the steps that the generator did not limit, by their rates, with what was answered of all verbs."""
    return [
        {
            "rate": rounded(step["rate"]),
            "p99": rounded(step.get("p99_ms")),
            "answered": rounded(_answered(record, knee, step)),
            "errors": step.get("errors"),
            "within": bool(step.get("within")),
        }
        for step in sorted(knee.steps, key=lambda one: float(one["rate"]))
        if not step.get("generator_limited")
    ]


def _answered(record: LoadRecord, knee: Knee, step: Mapping[str, Any]) -> float | None:
    """Return how many requests per second of all verbs were answered."""
    if "worst_verb" in step:
        return float(step["achieved_rate"])
    # A step of an older record has the rate of its worst verb only; those of all stand in the results.
    verbs = knee.verb.split("+")
    share = float(step["rate"]) / len(verbs)
    own = {
        result.verb: result.achieved_rate
        for result in record.results
        if (result.subject, result.nodes, result.wire) == (knee.subject, knee.nodes, knee.wire)
        and result.rate is not None
        and abs(result.rate - share) <= SAME_RATE * share
    }
    return sum(own.values()) if set(own) == set(verbs) else None


def _knee_picture(name: str, group: Sequence[tuple[LoadRecord, Knee, list[dict[str, Any]]]], words: Words) -> Picture:
    names = knee_labels([(record, knee) for record, knee, _ in group], words)
    states = {True: words("load.step.within"), False: words("load.step.failed")}
    rows = [
        {**step, "line": label, "state": states[step["within"]]}
        for label, (_, _, steps) in zip(names, group, strict=True)
        for step in steps
    ]
    budget = group[0][1].budget_ms
    rates = [row["rate"] for row in rows]
    colour = altair.Color(
        "line:N",
        title=None,
        scale=charts.subject_scale(names),
        legend=altair.Legend(columns=2, labelLimit=300, symbolType="stroke", symbolSize=400)
        if len(names) > 1
        else None,
    )
    shape = altair.Shape(
        "state:N",
        title=None,
        scale=altair.Scale(domain=list(states.values()), range=["circle", CROSS]),
        legend=altair.Legend(symbolFillColor=charts.NEUTRAL, symbolStrokeColor=charts.NEUTRAL),
    )
    base = altair.Chart(data(rows)).encode(
        x=altair.X(
            "rate:Q",
            title=words("load.axis.offered"),
            scale=_span(rates),
            axis=altair.Axis(values=sorted(set(rates)), format="d", labelOverlap=True),
        ),
        color=colour,
        tooltip=_step_tips(words),
    )
    slow = milliseconds("p99", words("load.axis.p99"), [*(row["p99"] for row in rows if row["p99"]), budget])
    line = base.encode(y=slow)
    limit = altair.Chart(data([{"budget": budget, "told": words("load.budget", ms=number(budget))}]))
    top = altair.layer(
        limit.mark_rule(strokeDash=[6, 4], color=charts.BAD).encode(y="budget:Q"),
        limit.mark_text(align="left", baseline="bottom", dx=4, dy=-3, color=charts.BAD).encode(
            x=altair.value(0), y="budget:Q", text="told:N"
        ),
        line.mark_line(),
        line.mark_point(filled=True, size=70, opacity=1).encode(shape=shape),
    ).properties(width=charts.WIDTH, height=PANEL_HEIGHT)
    chart: Any = altair.vconcat(top, _achieved(base, rates, shape, words)).resolve_scale(shape="shared")
    about = _knee_about(names, group, words)
    return Picture(name, words("load.picture.knee"), about, charts.spec(chart))


def _achieved(base: Any, rates: Sequence[float], shape: Any, words: Words) -> Any:
    """Return the lower panel: what was answered, beside what was asked."""
    low, high = min(rates), max(rates)
    # Many points: on a logarithmic axis the line is bent.
    even = [low + (high - low) * place / IDEAL_POINTS for place in range(IDEAL_POINTS + 1)]
    ideal = altair.Chart(data([{"rate": rounded(rate), "answered": rounded(rate)} for rate in even]))
    y = altair.Y("answered:Q", title=words("load.axis.achieved"), axis=altair.Axis(format="~d", tickCount=4))
    answered = base.encode(y=y)
    return altair.layer(
        ideal.mark_line(strokeDash=[2, 3], color=charts.NEUTRAL, strokeWidth=1.5).encode(x="rate:Q", y=y),
        answered.mark_line(),
        answered.mark_point(filled=True, size=70, opacity=1).encode(shape=shape),
    ).properties(width=charts.WIDTH, height=ACHIEVED_HEIGHT)


def _step_tips(words: Words) -> list[Any]:
    return [
        altair.Tooltip("line:N", title=words("load.tip.line")),
        altair.Tooltip("rate:Q", title=words("load.axis.offered"), format=".4~g"),
        altair.Tooltip("answered:Q", title=words("load.axis.achieved"), format=".4~g"),
        altair.Tooltip("p99:Q", title=words("load.axis.p99"), format=".4~g"),
        altair.Tooltip("errors:Q", title=words("load.column.errors")),
        altair.Tooltip("state:N", title=words("load.tip.state")),
    ]


def _knee_about(
    names: Sequence[str], group: Sequence[tuple[LoadRecord, Knee, list[dict[str, Any]]]], words: Words
) -> str:
    told = []
    left_out = 0
    for name, (_, knee, steps) in zip(names, group, strict=True):
        shape = "none" if not knee.rate else "line" if knee.limited_by == "extender" else "least"
        key = f"load.about.knee.{shape}"
        told.append(words(key, line=name, rate=number(knee.rate), budget=number(knee.budget_ms)))
        left_out += len(knee.steps) - len(steps)
    more = words("load.about.knee.left-out", count=left_out) if left_out else ""
    return words("load.about.knee", lines=words("load.join").join(told)) + more


def _span(values: Sequence[float]) -> Any:
    """Return a scale for sizes and rates: logarithmic where they differ by much."""
    low, high = min(values), max(values)
    if low <= 0 or high / low < LOG_RATIO_MIN:
        return altair.Scale(zero=False, padding=12)
    return altair.Scale(type="log", domain=[low / 1.15, high * 1.15], nice=False)
