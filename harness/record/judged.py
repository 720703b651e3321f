"""What records of verdicts have in common: comparisons of two extenders, and checks against a baseline. Pure."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import orjson

from harness.errors import RecordError

Value = TypeVar("Value")

FORMAT = 1
META = ("id", "taken_at", "machine", "versions", "command")
# Worst first.
VERDICTS = ("REGRESSION", "INCONCLUSIVE", "PASS")


def document(path: Path) -> dict[str, Any]:
    """Return the content of such a record's file.

    Raises:
        RecordError: it is of a newer format.
        OSError, ValueError, KeyError, TypeError: there is none, or it is something else.
    """
    value: dict[str, Any] = orjson.loads(path.read_bytes())
    if value["format"] > FORMAT:
        raise RecordError(f"{path}: format {value['format']} seen, at most {FORMAT} known; use a newer harness")
    return value


def known(kind: type[Value], value: Mapping[str, Any]) -> Value:
    """Return the value that was written; keys of later versions are left out."""
    names = {one.name for one in fields(kind)}  # type: ignore[arg-type]
    return kind(**{key: tuple(one) if isinstance(one, list) else one for key, one in value.items() if key in names})
