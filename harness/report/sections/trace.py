"""What the plugins of a scheduler did: per extension point and plugin, and for one pod call by call. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from harness.expect.traced import TRACE
from harness.record.model import Record
from harness.report.document import Block, Callout, Cell, Column, Fold, Section, Table, Text
from harness.report.sections.drawing import MS
from harness.report.sections.grouping import RUNS_DRAWN_MAX, Shown, key_columns, readable, shown
from harness.report.sources import Sources
from harness.report.words import Words

CALLS_SHOWN_MAX = 500
_MICRO = 1_000_000


@dataclass
class Tally:
    """The calls of one plugin at one extension point."""

    calls: int = 0
    seconds: float = 0.0
    longest_seconds: float = 0.0
    codes: Counter[str] = field(default_factory=Counter)


@dataclass
class Traced:
    """A trace, read once from one end to the other: it may be far larger than the rest of the record.

    Args:
        tallies: by extension point and plugin.
        single: the lines of the pod that is shown call by call.
        broken: how many lines cannot be read.
    """

    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)
    single: list[Mapping[str, Any]] = field(default_factory=list)
    broken: int = 0


def section(sources: Sources, words: Words) -> Section | None:
    """Return the chapter about plugins, None if no scheduler wrote a trace."""
    traced = [(one, found) for one in shown(sources.runs) if (found := _traced(one.run.record))]
    if not traced:
        return None
    blocks: list[Block] = [Text(words("run.trace.read")), _table(traced, words)]
    for one, found in traced:
        if found.broken:
            blocks.append(Callout("warning", words("run.trace.broken", run=one.title, count=found.broken)))
    for one, found in traced[:RUNS_DRAWN_MAX]:
        blocks += _single(one, found, words)
    if len(traced) > RUNS_DRAWN_MAX:
        blocks.append(Text(words("run.trace.bounded", shown=RUNS_DRAWN_MAX, count=len(traced))))
    return Section("trace", words("run.trace.title"), tuple(blocks))


def _traced(record: Record) -> Traced | None:
    file = record.path / TRACE
    if not file.is_file():
        return None
    found = Traced()
    readable(None, _read, file, _shown_uid(record), found)
    return found if found.tallies or found.broken else None


def _shown_uid(record: Record) -> str | None:
    """Return the pod that is shown: the first that a scheduler found a node for, else the first of all."""
    bound = (pod for pod in record.pods if pod.bound_t is not None and pod.observations[0].node is None)
    pod = next(bound, record.pods[0] if record.pods else None)
    return pod.uid if pod else None


def _read(file: Path, uid: str | None, found: Traced) -> None:
    with file.open("rb") as lines:
        for line in lines:
            try:
                call = orjson.loads(line)
                _add(call, found)
            except (ValueError, KeyError, TypeError, AttributeError):
                found.broken += 1
                continue
            if call.get("uid") == uid:
                found.single.append(call)


def _add(call: Mapping[str, Any], found: Traced) -> None:
    key = call["point"], call["plugin"]
    seconds, count, code = float(call["seconds"]), int(call.get("count") or 1), str(call["code"])
    tally = found.tallies.get(key)
    if tally is None:
        tally = found.tallies[key] = Tally()
    tally.calls += count
    tally.seconds += seconds
    tally.longest_seconds = max(tally.longest_seconds, seconds)
    if count == 1:
        tally.codes[code] += 1
    else:
        tally.codes.update(call.get("codes") or {code: count})


def _table(traced: Sequence[tuple[Shown, Traced]], words: Words) -> Table:
    columns = (
        *key_columns(words),
        *(Column(key, words(f"run.column.{key}")) for key in ("point", "plugin", "calls", "codes")),
        Column("total_ms", words("run.column.total_ms"), 3),
        Column("mean_us", words("run.column.mean_us"), 2),
    )
    rows: list[tuple[Cell, ...]] = []
    for one, found in traced:
        for (point, plugin), tally in found.tallies.items():
            codes = words("run.list").join(f"{code} {count}" for code, count in tally.codes.most_common())
            mean_us = _MICRO * tally.seconds / tally.calls if tally.calls else None
            rows.append((*one.keys, point, plugin, tally.calls, codes, MS * tally.seconds, mean_us))
    filters = ("scenario", "variant", "point", "plugin")
    note = words("run.trace.note")
    return Table("trace", words("run.trace.table"), columns, tuple(rows), note, filters=filters)


def _number(value: object, factor: float) -> float | None:
    return factor * value if isinstance(value, int | float) else None


def _single(one: Shown, found: Traced, words: Words) -> Iterator[Fold]:
    if not found.single:
        return
    columns = (
        *(Column(key, words(f"run.column.{key}")) for key in ("place", "attempt", "point", "plugin", "node", "calls")),
        Column("code", words("run.column.answer")),
        Column("at_ms", words("run.column.at_ms"), 3),
        Column("took_us", words("run.column.took_us"), 1),
        Column("text", words("run.column.text")),
    )
    rows = tuple(
        (
            place,
            call.get("attempt"),
            call["point"],
            call["plugin"],
            call.get("node"),
            int(call.get("count") or 1),
            str(call["code"]),
            _number(call.get("t"), MS),
            _MICRO * float(call["seconds"]),
            words.phrase(str(call.get("text") or "")),
        )
        for place, call in enumerate(found.single[:CALLS_SHOWN_MAX], start=1)
    )
    pod = str(found.single[0].get("pod") or found.single[0].get("uid"))
    name = f"trace-of-a-pod-{one.run.record.meta.id}"
    note = words("run.trace.single-note", count=len(found.single)) if len(found.single) > CALLS_SHOWN_MAX else ""
    title = words("run.trace.single", pod=pod, run=one.title)
    yield Fold(title, (Table(name, title, columns, rows, note, filters=("point", "plugin", "code")),))
