"""Trends for a terminal of a hundred columns: a row per course with its curve, then every change. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from harness.report.document import Cell, Column, Table
from harness.report.render.cells import shown
from harness.report.section_text import table_text, wrapped
from harness.report.trend import FACTOR, IN_A_ROW, SHARE, WINDOW_MAX, WINDOW_MIN, Change, Course, Gathered
from harness.report.words import Words

BARS = "▁▂▃▄▅▆▇█"
CURVE_CHARACTERS = 12
RUNS_MIN = 2
DIGITS = 1
ALL_ROWS = 10_000


def trend_text(found: Gathered, figures: Sequence[str], words: Words) -> str:
    """Return what a person wants to know."""
    courses = [course for course in found.courses if len(course.points) >= RUNS_MIN]
    lines: list[str] = []
    for cluster, machine in dict.fromkeys((course.cluster, course.machine) for course in courses):
        mine = [course for course in courses if (course.cluster, course.machine) == (cluster, machine)]
        lines += [table_text(_table(mine, figures, words), words, ALL_ROWS), ""]
    if not courses:
        lines += [words("compare.trend.nothing"), ""]
    changes = [(course, change) for course in courses for change in course.changes(figures)]
    for course, change in changes:
        lines += wrapped(f"- {_told(course, change, words)}", "  ")
    if courses and not changes:
        lines.append(words("compare.trend.no_changes"))
    rule = {
        "least": WINDOW_MIN,
        "most": WINDOW_MAX,
        "row": IN_A_ROW,
        "factor": f"{FACTOR:g}",
        "percent": f"{SHARE:.0%}",
    }
    lines += wrapped(f"({words('compare.trend.rule', **rule)})") if courses else []
    lines += [line for note in _skipped(found, len(found.courses) - len(courses), words) for line in wrapped(note)]
    return "\n".join(lines).rstrip()


def curve(values: Sequence[float], most: int = CURVE_CHARACTERS) -> str:
    """Return the last values as a row of bars, from their least to their most; medians where there are too many."""
    if len(values) > most:
        edges = [round(place * len(values) / most) for place in range(most + 1)]
        values = [median(values[start:end]) for start, end in pairwise(edges)]
    low, high = min(values, default=0.0), max(values, default=0.0)
    if high <= low:
        return BARS[len(BARS) // 2] * len(values)
    return "".join(BARS[round((value - low) / (high - low) * (len(BARS) - 1))] for value in values)


def _table(courses: Sequence[Course], figures: Sequence[str], words: Words) -> Table:
    names = [words(f"compare.trend.metric.{figure}") for figure in figures]
    columns = (
        Column("course", words("compare.column.scenario")),
        Column("runs", words("compare.column.runs")),
        Column("held", words("compare.trend.column.held")),
        Column("curve", words("compare.trend.column.curve", figure=names[0].split()[0])),
        *(Column(figure, name, DIGITS) for figure, name in zip(figures, names, strict=True)),
    )
    titles = Counter(course.title for course in courses)
    rows = tuple(
        # Scenarios that were changed go on under the same name, and are another course.
        _row(course, f"{course.title} {course.digest[:4]}" if titles[course.title] > 1 else course.title, figures)
        for course in courses
    )
    count = words("compare.trend.records", count=sum(len(course.points) for course in courses))
    where = {"cluster": courses[0].cluster, "machine": courses[0].machine, "records": count}
    return Table("trend", words("compare.trend.where", **where), columns, rows, note=words("compare.trend.note"))


def _row(course: Course, title: str, figures: Sequence[str]) -> tuple[Cell, ...]:
    judged = [point.held for point in course.points if point.held is not None]
    last = [course.points[-1].figures[figure] for figure in figures]
    drawn = curve([value for _, value in course.values(figures[0])])
    return title, len(course.points), f"{sum(judged)}/{len(judged)}", drawn, *last


def _told(course: Course, change: Change, words: Words) -> str:
    also = words("compare.trend.why", what=words("run.list").join(change.also)) if change.also else ""
    return words(
        f"compare.trend.{'last_row' if change.lone else 'change_row'}",
        group=course.title,
        figure=words(f"compare.trend.metric.{change.figure}"),
        then=shown(change.then, DIGITS, words),
        now=shown(change.now, DIGITS, words),
        change=f"{change.share:+.0%}",
        run=change.run,
        why=also,
    )


def _skipped(found: Gathered, short: int, words: Words) -> Iterator[str]:
    if short:
        yield words("compare.trend.short", count=short)
    if found.unfinished:
        yield words("compare.trend.skipped_unfinished", count=found.unfinished)
    if found.others:
        yield words("compare.trend.skipped_others", count=found.others)
    if found.damaged:
        yield words("compare.trend.skipped_damaged", count=len(found.damaged), example=found.damaged[0])
