"""A report as values, in one language and before any format: sections of texts, tables and pictures. Pure.

Sections are made of records, formats are made of sections; neither knows the other.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Cell = str | int | float | bool | None
"""What a table holds: raw values. Only a format turns them into text."""

RUN_KEYS = ("scenario", "variant", "repeat")
"""Keys of the columns that tell runs apart. Files always have them; people need none that is the same everywhere."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Args:
        key: its name in files, with the unit, the same in every language: `p99_ms`.
        title: what a person reads, with the unit.
        digits: how many digits after the point a person reads; None for whole numbers and texts.
        in_files_only: no person needs it, and programs want the same columns always.
    """

    key: str
    title: str
    digits: int | None = None
    in_files_only: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of raw values; files get all of them, a page shows the first `shown` at once.

    Args:
        name: its name among all tables of the report, which is the name of its file.
        marks: row number -> good, bad or warning, for rows that a reader should not miss.
        filters: keys of columns that a page can be narrowed by.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    shown: int = 50
    marks: Mapping[int, str] = field(default_factory=dict)
    filters: tuple[str, ...] = ()

    @property
    def is_by_run(self) -> bool:
        """Whether every row is about one run, and says which."""
        return {column.key for column in self.columns} >= set(RUN_KEYS)

    def for_people(self, constant: frozenset[str] = frozenset()) -> "Table":
        """Return it without the columns that are for files only, and without those that tell no run from another."""
        dropped = constant if self.is_by_run else frozenset()
        kept = [
            place for place, column in enumerate(self.columns) if not column.in_files_only and column.key not in dropped
        ]
        if len(kept) == len(self.columns):
            return self
        rows = tuple(tuple(row[place] for place in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[place] for place in kept), rows=rows)


@dataclass(frozen=True)
class Picture:
    """A chart.

    Args:
        name: its name among all pictures of the report, which is the name of its file.
        title: what it shows, as a heading.
        about: the same in a sentence with the figures that matter, for those who do not see it.
        spec: Vega-Lite, without width where the page may choose it.
    """

    name: str
    title: str
    about: str
    spec: Mapping[str, Any]


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Listing:
    """A list of short texts."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Callout:
    """What nobody should overlook; a task is for the reader to do."""

    level: Literal["good", "bad", "warning", "info", "task"]
    text: str


@dataclass(frozen=True)
class Code:
    """Text as a machine wrote or reads it; `language` is yaml, json, console or empty."""

    text: str
    language: str = ""
    title: str = ""


@dataclass(frozen=True)
class Facts:
    """Names and values in two columns."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Fold:
    """What is shown when asked for."""

    title: str
    blocks: "tuple[Block, ...]"


Block = Text | Listing | Callout | Code | Facts | Table | Picture | Fold


@dataclass(frozen=True)
class Section:
    """A chapter.

    Args:
        brief: the short form of a report keeps the chapter, and folds the others.
        short: what the short form says of it before all chapters.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
    brief: bool = False
    short: tuple[Block, ...] = ()

    def all_blocks(self) -> Iterator[Block]:
        """Give every block, those in folds too."""
        yield from _unfolded(self.blocks)


@dataclass(frozen=True)
class Check:
    """One thing that was judged, as continuous integration wants to see it.

    Args:
        group: what it belongs to, such as the run.
        outcome: passed, failed, or skipped where nothing could be said.
        facts: what stands beside it, such as a ratio.
    """

    group: str
    name: str
    outcome: Literal["passed", "failed", "skipped"]
    message: str = ""
    detail: str = ""
    seconds: float = 0.0
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Document:
    """A whole report.

    Args:
        sentence: the verdict in one sentence.
        outcome: passed, failed, or unclear where nothing could be said.
        sources: the records it was made of: their ids.
        checks: everything that was judged.
    """

    title: str
    sentence: str
    outcome: Literal["passed", "failed", "unclear"]
    language: str
    sections: tuple[Section, ...]
    sources: tuple[str, ...]
    checks: tuple[Check, ...] = ()

    def tables(self) -> list[Table]:
        """Return all tables, in their order."""
        return [block for section in self.sections for block in section.all_blocks() if isinstance(block, Table)]

    def for_people(self) -> "Document":
        """Return it as a person reads it: what is the same in all rows of all tables pushes no figure out of sight."""
        constant = frozenset(key for key in RUN_KEYS if len(self._values(key)) == 1)
        sections = (replace(section, blocks=_for_people(section.blocks, constant)) for section in self.sections)
        return replace(self, sections=tuple(sections))

    def _values(self, key: str) -> set[Cell]:
        """Return what all tables have in the columns of a key."""
        columns = (
            (table, place)
            for table in self.tables()
            if table.is_by_run
            for place, column in enumerate(table.columns)
            if column.key == key
        )
        return {row[place] for table, place in columns for row in table.rows}

    def pictures(self) -> list[Picture]:
        """Return all pictures, in their order."""
        return [block for section in self.sections for block in section.all_blocks() if isinstance(block, Picture)]


def _unfolded(blocks: tuple[Block, ...]) -> Iterator[Block]:
    for block in blocks:
        yield block
        if isinstance(block, Fold):
            yield from _unfolded(block.blocks)


def _for_people(blocks: tuple[Block, ...], constant: frozenset[str]) -> tuple[Block, ...]:
    made: list[Block] = []
    for block in blocks:
        if isinstance(block, Table):
            made.append(block.for_people(constant))
        elif isinstance(block, Fold):
            made.append(replace(block, blocks=_for_people(block.blocks, constant)))
        else:
            made.append(block)
    return tuple(made)
