"""The variants side by side: one row per scenario and variant, repeats together. Pure."""

from collections.abc import Sequence
from typing import Any

import altair

from harness.report import charts
from harness.report.compare import PERCENTILES, Compared, compared
from harness.report.distance import RUNS_MIN
from harness.report.document import Block, Cell, Column, Picture, Section, Table, Text
from harness.report.sections.drawing import data, rounded, sized, thinned, told_apart
from harness.report.sections.grouping import GROUPS_DRAWN_MAX, Group, groups, shown
from harness.report.sources import Sources
from harness.report.words import Words

_DRAWN_PODS_MIN = 5
# A span over more than this reads better on a logarithmic axis.
_LOGARITHMIC_FROM = 100


def section(sources: Sources, words: Words) -> Section | None:
    """Return the comparison of all runs."""
    if not sources.runs:
        return None
    rows = compared((one.scenario, one.variant, one.run) for one in shown(sources.runs))
    blocks: list[Block] = [_table(rows, words)]
    for group in groups(sources.runs)[:GROUPS_DRAWN_MAX]:
        mine = [row for row in rows if row.scenario == group.scenario]
        if max((len(row.waits_ms) for row in mine), default=0) >= _DRAWN_PODS_MIN:
            blocks += [Text(finding) for finding in _finding(mine, words)]
            blocks.append(_picture(group, mine, words))
    return Section("comparison", words("run.comparison.title"), tuple(blocks), brief=True)


def _table(rows: Sequence[Compared], words: Words) -> Table:
    counted = {"running": [row.running for row in rows], "pending": [row.pending for row in rows]}
    tried = [tuple(count for count in row.attempts if count is not None) for row in rows]
    counted["attempts"] = [counts if len(counts) == row.runs else () for counts, row in zip(tried, rows, strict=True)]
    # One scenario for all rows is told once, above: the room is needed for figures.
    alike = len({row.scenario for row in rows}) == 1
    columns = [Column("scenario", words("run.column.scenario"), in_files_only=alike)]
    columns += [Column(key, words(f"run.column.{key}")) for key in ("variant", "runs", "held")]
    cells: list[list[Cell]] = [[row.scenario, row.variant, row.runs, row.held] for row in rows]
    for key, per_row in counted.items():
        _add_counts(key, per_row, columns, cells, words)
    columns += [Column(f"p{percent}_ms", words("run.column.wait_ms", percent=percent), 1) for percent in PERCENTILES]
    rates = (("pods_per_second", 1), ("extender_share_percent", 1), ("cpu_ms_per_pod", 2))
    columns += [Column(key, words(f"run.column.{key}"), digits) for key, digits in rates]
    for row, line in zip(rows, cells, strict=True):
        line += [row.wait_ms(percent) for percent in PERCENTILES]
        share = None if row.extender_share is None else 100 * row.extender_share
        line += [row.pods_per_second, share, row.cpu_ms_per_pod]
    return Table(
        "comparison",
        words("run.comparison.table-one", scenario=rows[0].scenario) if alike else words("run.comparison.table"),
        tuple(columns),
        tuple(tuple(line) for line in cells),
        note=words("run.comparison.note"),
        marks={place: "bad" for place, row in enumerate(rows) if row.held < row.runs},
        filters=("variant",) if alike else ("scenario", "variant"),
    )


def _add_counts(
    key: str, per_row: Sequence[Sequence[int]], columns: list[Column], cells: list[list[Cell]], words: Words
) -> None:
    """Add one column, or two where repeats differ: the least and the most."""
    if all(len(set(counts)) <= 1 for counts in per_row):
        columns.append(Column(key, words(f"run.column.{key}")))
        ends: list[tuple[Cell, ...]] = [(counts[0],) if counts else (None,) for counts in per_row]
    else:
        columns += [Column(f"{key}_{end}", words(f"run.column.{key}_{end}")) for end in ("min", "max")]
        ends = [(min(counts), max(counts)) if counts else (None, None) for counts in per_row]
    for line, values in zip(cells, ends, strict=True):
        line.extend(values)


def _finding(rows: Sequence[Compared], words: Words) -> list[str]:
    """Say who was quickest and slowest, where there is somebody to compare with."""
    waits = {row.variant: wait for row in rows if (wait := row.wait_ms(50)) is not None}
    if len(waits) < 2:  # noqa: PLR2004 - a comparison needs two
        return []
    quick, slow = min(waits, key=waits.__getitem__), max(waits, key=waits.__getitem__)
    values = {"quick": quick, "quick_ms": f"{waits[quick]:.1f}", "slow": slow, "slow_ms": f"{waits[slow]:.1f}"}
    told = words("run.comparison.finding", scenario=rows[0].scenario, **values)
    return [told + _doubt([row.runs for row in rows if row.variant in waits], words)]


def _doubt(runs: Sequence[int], words: Words) -> str:
    """Say that an order of so few runs may be chance; the chapter on differences asks for as many."""
    if max(runs) == 1:
        return words("run.comparison.once")
    return words("run.comparison.few", least=RUNS_MIN) if min(runs) < RUNS_MIN else ""


def _picture(group: Group, rows: Sequence[Compared], words: Words) -> Picture:
    points: list[dict[str, Any]] = []
    for row in rows:
        count = len(row.waits_ms)
        for place, wait in thinned(row.waits_ms):
            points.append({"variant": row.variant, "wait": rounded(wait), "share": rounded((place + 1) / count, 5)})
    least, most = (end(row.waits_ms[place] for row in rows if row.waits_ms) for end, place in ((min, 0), (max, -1)))
    wide = 0 < _LOGARITHMIC_FROM * least < most
    chart = (
        altair.Chart(data(points))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=altair.X("wait:Q", title=words("run.axis.wait_ms"), scale=_scale(wide=wide)),
            y=altair.Y("share:Q", title=words("run.axis.share"), axis=altair.Axis(format="%")),
            **told_apart(group.variants, words("run.column.variant")),
            tooltip=[
                altair.Tooltip("variant:N", title=words("run.column.variant")),
                altair.Tooltip("wait:Q", title=words("run.axis.wait_ms")),
                altair.Tooltip("share:Q", title=words("run.axis.share"), format=".1%"),
            ],
        )
    )
    parts = [_told(row, words) for row in rows if row.waits_ms]
    return Picture(
        f"waiting{group.suffix}",
        words("run.comparison.picture", scenario=group.scenario),
        words("run.comparison.about", told=words("run.join").join(parts)),
        charts.spec(sized(chart)),
    )


def _scale(*, wide: bool) -> Any:
    return altair.Scale(type="log") if wide else altair.Scale(zero=True)


def _told(row: Compared, words: Words) -> str:
    p50, p99 = row.wait_ms(50) or 0.0, row.wait_ms(99) or 0.0
    return words("run.comparison.told", variant=row.variant, p50=f"{p50:.1f}", p99=f"{p99:.1f}")
