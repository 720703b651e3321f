"""Reads a record back from disk, offline and years later; it must never repair or change one.

A crash can cut the last line of a stream: that line is left out and said so in `Record.warnings`. Anything else that
does not fit is an error, because a verdict on a damaged record would be worth nothing. Who only shows what is left
gives a list for the problems, and gets what can be read.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import orjson

from harness.errors import RecordError, ScenarioError
from harness.record import build, call, salvage
from harness.record.model import FORMAT, Record, RunMeta
from harness.record.shape import checked
from harness.scenario.model import Scenario

Built = TypeVar("Built")

_META_FIELDS = frozenset(field.name for field in fields(RunMeta)) - {"extra"}
_META_TUPLES = ("command", "schedulers", "unsettled", "deaths", "node_deaths", "warnings")
_META_MAPPINGS = ("parameters", "versions", "machine", "cpu_seconds")
_META_NEEDED = ("id", "scenario", "size", "variant")
_META_SHAPES: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("id", "scenario", "size", "variant", "cluster", "status", "started_at"), (str,)),
    **dict.fromkeys(("duration_seconds", "observed_seconds", "ready_seconds"), (int, float, type(None))),
    **dict.fromkeys(_META_TUPLES, (list, type(None))),
    **dict.fromkeys(_META_MAPPINGS, (dict, type(None))),
}


class _DamageError(RecordError):
    """A part of a record cannot be read; the others may still be shown."""


def read(path: Path, problems: list[str] | None = None) -> Record:
    """Read a record from its folder.

    Args:
        path: the folder.
        problems: where to put what is damaged, a sentence each, instead of raising an error. What can be read is then
            returned, and no verdict on it would be worth anything.

    Raises:
        RecordError: it is missing, of an unknown format, or damaged beyond a cut last line.
    """
    parts = _Parts(path, problems)
    warnings = parts.warnings
    meta = parts.whole(lambda: _meta(path), lambda: salvage.unknown_meta(path))
    scenario = parts.whole(lambda: _scenario(path), salvage.unknown_scenario)
    pods = parts.stream("pods", build.pods)
    nodes = parts.stream("nodes", build.nodes)
    workloads = parts.stream("workloads", build.workloads)
    events = parts.stream("events", build.events)
    steps = parts.stream("steps", build.steps)
    calls = parts.stream("calls", call.calls)
    extenders = parts.whole(lambda: _extenders(path), lambda: ())
    warnings += _unfinished(path, meta)
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
        extenders=extenders,
        calls=calls,
        warnings=tuple(warnings),
    )


def _unfinished(path: Path, meta: RunMeta) -> Iterator[str]:
    """Yield what the reader has to know about a run that was killed, or goes on."""
    if meta.status == "running":
        yield "run.json: the run never finished (its status is still running); the record ends where it crashed"
    if (path / call.SPOOL).is_dir():
        yield (
            f"{call.SPOOL}/: calls to extenders lie there as they were sent, secrets included; "
            'once the run is over, "harness clean" makes calls.jsonl and the cassette of them'
        )


class _Parts:
    """Reads the parts of a record; what is damaged is an error, or a problem where problems are gathered."""

    def __init__(self, path: Path, problems: list[str] | None) -> None:
        self.warnings: list[str] = []
        self._path = path
        self._problems = problems

    def whole(self, make: Callable[[], Built], instead: Callable[[], Built]) -> Built:
        """Return a part that is read whole, or what stands in for it."""
        try:
            return make()
        except _DamageError as error:
            if self._problems is None:
                raise
            self._problems.append(str(error).removeprefix(f"{self._path}/"))
            return instead()

    def stream(self, name: str, make: salvage.Make[Built]) -> tuple[Built, ...]:
        """Return what a stream holds, or what its sound lines hold."""
        file = self._path / f"{name}.jsonl"
        try:
            return _stream(file, make, self.warnings)
        except _DamageError:
            if self._problems is None:
                raise
        built, problem = salvage.sound_lines(file, make)
        self._problems.append(problem)
        return built


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
        raise _DamageError(f"{file}: {type(raw).__name__} seen, an object expected; this is no record of a run")
    if raw.get("format") != FORMAT:
        seen = raw.get("format")
        raise RecordError(
            f"{file}: format {seen!r} seen, {FORMAT} expected; read it with the version of the harness that wrote it"
        )
    missing = [key for key in _META_NEEDED if key not in raw]
    if missing:
        raise _DamageError(f"{file}: {', '.join(missing)} missing; the record is damaged, run the scenario again")
    odd = [key for key, kinds in _META_SHAPES.items() if key in raw and not isinstance(raw[key], kinds)]
    if odd:
        raise _DamageError(f"{file}: {', '.join(odd)} not as it is written; the record is damaged, run it again")
    known: dict[str, Any] = {key: value for key, value in raw.items() if key in _META_FIELDS}
    for key in _META_TUPLES:
        known[key] = tuple(known.get(key) or ())
    for key in _META_MAPPINGS:
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
        raise _DamageError(
            f"{file}: {error.problems[0]}{more}; read it with the version of the harness that wrote it"
        ) from error


def _extenders(path: Path) -> tuple[call.Extender, ...]:
    file = path / call.EXTENDERS
    if not file.exists():
        return ()
    try:
        return tuple(call.Extender.from_json(one) for one in _json(file))
    except (KeyError, TypeError, ValueError) as error:
        raise _DamageError(f"{file}: {error}; the record is damaged, run the scenario again") from error


def _json(file: Path) -> Any:
    try:
        return orjson.loads(file.read_bytes())
    except FileNotFoundError as error:
        raise _DamageError(
            f"{file}: missing; this is no record of a run, or the run died before its first step"
        ) from error
    except OSError as error:
        raise _DamageError(f"{file}: cannot be read: {error.strerror}") from error
    except orjson.JSONDecodeError as error:
        raise _DamageError(f"{file}:{error.lineno}: broken JSON ({error.msg}); run the scenario again") from error


def _stream(file: Path, make: salvage.Make[Built], warnings: list[str]) -> tuple[Built, ...]:
    """Build what one stream holds; a stream without a file had nothing to say."""
    if not file.exists():
        return ()
    lines = _Lines(file, warnings)
    try:
        return tuple(map(checked, make(lines)))
    except salvage.SHAPES as error:
        what = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
        raise _DamageError(f"{file}:{lines.number}: {what}; the record is damaged, run the scenario again") from error


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
                    raise _DamageError(
                        f"{self.file}:{number}: broken JSON ({error.msg}); the record is damaged, run it again"
                    ) from error
