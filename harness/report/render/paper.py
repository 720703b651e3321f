"""How close a table has to stand to fit a page of paper, where nothing can be scrolled. Pure."""

import re
from collections.abc import Callable

from harness.report.document import Cell, Table

# For the usual size and for that of crowded tables in `page/print.css`, in characters: a line on A4 between the
# margins, what a cell keeps free at its sides, and the least that a header takes.
SIZES = {"": (105, 1.8, 5), "crowded": (142, 1.4, 0)}
# Longer texts may break anywhere.
LONG_TAKES = 8

# At spaces, after hyphens inside of names, and around Chinese characters; not at the punctuation between them.
_BREAKS = re.compile(r"\s+|(?<=\w-)(?=\w)|(?<=[\u3400-\u9fff])(?=[\w(])|(?<=\w)(?=[\u3400-\u9fff])")
_WIDE = re.compile(r"[\u2e80-\uffef]")


def closeness(table: Table, rows: int, told: Callable[[Cell, int | None], str], is_long: Callable[[str], bool]) -> str:
    """Return the classes of a table that is too wide for paper: smaller, or with words broken too; else nothing.

    Args:
        table: the table.
        rows: how many rows there are to see.
        told: gives a cell as text.
        is_long: tells which texts may break anywhere.
    """
    needed = []
    for place, column in enumerate(table.columns):
        texts = (told(row[place], column.digits) for row in table.rows[:rows])
        widths = (LONG_TAKES if is_long(text) else unbroken(text) for text in texts)
        needed.append(max([unbroken(column.title), *widths]))
    for name, (line, sides, least) in SIZES.items():
        if sum(max(least, width) + sides for width in needed) <= line:
            return name
    return "crowded overfull"


def unbroken(text: str) -> int:
    """Return how wide the longest part of a text is that stays on one line, in characters; Chinese ones count twice."""
    return max(len(part) + len(_WIDE.findall(part)) for part in _BREAKS.split(text))
