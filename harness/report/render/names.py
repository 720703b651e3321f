"""Names of the files that tables and pictures become. Pure."""

import re
from collections.abc import Iterable, Mapping

from harness.report.document import Document, Picture, Table

_CHARACTERS_MAX = 100


def file_names(items: Iterable[Table | Picture]) -> Mapping[int, str]:
    """Return the name of each item's file, without an ending, by the item's identity; no two have the same."""
    names: dict[int, str] = {}
    used: set[str] = set()
    for item in items:
        plain = re.sub(r"[^\w.-]+", "-", item.name).strip("-.")[:_CHARACTERS_MAX] or "unnamed"
        name, number = plain, 1
        # Some file systems do not tell capitals from small letters.
        while name.lower() in used:
            number += 1
            name = f"{plain}-{number}"
        used.add(name.lower())
        names[id(item)] = name
    return names


def names_of(document: Document) -> Mapping[int, str]:
    """Return the names of the files of all tables and pictures of a report, by their identity."""
    return {**file_names(document.tables()), **file_names(document.pictures())}
