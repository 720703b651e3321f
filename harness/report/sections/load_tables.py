"""Tables of loads: results, those that the generator limited, everything else about them, and knees. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.record.load import Knee, LoadRecord, LoadResult
from harness.report.document import Cell, Column, Table
from harness.report.words import Words

Pair = tuple[LoadRecord, LoadResult]
MS_DIGITS, RATE_DIGITS = 3, 1
NAMED = {
    "wire": ("names", "objects"),
    "model": ("open", "closed"),
    "limited_by": ("extender", "generator", "bound", "time"),
}


@dataclass(frozen=True)
class Field:
    """A column and where its cells come from."""

    key: str
    digits: int | None
    get: Callable[[LoadRecord, Any], Cell]

    def cell(self, record: LoadRecord, one: Any, words: Words) -> Cell:
        """Return the cell; what has a name in the reader's language has that."""
        value = self.get(record, one)
        return words(f"load.cell.{value}") if self.key in NAMED and value in NAMED[self.key] else value

    def column(self, words: Words) -> Column:
        """Return the column in the reader's language."""
        return Column(self.key, words(f"load.column.{self.key}"), self.digits)


def _of(name: str, digits: int | None = None, key: str = "") -> Field:
    return Field(key or name, digits, lambda _, one: getattr(one, name))


RECORD = Field("record", None, lambda record, _: record.path.name)
WHAT = tuple(map(_of, ("subject", "verb", "nodes", "wire", "node_kib")))
LOAD = (_of("rate", RATE_DIGITS, "rate_per_s"), _of("schedulers"))
TIMES = tuple(_of(name, MS_DIGITS) for name in ("p50_ms", "p90_ms", "p95_ms", "p99_ms", "max_ms", "service_p99_ms"))
# What people look for stands where a narrow page shows it.
COUNTS = (_of("requests"), _of("errors"), _of("achieved_rate", RATE_DIGITS, "achieved_per_s"), _of("model"))
RESULT = (*WHAT, *LOAD, *TIMES, *COUNTS)
LIMITED = (*RESULT, _of("lag_p99_ms", MS_DIGITS), _of("generator_cpu", 2, "generator_cpu_cores"))
SERVICE = ("mean_ms", "service_p50_ms", "service_p90_ms", "service_p95_ms", "service_max_ms")
DETAIL = (
    *(*WHAT, *LOAD, _of("model")),
    *(_of(name, MS_DIGITS) for name in (*SERVICE, "lag_p50_ms", "lag_p99_ms", "floor_p50_ms", "floor_p99_ms")),
    _of("cpu_ms_per_request", MS_DIGITS),
    _of("generator_cpu", 3, "generator_cpu_cores"),
    _of("generator_cpu_us_per_request", 1),
    _of("generator_limited"),
    _of("warmup_seconds", 1),
    *(_of(name) for name in ("warmup_cut", "unsent", "connections", "body_bytes")),
    _of("seconds", 1),
    _of("timeout_seconds", 1),
    _of("ended"),
    _of("samples"),
)
KNEE = (
    *WHAT,
    _of("rate", RATE_DIGITS, "knee_per_s"),
    _of("pods_per_second", RATE_DIGITS, "pods_per_s"),
    _of("budget_ms", RATE_DIGITS),
    _of("failed_rate", RATE_DIGITS, "failed_per_s"),
    _of("limited_by"),
)
STEP_KEYS = (
    ("rate", "rate_per_s", RATE_DIGITS),
    ("within", "within", None),
    ("p99_ms", "p99_ms", MS_DIGITS),
    ("requests", "requests", None),
    ("errors", "errors", None),
    ("achieved_rate", "achieved_per_s", RATE_DIGITS),
    ("generator_limited", "generator_limited", None),
)
IN_SITU = ("record", "extender", "subject", "verb", "nodes", "calls", "failed")
IN_SITU_TIMES = ("p50_ms", "p90_ms", "p95_ms", "p99_ms", "max_ms")


def result_table(pairs: Sequence[Pair], words: Words) -> Table:
    """Return what the extenders did, without what the generator limited."""
    # A search for the knee goes where requests fail.
    marks = {
        place: "warning" if record.knees else "bad"
        for place, (record, one) in enumerate(pairs)
        if one.errors or one.ended != "complete"
    }
    return _table("load-results", RESULT, pairs, words, note=words("load.note.results"), marks=marks)


