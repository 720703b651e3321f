"""Tables as files for other programs, with all of their rows. Pure."""

import csv
import io
import math
from collections.abc import Sequence
from typing import Any

from harness.report.document import Cell, Document, Table
from harness.report.render.names import file_names

FOLDER = "tables"


def render_csv(document: Document) -> dict[str, bytes]:
    """Return every table as CSV: UTF-8, and the columns' keys in the first line."""
    names = file_names(document.tables())
    return {f"{FOLDER}/{names[id(table)]}.csv": table_csv(table) for table in document.tables()}


def render_parquet(document: Document) -> dict[str, bytes]:
    """Return every table as Parquet; each field has its title for people as metadata."""
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


def _parquet(table: Table) -> bytes:
    # Slow to load, and only this format needs it.
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    columns = [_column([row[place] for row in table.rows]) for place in range(len(table.columns))]
    fields = [
        pa.field(column.key, values.type, metadata={"title": column.title})
        for column, values in zip(table.columns, columns, strict=True)
    ]
    sink = io.BytesIO()
    parquet.write_table(pa.Table.from_arrays(columns, schema=pa.schema(fields)), sink)
    return sink.getvalue()


def _column(cells: Sequence[Cell]) -> Any:
    """Return the values of a column as an array of one type; text where they are of several kinds."""
    import pyarrow as pa  # noqa: PLC0415 - see above

    values = [known(cell) for cell in cells]
    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        return pa.array(values, pa.string())
    if kinds == {int, float}:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if len(kinds) == 1:
        try:
            return pa.array(values)
        except (pa.ArrowInvalid, OverflowError):
            # A whole number that no machine word holds.
            pass
    return pa.array([None if value is None else str(_plain(value)) for value in values], pa.string())
