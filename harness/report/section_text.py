"""A chapter of a report for a terminal of a hundred columns or fewer; pictures are left out. Pure."""

import textwrap
import unicodedata
from collections.abc import Iterator
from typing import Any

from harness.report.document import Block, Callout, Cell, Fold, Listing, Section, Table, Text
from harness.report.render.cells import shown
from harness.report.terminal import compact, terminal_width, widest
from harness.report.words import Words

WIDTH = 100
ROWS_MAX = 40
# The first with which a table fits is taken.
CELL_AND_HEADER_CHARACTERS = ((34, 14), (24, 9), (16, 8), (10, 7))
# On a terminal that is narrower, where every column of text is dear.
NARROW_CHARACTERS = ((34, 9), (28, 8), (24, 7), (20, 7), (16, 7), (13, 8), (11, 7), (9, 6), (8, 5))
# Takes the place that a wide character needs beyond one column, and goes when the table is made.
_FILLER = "\u200b"


def section_text(section: Section, words: Words, rows_max: int = ROWS_MAX) -> str:
    """Return a chapter as text."""
    lines: list[str] = []
    for block in section.blocks:
        lines += [*_block(block, words, rows_max), ""]
    return "\n".join(lines).rstrip()


def width() -> int:
    """Return how many columns a text may take: a hundred, or what a narrower terminal has."""
    return min(WIDTH, terminal_width() or WIDTH)


def table_text(table: Table, words: Words, rows_max: int = ROWS_MAX) -> str:
    """Return a table with its title and its note; what is left out is told."""
    table = table.for_people()
    for widths in NARROW_CHARACTERS if width() < WIDTH else CELL_AND_HEADER_CHARACTERS:
        body = _body(table, words, rows_max, *widths)
        if widest(body) <= width():
            break
    lines = [*wrapped(table.title), body.replace(_FILLER, "")]
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
    if width() < WIDTH:
        # A header may be as wide as what stands below it.
        room = [max([header_most, *(widest(row[place]) for row in rows)]) for place in range(len(sides))]
        headers = [_folded(column.title, most) for column, most in zip(table.columns, room, strict=True)]
        return compact(rows, headers, [side == "right" for side in sides])
    return tabulate(
        rows,
        headers=[_folded(column.title, header_most) for column in table.columns],
        tablefmt="simple",
        disable_numparse=True,
        colalign=sides if rows else None,
    )


def wrapped(text: str, indent: str = "") -> list[str]:
    """Return lines that fit, wide characters counted as two columns."""
    lines = _lines(text, width(), subsequent_indent=indent, break_on_hyphens=False)
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
    # Where there is little room, names break at their hyphens rather than anywhere.
    return "\n".join(_lines(text, most, break_on_hyphens=width() < WIDTH)) or text


def _lines(text: str, most: int, **options: Any) -> list[str]:
    """Return lines in which every wide character has its filler beside it, also at an end where the two were parted."""
    for room in (most, most - 1):
        parts = (line.lstrip(_FILLER).rstrip(_FILLER) for line in textwrap.wrap(_wide(text), room, **options))
        lines = [line + _FILLER if _is_wide(line[-1:]) else line for line in parts]
        if max(map(len, lines), default=0) <= most:
            break
    return lines


def _side(cells: list[Cell]) -> str:
    told = [cell for cell in cells if cell is not None]
    return "right" if told and all(isinstance(cell, int | float) for cell in told) else "left"


def _wide(text: str) -> str:
    """Return a text that counts as many characters as it takes columns."""
    return "".join(one + _FILLER if _is_wide(one) else one for one in text)


def _is_wide(character: str) -> bool:
    return bool(character) and unicodedata.east_asian_width(character) in "WF"
