"""Tables as files for other programs, with all of their rows. Pure."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.report.document import Cell, Document, Table
from harness.report.render.names import file_names

if TYPE_CHECKING:
    import pandas as pd

FOLDER = "tables"
# What pandas calls them; each knows that a value may be missing.
TYPES: Mapping[type, str] = {bool: "boolean", int: "Int64", float: "Float64", str: "string"}
WORD_MAX = 2**63 - 1


def render_csv(document: Document) -> dict[str, bytes]:
    """Return every table as CSV: UTF-8, and the columns' keys in the first line."""
    names = file_names(document.tables())
    return {f"{FOLDER}/{names[id(table)]}.csv": table_csv(table) for table in document.tables()}


def render_parquet(document: Document) -> dict[str, bytes]:
    """Return every table as Parquet; pandas finds the titles for people in `attrs`."""
    names = file_names(document.tables())
    return {f"{FOLDER}/{names[id(table)]}.parquet": _parquet(table) for table in document.tables()}


def table_csv(table: Table) -> bytes:
    """Return one table as CSV; what is not known is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.key for column in table.columns)
    writer.writerows([_plain(cell) for cell in row] for row in table.rows)
    return text.getvalue().encode("utf-8", "replace")


def known(cell: Cell) -> Cell:
    """Return a value, None for a number that is none."""
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _plain(cell: Cell) -> Cell:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return known(cell)


def frame(table: Table) -> "pd.DataFrame":
    """Return one table for pandas: a column per key, of one type each; `attrs["titles"]` has what people read."""
    # Slow to load, and only this needs it.
    import pandas as pd

    columns = {
        column.key: pd.Series(*_typed([row[place] for row in table.rows])) for place, column in enumerate(table.columns)
    }
    made = pd.DataFrame(columns)
    made.attrs["titles"] = {column.key: column.title for column in table.columns}
    return made


def _parquet(table: Table) -> bytes:
    sink = io.BytesIO()
    frame(table).to_parquet(sink, index=False)
    return sink.getvalue()


def _typed(cells: Sequence[Cell]) -> tuple[list[Any], None, str]:
    """Return the values of a column and, as a Series takes it, their type; text where they are of several kinds."""
    values = [known(cell) for cell in cells]
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values], None, TYPES[float]
    if len(kinds) == 1 and not any(isinstance(value, int) and abs(value) > WORD_MAX for value in values):
        return values, None, TYPES[kinds.pop()]
    return [None if value is None else str(_plain(value)) for value in values], None, TYPES[str]
