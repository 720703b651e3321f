"""Reads a record back from disk, offline and years later; it must never repair or change one.

A crash can cut the last line of a stream: that line is left out and said so in `Record.warnings`. Anything else that
does not fit is an error, because a verdict on a damaged record would be worth nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import orjson

from harness.errors import RecordError, ScenarioError
from harness.record import build, call
from harness.record.model import FORMAT, Record, RunMeta
from harness.scenario.model import Scenario

Built = TypeVar("Built")

_META_FIELDS = frozenset(field.name for field in fields(RunMeta)) - {"extra"}
_META_TUPLES = ("command", "unsettled", "deaths", "node_deaths", "warnings")
_META_NEEDED = ("id", "scenario", "size", "variant")


def read(path: Path) -> Record:
    """Read a record from its folder.

    Raises:
        RecordError: it is missing, of an unknown format, or damaged beyond a cut last line.
    """
    warnings: list[str] = []
    meta = _meta(path)
    scenario = _scenario(path)
    pods = _stream(path, "pods", build.pods, warnings)
    nodes = _stream(path, "nodes", build.nodes, warnings)
    workloads = _stream(path, "workloads", build.workloads, warnings)
    events = _stream(path, "events", build.events, warnings)
    steps = _stream(path, "steps", build.steps, warnings)
    calls = _stream(path, "calls", call.calls, warnings)
    if meta.status == "running":
        warnings.append(
            "run.json: the run never finished (its status is still running); the record ends where it crashed"
        )
    seen_t = [
        *(pod.observations[-1].t for pod in pods),
        *(node.observations[-1].t for node in nodes),
        *(event.t for event in events),
        *(step.t for step in steps),
    ]
    ended_t = meta.observed_seconds if meta.observed_seconds is not None else meta.duration_seconds
    return Record(
        path=path,
        meta=meta,
        scenario=scenario,
        pods=pods,
        nodes=nodes,
        workloads=workloads,
        events=events,
        steps=steps,
        end_t=max([ended_t or 0.0, *seen_t]),
        extenders=_extenders(path),
        calls=calls,
        warnings=tuple(warnings),
    )


def read_meta(path: Path) -> RunMeta:
    """Read only what `run.json` says, which is enough to list many records quickly.

    Raises:
        RecordError: it is missing, damaged or of an unknown format.
    """
    return _meta(path)


def _meta(path: Path) -> RunMeta:
    file = path / "run.json"
    if not path.is_dir():
        raise RecordError(f"{path}: no such record; `latest` names the newest one")
    raw = _json(file)
    if not isinstance(raw, dict):
        raise RecordError(f"{file}: {type(raw).__name__} seen, an object expected; this is no record of a run")
    if raw.get("format") != FORMAT:
        seen = raw.get("format")
        raise RecordError(
            f"{file}: format {seen!r} seen, {FORMAT} expected; read it with the version of the harness that wrote it"
        )
    missing = [key for key in _META_NEEDED if key not in raw]
    if missing:
        raise RecordError(f"{file}: {', '.join(missing)} missing; the record is damaged, run the scenario again")
    known: dict[str, Any] = {key: value for key, value in raw.items() if key in _META_FIELDS}
    for key in _META_TUPLES:
        known[key] = tuple(known.get(key) or ())
    for key in ("parameters", "versions", "machine", "cpu_seconds"):
        known[key] = known.get(key) or {}
    defaults = {"cluster": "", "status": "running", "started_at": "", "settled": False}
    extra = {key: value for key, value in raw.items() if key not in _META_FIELDS and key != "format"}
    return RunMeta(**{**defaults, **known}, extra=extra)


def _scenario(path: Path) -> Scenario:
    file = path / "inputs" / "scenario.json"
    try:
        return Scenario.from_json(_json(file))
    except ScenarioError as error:
        more = f" (and {len(error.problems) - 1} more problems)" if len(error.problems) > 1 else ""
        raise RecordError(
            f"{file}: {error.problems[0]}{more}; read it with the version of the harness that wrote it"
        ) from error


def _extenders(path: Path) -> tuple[call.Extender, ...]:
    file = path / call.EXTENDERS
    if not file.exists():
        return ()
    try:
        return tuple(call.Extender.from_json(one) for one in _json(file))
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"{file}: {error}; the record is damaged, run the scenario again") from error


def _json(file: Path) -> Any:
    try:
        return orjson.loads(file.read_bytes())
    except FileNotFoundError as error:
        raise RecordError(
            f"{file}: missing; this is no record of a run, or the run died before its first step"
        ) from error
    except OSError as error:
        raise RecordError(f"{file}: cannot be read: {error.strerror}") from error
    except orjson.JSONDecodeError as error:
        raise RecordError(f"{file}:{error.lineno}: broken JSON ({error.msg}); run the scenario again") from error


def _stream(
    path: Path,
    name: str,
    make: Callable[[Iterable[Mapping[str, Any]]], tuple[Built, ...]],
    warnings: list[str],
) -> tuple[Built, ...]:
    """Build what one stream holds; a stream without a file had nothing to say."""
    file = path / f"{name}.jsonl"
    if not file.exists():
        return ()
    lines = _Lines(file, warnings)
    try:
        return make(lines)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
        raise RecordError(f"{file}:{lines.number}: {what}; the record is damaged, run the scenario again") from error


class _Lines:
    """The parsed lines of one stream, with the number of the line last handed out for error messages."""

    def __init__(self, file: Path, warnings: list[str]) -> None:
        self.file = file
        self.number = 0
        self._warnings = warnings

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        with self.file.open("rb") as handle:
            for number, line in enumerate(handle, start=1):
                self.number = number
                # A writer ends every line with a line break, so a line without one is the last and was cut.
                if not line.endswith(b"\n"):
                    self._warnings.append(
                        f"{self.file.name}:{number}: the last line was cut by a crash and is left out"
                    )
                    return
                try:
                    yield orjson.loads(line)
                except orjson.JSONDecodeError as error:
                    raise RecordError(
                        f"{self.file}:{number}: broken JSON ({error.msg}); the record is damaged, run it again"
                    ) from error
