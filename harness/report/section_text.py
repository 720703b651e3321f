"""A chapter of a report for a terminal of a hundred columns; pictures are left out. Pure."""

import textwrap
import unicodedata
from collections.abc import Iterator

from harness.report.document import Block, Callout, Cell, Fold, Listing, Section, Table, Text
from harness.report.render.cells import shown
from harness.report.words import Words

WIDTH = 100
ROWS_MAX = 40
# The first with which a table fits is taken.
CELL_AND_HEADER_CHARACTERS = ((34, 14), (24, 9), (16, 8), (10, 7))
# Takes the place that a wide character needs beyond one column, and goes when the table is made.
_FILLER = "\u200b"


def section_text(section: Section, words: Words, rows_max: int = ROWS_MAX) -> str:
    """Return a chapter as text."""
    lines: list[str] = []
    for block in section.blocks:
        lines += [*_block(block, words, rows_max), ""]
    return "\n".join(lines).rstrip()


def table_text(table: Table, words: Words, rows_max: int = ROWS_MAX) -> str:
    """Return a table with its title and its note; what is left out is told."""
    for widths in CELL_AND_HEADER_CHARACTERS:
        body = _body(table, words, rows_max, *widths)
        if max(map(len, body.splitlines()), default=0) <= WIDTH:
            break
    lines = [table.title, body.replace(_FILLER, "")]
    if len(table.rows) > rows_max:
        lines.append(words("compare.more_rows", count=len(table.rows) - rows_max))
    if table.note:
        lines += wrapped(f"({table.note})")
    return "\n".join(lines)


def _body(table: Table, words: Words, rows_max: int, cell_most: int, header_most: int) -> str:
    from tabulate import tabulate

    rows = [
        # Not folded by tabulate, which stumbles over 1,023.5.
        [_folded(shown(cell, column.digits, words), cell_most) for cell, column in zip(row, table.columns, strict=True)]
        for row in table.rows[:rows_max]
    ]
    sides = [_side([row[place] for row in table.rows]) for place in range(len(table.columns))]
    return tabulate(
        rows,
        headers=[_folded(column.title, header_most) for column in table.columns],
        tablefmt="simple",
        disable_numparse=True,
        colalign=sides if rows else None,
    )


def wrapped(text: str, indent: str = "") -> list[str]:
    """Return lines that fit, wide characters counted as two columns."""
    wide = _wide(text)
    lines = textwrap.wrap(wide, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
    return [line.replace(_FILLER, "") for line in lines]


def _block(block: Block, words: Words, rows_max: int) -> Iterator[str]:
    if isinstance(block, Text):
        yield from wrapped(block.text)
    elif isinstance(block, Callout):
        yield from wrapped(f"! {block.text}", "  ")
    elif isinstance(block, Listing):
        for item in block.items:
            yield from wrapped(f"- {item}", "  ")
    elif isinstance(block, Table):
        yield table_text(block, words, rows_max)
    elif isinstance(block, Fold):
        for inner in block.blocks:
            yield from _block(inner, words, rows_max)


def _folded(text: str, most: int) -> str:
    return "\n".join(textwrap.wrap(_wide(text), most, break_on_hyphens=False)) or text


def _side(cells: list[Cell]) -> str:
    told = [cell for cell in cells if cell is not None]
    return "right" if told and all(isinstance(cell, int | float) for cell in told) else "left"


def _wide(text: str) -> str:
    """Return a text that counts as many characters as it takes columns."""
    return "".join(one + _FILLER if unicodedata.east_asian_width(one) in "WF" else one for one in text)
