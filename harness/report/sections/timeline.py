"""The way of every pod through time: created, tried, refused, bound, running; with how often it was tried. Pure."""

from collections.abc import Mapping, Sequence

from harness.report.document import Block, Cell, Column, Picture, Section, Table, Text
from harness.report.sections.drawing import MS
from harness.report.sections.gantt import gantt
from harness.report.sections.grouping import GROUPS_DRAWN_MAX, RUNS_DRAWN_MAX, Group, Shown, groups, key_columns, shown
from harness.report.sections.lives import Life, lives
from harness.report.sections.timeline_pictures import bands, throughput
from harness.report.sources import Sources
from harness.report.words import Words

PODS_DRAWN_MAX = 60
SLOWEST_DRAWN = 20
_ALIKE = 5

Lives = Mapping[str, Sequence[Life]]


def section(sources: Sources, words: Words) -> Section | None:
    """Return the chapter about pods over time."""
    runs = shown(sources.runs)
    known: Lives = {one.title: lives(one.run.record) for one in runs}
    if not any(known.values()):
        return None
    every = groups(sources.runs)
    blocks: list[Block] = [Text(words("run.timeline.read"))]
    drawn = 0
    for group in every[:GROUPS_DRAWN_MAX]:
        room = max(0, RUNS_DRAWN_MAX - drawn)
        made = _pictures(group, known, words, room)
        drawn += min(room, len(group.runs))
        blocks += made
    if drawn < len(runs):
        blocks.append(Text(words("run.drawn", drawn=drawn, count=len(runs))))
    blocks.append(_table(runs, known, words))
    return Section("timeline", words("run.timeline.title"), tuple(blocks))


def _pictures(group: Group, known: Lives, words: Words, room: int) -> list[Picture]:
    """Return a bar for every pod if they are few; else what they did together, and the slowest one by one."""
    mine = {one: known[one.title] for one in group.runs if known[one.title]}
    if not mine:
        return []
    single = [one for one in mine if one in group.runs[:room]]
    ends_seconds = _ends_seconds(mine)
    if max(len(some) for some in mine.values()) <= PODS_DRAWN_MAX:
        return [gantt(group, one, mine[one], words, ends_seconds[one]) for one in single]
    made = [throughput(group, mine, words), bands(group, {one: mine[one] for one in single}, words)]
    for one in single:
        bound = [life for life in mine[one] if life.wait_seconds is not None]
        slowest = sorted(bound, key=lambda life: -(life.wait_seconds or 0.0))[:SLOWEST_DRAWN]
        slowest = sorted(slowest, key=lambda life: life.pod.created_t)
        if slowest:
            made.append(gantt(group, one, slowest, words, of=len(bound), zero_t=mine[one][0].pod.created_t))
    return [picture for picture in made if picture]


def _ends_seconds(mine: Mapping[Shown, Sequence[Life]]) -> dict[Shown, float]:
    """Return where each time axis ends: at the same time, so that runs can be compared, unless one dwarfs another."""
    ends = {}
    for one, some in mine.items():
        last_t = max((t for life in some for t in life.moments_t), default=one.run.record.end_t)
        ends[one] = last_t - some[0].pod.created_t
    most = max(ends.values())
    return dict.fromkeys(ends, most) if most <= _ALIKE * min(ends.values()) else ends


def _table(runs: Sequence[Shown], known: Lives, words: Words) -> Table:
    keys = ("pod", "node", "state", "attempts_seen")
    times = ("created_ms", "first_refused_ms", "bound_ms", "running_ms", "waited_ms", "started_ms")
    columns = (
        *key_columns(words),
        *(Column(key, words(f"run.column.{key}")) for key in keys),
        *(Column(key, words(f"run.column.{key}"), 1) for key in times),
    )
    rows: list[tuple[Cell, ...]] = []
    marks = {}
    for one in runs:
        for life in known[one.title]:
            if life.pod.pending:
                marks[len(rows)] = "warning"
            rows.append((*one.keys, *_cells(life, words)))
    return Table(
        "pods",
        words("run.timeline.table"),
        columns,
        tuple(rows),
        note=words("run.timeline.note"),
        marks=marks,
        filters=("scenario", "variant", "state", "node"),
    )


def _cells(life: Life, words: Words) -> tuple[Cell, ...]:
    pod = life.pod
    state = words("run.pod.pending") if pod.pending else pod.phase if pod.exists else words("run.pod.deleted")
    refused = life.refused_t[0] if life.refused_t else None
    times = (pod.created_t, refused, pod.bound_t, pod.running_t, life.wait_seconds, life.start_seconds)
    return pod.full_name, pod.node, state, life.attempts, *(None if t is None else MS * t for t in times)
