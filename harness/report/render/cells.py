"""How a person reads one value of a table. Pages show it in two ways, `page/tables.js` has the same rules."""

import math

from harness.report.document import Cell
from harness.report.words import Words

NOTHING = "\N{EN DASH}"
# For numbers with a fraction whose column does not say how many digits matter.
USUAL_DIGITS = 3


def shown(cell: Cell, digits: int | None, words: Words) -> str:
    """Return a value as text, rounded to the digits of its column."""
    if isinstance(cell, bool):
        return words("page.cell.yes" if cell else "page.cell.no")
    if isinstance(cell, str):
        return cell
    if is_missing(cell):
        return NOTHING
    if isinstance(cell, float) and digits is None:
        digits = 0 if cell.is_integer() else USUAL_DIGITS
    if digits is None:
        return f"{cell:,}"
    # Not 0.0000, which would say that there is nothing, of a probability even that it cannot be.
    least = 10.0**-digits
    if isinstance(cell, float) and 0 < cell < least / 2:
        return f"<{least:.{digits}f}"
    return f"{cell:,.{digits}f}"


def is_missing(cell: Cell) -> bool:
    """Tell whether there is no value; what is no number counts as none."""
    return cell is None or (isinstance(cell, float) and not math.isfinite(cell))


def is_number(cell: Cell) -> bool:
    """Tell whether a value is a number that can be told."""
    return isinstance(cell, int | float) and not isinstance(cell, bool) and not is_missing(cell)