def limited_table(pairs: Sequence[Pair], words: Words) -> Table:
    """Return what is not the extenders' doing."""
    marks = dict.fromkeys(range(len(pairs)), "warning")
    return _table("load-limited", LIMITED, pairs, words, note=words("load.note.limited"), marks=marks)


def detail_table(pairs: Sequence[Pair], words: Words) -> Table:
    """Return everything else that a record has of its results."""
    fields = (*DETAIL, RECORD)
    rows = tuple(tuple(field.cell(record, one, words) for field in fields) for record, one in pairs)
    columns = tuple(field.column(words) for field in fields)
    return Table("load-details", words("load.table.details"), columns, rows, note=words("load.note.details"))


def knee_table(knees: Sequence[tuple[LoadRecord, Knee]], words: Words) -> Table:
    """Return what searches for the knee found."""
    return _table("load-knees", KNEE, knees, words, note=words("load.note.knees"))


def step_table(knees: Sequence[tuple[LoadRecord, Knee]], words: Words) -> Table:
    """Return every rate that a search tried."""
    columns = (
        *(field.column(words) for field in WHAT),
        *(Column(key, words(f"load.column.{key}"), digits) for _, key, digits in STEP_KEYS),
        RECORD.column(words),
    )
    steps = [(record, knee, step) for record, knee in knees for step in knee.steps]
    rows = tuple(
        (
            *(field.cell(record, knee, words) for field in WHAT),
            *(_cell(step.get(name)) for name, _, _ in STEP_KEYS),
            record.path.name,
        )
        for record, knee, step in steps
    )
    states = {
        place: "warning" if step.get("generator_limited") else "bad"
        for place, (_, _, step) in enumerate(steps)
        if step.get("generator_limited") or not step.get("within")
    }
    # Older records have the counts of the slowest verb only.
    summed = all("worst_verb" in step for _, _, step in steps)
    title, note = words("load.table.steps"), words("load.note.steps" if summed else "load.note.steps.older")
    return Table("load-knee-steps", title, columns, rows, note=note, marks=states)


def in_situ_table(records: Sequence[LoadRecord], words: Words) -> Table | None:
    """Return what schedulers waited for in real runs; None if no record has any."""
    seen = [row for record in records for row in record.meta.get("in_situ") or () if isinstance(row, dict)]
    if not seen:
        return None
    texts = [key for key in IN_SITU if any(row.get(key) is not None for row in seen)]
    columns = (
        *(Column(key, words(f"load.column.{key}")) for key in texts),
        *(Column(key, words(f"load.column.{key}"), MS_DIGITS) for key in IN_SITU_TIMES),
    )
    rows = tuple(tuple(_cell(row.get(key)) for key in (*texts, *IN_SITU_TIMES)) for row in seen)
    return Table("load-in-situ", words("load.table.in-situ"), columns, rows, note=words("load.note.in-situ"))


def _table(
    name: str,
    fields: Sequence[Field],
    things: Sequence[tuple[LoadRecord, Any]],
    words: Words,
    *,
    note: str,
    marks: dict[int, str] | None = None,
) -> Table:
    """Return a table without the columns that no row fills; what all rows share stands last, as a narrow page ends."""
    every = (*fields, RECORD)
    rows = [[field.cell(record, one, words) for field in every] for record, one in things]
    filled = [place for place in range(len(every)) if any(row[place] is not None for row in rows)]
    shared = [
        place for place in filled if every[place] in WHAT and len(rows) > 1 and len({row[place] for row in rows}) == 1
    ]
    order = [*(place for place in filled if place not in shared), *shared]
    return Table(
        name,
        words(f"load.table.{name.removeprefix('load-')}"),
        tuple(every[place].column(words) for place in order),
        tuple(tuple(row[place] for place in order) for row in rows),
        note=note,
        marks=marks or {},
        filters=("subject", "verb"),
    )


def _cell(value: object) -> Cell:
    """Return what a damaged record may hold as something that a table can."""
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
