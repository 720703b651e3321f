"""Reads what a scheduler traced: every call of every plugin, in order. Pure; plugins/trace/ writes it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from harness.errors import RecordError

VARIABLE = "HARNESS_TRACE"
ARGUMENTS = "Arguments"
SUCCESS = "Success"

_NANOSECONDS = 1_000_000_000
# What a pod goes through before an attempt, and what an attempt begins with.
_QUEUE = ("PreEnqueue", "QueueSort")
_BEGINNING = ("Sign", "PreFilter")


@dataclass(frozen=True, slots=True)
class TraceCall:
    """One call of one plugin, or many of one plugin in one attempt; times are seconds since the run's start.

    `attempt` counts the scheduling attempts of the pod; what happens in the queue belongs to the attempt to come.
    Above 1, `count` says how many calls the line stands for; then `seconds` is their sum, `codes` counts their codes,
    `code` is the commonest of those that refused, and `node` is None.
    """

    t: float
    point: str
    plugin: str
    code: str
    seconds: float
    pod: str
    uid: str
    attempt: int
    node: str | None = None
    text: str | None = None
    count: int = 1
    codes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Trace:
    """All that a scheduler traced in a run: calls by the time they began, and the arguments of each plugin."""

    calls: tuple[TraceCall, ...]
    arguments: Mapping[str, Any]

    def of(self, pod: str, attempt: int | None = None) -> tuple[TraceCall, ...]:
        """Return the calls of one pod ("namespace/name"), of all its attempts or of one."""
        return tuple(call for call in self.calls if call.pod == pod and attempt in (None, call.attempt))

    def points(self, pod: str, plugin: str | None = None, attempt: int | None = None) -> list[str]:
        """Return the extension points that a pod went through, each once, in the order they were first reached."""
        calls = (call for call in self.of(pod, attempt) if plugin in (None, call.plugin))
        return list(dict.fromkeys(call.point for call in calls))


def read(path: Path, started_unix_ns: int, ended_unix_ns: int | None = None) -> Trace:
    """Return what was traced between two moments; a scheduler that serves several runs has one file for all.

    A last line that is still being written is left out. Arguments are told when a scheduler starts, and always kept.

    Raises:
        RecordError: there is no such file, or a line of it is not one of a trace.
    """
    calls: list[Mapping[str, Any]] = []
    arguments: dict[str, Any] = {}
    for number, line in _lines(path):
        try:
            if line["point"] == ARGUMENTS:
                arguments[line["plugin"]] = line.get("arguments")
            elif line["t_unix_ns"] >= started_unix_ns and (ended_unix_ns is None or line["t_unix_ns"] < ended_unix_ns):
                calls.append(line)
        except (KeyError, TypeError) as error:
            raise RecordError(f"{path}:{number}: not a line of a trace: {error!r}") from None
    calls.sort(key=lambda line: line["t_unix_ns"])
    try:
        return Trace(tuple(_built(calls, started_unix_ns)), arguments)
    except (KeyError, TypeError) as error:
        raise RecordError(f"{path}: a line lacks what every call has: {error!r}") from None


def _lines(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        whole = path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path}: no trace there: {error.strerror}") from None
    for number, line in enumerate(whole[: whole.rfind(b"\n") + 1].splitlines(), 1):
        try:
            yield number, orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise RecordError(f"{path}:{number}: not JSON: {error}") from None


def _built(calls: Sequence[Mapping[str, Any]], started_unix_ns: int) -> Iterator[TraceCall]:
    counters: dict[str, _Attempts] = {}
    for line in calls:
        counter = counters.setdefault(line["uid"], _Attempts())
        yield TraceCall(
            t=(line["t_unix_ns"] - started_unix_ns) / _NANOSECONDS,
            point=line["point"],
            plugin=line["plugin"],
            code=line["code"],
            seconds=line["seconds"],
            pod=line["pod"],
            uid=line["uid"],
            attempt=counter.of(line["point"], line["plugin"]),
            node=line.get("node"),
            text=line.get("text"),
            count=line.get("count", 1),
            codes=line.get("codes") or {line["code"]: 1},
        )


class _Attempts:
    """Counts the attempts of one pod by what is called: no plugin begins one attempt twice."""

    def __init__(self) -> None:
        self._number = 0
        self._began: set[tuple[str, str]] = set()
        self._is_beginning = False

    def of(self, point: str, plugin: str) -> int:
        if point in _QUEUE:
            self._is_beginning = False
            return self._number + 1
        if point not in _BEGINNING:
            self._is_beginning = False
            return max(1, self._number)
        if not self._is_beginning or (point, plugin) in self._began:
            self._number += 1
            self._began.clear()
        self._is_beginning = True
        self._began.add((point, plugin))
        return self._number
