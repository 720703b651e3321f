"""A report as one JSON document for programs; its keys stay as they are. Pure."""

from typing import Any

import orjson

from harness.report.document import Check, Document, Table
from harness.report.render.tables import known

FILE = "report.json"
FORMAT = 1


def render(document: Document) -> dict[str, bytes]:
    """Return the report; numbers that are none are null."""
    value = {
        "format": FORMAT,
        "kind": "report",
        "title": document.title,
        "language": document.language,
        "outcome": document.outcome,
        "sentence": document.sentence,
        "sources": list(document.sources),
        "checks": [_check(check) for check in document.checks],
        "tables": [_table(table) for table in document.tables()],
    }
    return {FILE: orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)}


def _check(check: Check) -> dict[str, Any]:
    return {
        "group": check.group,
        "name": check.name,
        "outcome": check.outcome,
        "message": check.message,
        "detail": check.detail,
        "seconds": known(check.seconds),
        "facts": dict(check.facts),
    }


def _table(table: Table) -> dict[str, Any]:
    return {
        "name": table.name,
        "title": table.title,
        "note": table.note,
        "columns": [{"key": column.key, "title": column.title} for column in table.columns],
        "rows": [[known(cell) for cell in row] for row in table.rows],
    }
