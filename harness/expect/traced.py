"""Judges and tells what plugins did with a pod, by the trace of a scheduler that was built here."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import orjson

from harness.errors import RecordError
from harness.expect.base import Verdict, counted, limited, listed, status_of
from harness.expect.matching import described, existing, matching_pods
from harness.plugin.trace import TraceCall
from harness.record.model import PodHistory, Record
from harness.scenario.expectations_extender import Traced

TRACE = "trace.jsonl"
ARGUMENTS = "plugin-arguments.json"
NO_TRACE = "no scheduler wrote a trace; framework-plugin and rebuilt-scheduler do, without --no-trace"
_CALLS_SHOWN_MAX = 100
_PASSED = ("Success", "Skip")


def calls_of(record: Record, pod: PodHistory) -> tuple[TraceCall, ...]:
    """Return what plugins did with a pod, in order; nothing if the scheduler wrote no trace."""
    file = record.path / TRACE
    if not file.exists():
        return ()
    return tuple(call for call in _calls(file, file.stat().st_mtime_ns) if call.uid == pod.uid)


def traced(expectation: Traced, record: Record, peers: Sequence[Record] = ()) -> Verdict:
    """Judge that every chosen pod went through these extension points, in this order, with these answers."""
    title = f"plugins at {described(expectation.selector, expectation.pods, expectation.namespace)}"
    expected = " → ".join(expectation.points)
    if expectation.codes:
        expected += "; " + ", ".join(f"{point} {code}" for point, code in expectation.codes.items())
    if not (record.path / TRACE).exists():
        return Verdict("trace", title, "rejected", expected, "no trace", evidence=(NO_TRACE,))
    pods = existing(
        matching_pods(record, selector=expectation.selector, names=expectation.pods, namespace=expectation.namespace)
    )
    wrong = [line for pod in pods if (line := _contradiction(expectation, record, pod))]
    misread = _misread(expectation, record)
    return Verdict(
        kind="trace",
        title=title,
        status=status_of(bool(pods) and not wrong and not misread),
        expected=expected,
        seen=f"{len(pods) - len(wrong)} of {counted(len(pods), 'pod')} so",
        evidence=limited([*misread, *wrong]),
    )


def _misread(expectation: Traced, record: Record) -> list[str]:
    """Return what the plugin understood otherwise than expected."""
    file = record.path / ARGUMENTS
    try:
        every = orjson.loads(file.read_bytes()) if file.exists() else {}
    except orjson.JSONDecodeError as error:
        raise RecordError(
            f"{file}:{error.lineno}: broken JSON; the record is damaged, run the scenario again"
        ) from error
    told = every.get(expectation.plugin) or {}
    return [
        f"argument {key}: {value!r} expected, {told.get(key)!r} seen"
        for key, value in expectation.arguments.items()
        if told.get(key) != value
    ]


def _contradiction(expectation: Traced, record: Record, pod: PodHistory) -> str | None:
    calls = [call for call in calls_of(record, pod) if expectation.plugin in (None, call.plugin)]
    order = list(dict.fromkeys(call.point for call in calls))
    places = [order.index(point) if point in order else -1 for point in expectation.points]
    if -1 in places or places != sorted(places):
        return f"{pod.name} went through {listed(order, len(order)) or 'nothing'}"
    for point, code in expectation.codes.items():
        seen = {one for call in calls if call.point == point for one in call.codes or (call.code,)}
        if code not in seen:
            return f"{pod.name}: {point} answered {listed(sorted(seen)) or 'nothing'}"
    return None


def done_by_plugins(record: Record, pod: PodHistory) -> list[str]:
    """Return one line per call of a plugin in the pod's last attempt; of very many only those that did not pass."""
    calls = calls_of(record, pod)
    if not calls:
        return []
    last = max(call.attempt for call in calls)
    made = [call for call in calls if call.attempt == last]
    if len(made) > _CALLS_SHOWN_MAX:
        made = [call for call in made if call.code not in _PASSED] or made
    lines = [_line(call) for call in made]
    head = [f"attempt {last} of {last}:"] if last > 1 else []
    return [*head, *limited(lines, _CALLS_SHOWN_MAX)]


def _line(call: TraceCall) -> str:
    where = f" on {call.node}" if call.node else f" on {call.count} nodes" if call.count > 1 else ""
    said = f": {call.text}" if call.text else ""
    return f"{call.t:.3f} s  {call.point} by {call.plugin}{where}: {call.code} ({call.seconds * 1e6:.0f} µs){said}"


@lru_cache(maxsize=4)
def _calls(file: Path, changed_ns: int) -> tuple[TraceCall, ...]:
    calls = []
    for number, line in enumerate(file.read_bytes().splitlines(), start=1):
        try:
            calls.append(TraceCall(**orjson.loads(line)))
        except (orjson.JSONDecodeError, TypeError) as error:
            raise RecordError(f"{file}:{number}: {error}; the record is damaged, run the scenario again") from error
    return tuple(calls)
