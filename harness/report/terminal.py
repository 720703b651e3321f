"""How wide the terminal is, and tables for one that is narrow. Files and pipes have no width: they get every column."""

import re
import shutil
from collections.abc import Sequence

_GAP = "  "
_NUMBER = re.compile(r"-|[-+]?[\d,]+(\.\d+)?%?")


def terminal_width() -> int | None:
    """Return how many columns the terminal has, as COLUMNS or it tells; None where the output goes elsewhere."""
    return shutil.get_terminal_size((0, 0)).columns or None


def widest(text: str) -> int:
    """Return the length of the longest line."""
    return max(map(len, text.splitlines()), default=0)


def is_figures(cells: Sequence[str]) -> bool:
    """Tell whether a column has numbers only, which stand to the right."""
    return all(_NUMBER.fullmatch(cell) for cell in cells)


def compact(rows: Sequence[Sequence[str]], headers: Sequence[str], right: Sequence[bool]) -> str:
    """Return a table without the room that tabulate adds to headers; `right` tells which columns stand to the right.

    Cells may have several lines.
    """
    columns = zip(headers, *rows, strict=True)
    widths = [max(map(widest, column)) for column in columns]
    lines = [*_lines(headers, widths, right), _GAP.join("-" * width for width in widths)]
    for row in rows:
        lines += _lines(row, widths, right)
    return "\n".join(line.rstrip() for line in lines)


def _lines(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    """Return the lines that one row takes."""
    cells = [cell.splitlines() for cell in row]
    height = max(1, *map(len, cells))
    placed = []
    for place, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        padded = [*cell, *[""] * (height - len(cell))]
        placed.append([line.rjust(width) if right[place] else line.ljust(width) for line in padded])
    return [_GAP.join(parts) for parts in zip(*placed, strict=True)]
