"""Looks things up in sections."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.record.read import read
from harness.report.document import Block, Callout, Cell, Picture, Section, Table
from harness.report.sources import Sources
from harness.report.summary import RunSummary
from harness.report.words import Words

ENGLISH = Words("en")


def of(*runs: RunSummary, **more: Any) -> Sources:
    return Sources(runs=runs, **more)


def from_disk(*paths: Path) -> Sources:
    return Sources(runs=tuple(RunSummary(read(path), ()) for path in paths))


def table(section: Section | None, name: str) -> Table:
    assert section is not None
    (found,) = [block for block in section.all_blocks() if isinstance(block, Table) and block.name == name]
    assert all(len(row) == len(found.columns) for row in found.rows)
    assert len({column.key for column in found.columns}) == len(found.columns)
    assert set(found.filters) <= {column.key for column in found.columns}
    assert set(found.marks) <= set(range(len(found.rows)))
    return found


def dicts(found: Table) -> list[dict[str, Cell]]:
    keys = [column.key for column in found.columns]
    return [dict(zip(keys, row, strict=True)) for row in found.rows]


def rows(section: Section | None, name: str) -> list[dict[str, Cell]]:
    return dicts(table(section, name))


def blocks(section: Section | None, kind: type[Block]) -> list[Any]:
    assert section is not None
    return [block for block in section.all_blocks() if isinstance(block, kind)]


def pictures(section: Section | None) -> dict[str, Picture]:
    return {picture.name: picture for picture in blocks(section, Picture)}


def callouts(section: Section | None) -> list[tuple[str, str]]:
    return [(block.level, block.text) for block in blocks(section, Callout)]


def values(picture: Picture) -> list[dict[str, Any]]:
    """Return the data of a picture, of all its layers."""
    found: list[dict[str, Any]] = []
    for data in _data(picture.spec):
        found += picture.spec.get("datasets", {}).get(data.get("name"), data.get("values") or [])
    return found


def size(picture: Picture) -> int:
    return len(json.dumps(picture.spec))


def _data(spec: Any) -> Iterable[dict[str, Any]]:
    if isinstance(spec, dict):
        if isinstance(spec.get("data"), dict):
            yield spec["data"]
        for key, part in spec.items():
            if key not in ("data", "datasets"):
                yield from _data(part)
    elif isinstance(spec, list):
        for part in spec:
            yield from _data(part)
