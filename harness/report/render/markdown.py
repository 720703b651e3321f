"""A report as Markdown: whole, for write-ups, with pictures beside it. Pure.

Markdown here is what GitHub, GitLab and pandoc agree on: pipe tables, fences, and `<details>`.
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.report.document import (
    Block,
    Callout,
    Code,
    Document,
    Facts,
    Fold,
    Listing,
    Picture,
    Section,
    Table,
    Text,
)
from harness.report.render import tables
from harness.report.render.cells import shown
from harness.report.render.names import names_of
from harness.report.words import Words

FILE = "report.md"
PICTURES = "pictures"
MARKS = {"good": "✅", "bad": "❌", "warning": "⚠️", "info": "💡", "task": "✏️"}
OUTCOMES = {"passed": MARKS["good"], "failed": MARKS["bad"], "unclear": "❔"}
# Whatever would begin emphasis, code, a cell or an escape; a link needs its bracket and parenthesis together.
_SPECIAL = re.compile(r"([\\`*|~])|(?<=\])(?=\()")
_SPACE = re.compile(r"\s+")
_CODE = re.compile(r"`([^`]+)`")
_AT_LINE_START = re.compile(r"^(\d*)([#+.)=-])(?=[\s=-]|$)")


@dataclass(frozen=True)
class Writer:
    """Turns blocks into lines of Markdown.

    Args:
        files: names of the files of tables and pictures, by their identity.
        rows_max: how many rows of a table are shown at most; what the table says unless told.
        linked: whether pictures and files of tables lie beside it; else a picture is a sentence.
    """

    words: Words
    files: Mapping[int, str]
    rows_max: int | None = None
    linked: bool = True

    def section(self, section: Section, level: int = 2) -> Iterator[str]:
        """Give the lines of a chapter."""
        yield f"{'#' * level} {escaped(section.title)}"
        yield ""
        for block in section.blocks:
            yield from self.block(block)

    def block(self, block: Block) -> Iterator[str]:
        """Give the lines of a block, with an empty one at the end."""
        match block:
            case Text():
                yield plain(block.text)
            case Listing():
                yield from (f"- {plain(item)}" for item in block.items)
            case Callout():
                yield f"> {MARKS[block.level]} {plain(block.text)}"
            case Code():
                yield from _code(block)
            case Facts():
                yield from _grid(["", ""], [[f"**{cell(name)}**", cell(value)] for name, value in block.pairs], [])
            case Table():
                yield from self._table(block)
            case Picture():
                yield from self._picture(block)
            case Fold():
                yield from self._fold(block)
        yield ""

    def _table(self, table: Table) -> Iterator[str]:
        if table.title:
            yield from (f"**{plain(table.title)}**", "")
        count = min(len(table.rows), table.shown, self.rows_max or table.shown)
        rows = [self._row(table, number) for number in range(count)]
        yield from _grid([cell(column.title) for column in table.columns], rows, _numeric(table))
        if table.note:
            yield from ("", f"*{plain(table.note)}*")
        if count < len(table.rows):
            key = "formats.rows.more" if self.linked else "formats.rows.first"
            file = f"{tables.FOLDER}/{self.files[id(table)]}.csv"
            yield from ("", self.words(key, shown=count, total=len(table.rows), file=file))

    def _row(self, table: Table, number: int) -> list[str]:
        pairs = zip(table.rows[number], table.columns, strict=True)
        row = [cell(shown(value, column.digits, self.words)) for value, column in pairs]
        mark = MARKS.get(table.marks.get(number, ""))
        return [f"{mark} {row[0]}", *row[1:]] if mark and row else row

    def _picture(self, picture: Picture) -> Iterator[str]:
        if self.linked:
            about = plain(picture.about).replace("[", "(").replace("]", ")")
            yield from (f"**{plain(picture.title)}**", "", f"![{about}]({PICTURES}/{self.files[id(picture)]}.svg)")
        else:
            yield f"**{plain(picture.title)}**: {plain(picture.about)}"

    def _fold(self, fold: Fold) -> Iterator[str]:
        yield from ("<details>", f"<summary>{html.escape(_one_line(fold.title), quote=False)}</summary>", "")
        for block in fold.blocks:
            yield from self.block(block)
        yield "</details>"


def render(document: Document, words: Words) -> dict[str, bytes]:
    """Return the whole report, and the tables that it shows only the beginning of. Pictures are files beside it."""
    whole, document = document, document.for_people()
    files = names_of(document)
    writer = Writer(words, files)
    lines = [f"# {escaped(document.title)}", "", verdict_line(document, words), ""]
    for section in document.sections:
        lines += writer.section(section)
    pairs = zip(document.tables(), whole.tables(), strict=True)
    cut = {files[id(table)]: source for table, source in pairs if len(table.rows) > table.shown}
    return {
        FILE: "\n".join(lines).rstrip("\n").encode("utf-8", "replace") + b"\n",
        **{f"{tables.FOLDER}/{name}.csv": tables.table_csv(table) for name, table in cut.items()},
    }


def verdict_line(document: Document, words: Words) -> str:
    """Return the verdict as the first line that people read."""
    return f"{OUTCOMES[document.outcome]} **{words(f'formats.outcome.{document.outcome}')}** {plain(document.sentence)}"


def plain(text: str) -> str:
    """Return text in one line of which Markdown makes the same text again; `code` stays code."""
    parts = _CODE.split(_one_line(text))
    # Every second part is what stood between two backticks.
    told = (f"`{part}`" if place % 2 else escaped(part) for place, part in enumerate(parts))
    return _AT_LINE_START.sub(r"\1\\\2", "".join(told))


def escaped(text: str) -> str:
    """Return text of which Markdown makes the same text again, wherever in a line it stands."""
    return _SPECIAL.sub(lambda found: "\\" + (found[1] or ""), html.escape(_SPACE.sub(" ", text), quote=False))


def cell(text: str) -> str:
    """Return text for a cell of a table; its line breaks stay."""
    return "<br>".join(escaped(line) for line in text.splitlines()) or " "


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _code(code: Code) -> Iterator[str]:
    if code.title:
        yield from (f"**{plain(code.title)}**", "")
    longest = max((len(run) for run in re.findall(r"`+", code.text)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from (f"{fence}{code.language}", *code.text.rstrip("\n").splitlines(), fence)


def _grid(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{'|'.join('---:' if place in right else '---' for place in range(len(header)))}|"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _numeric(table: Table) -> list[int]:
    """Return the places of columns that hold numbers, which stand to the right."""
    rows = table.rows[: table.shown]
    kinds = [{type(row[place]) for row in rows} - {type(None)} for place in range(len(table.columns))]
    return [place for place, found in enumerate(kinds) if found and found <= {int, float}]
