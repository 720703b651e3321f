"""Turns what a tap wrote during a run into the calls of a record and a cassette, one call in memory at a time."""

import contextlib
import gc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from harness.errors import HarnessError
from harness.extender.cassette.bodies import BODIES, Body, body, opened, unpacked
from harness.extender.cassette.file import CassetteCall, CassetteWriter
from harness.extender.entry import Entry
from harness.extender.reply.effect import OK, Effect, effect, sent_nodes, sent_victims
from harness.extender.reply.golang import quickly
from harness.record.call import Call

CALLS = "calls.jsonl"
STREAM = "calls"
LIMIT_BYTES = 64 << 20
_EMPTY = Effect("")


Append = Callable[[str, Mapping[str, Any]], None]
"""Takes the name of a stream and a line of it; `RecordWriter.append` is one."""


@dataclass
class _Attempts:
    """Counts the scheduling attempts per pod: a new one begins with its first kind of call."""

    first: str
    seen: Counter[str] = field(default_factory=Counter)

    def of(self, kind: str | None, uid: str | None) -> int | None:
        if kind is None or uid is None:
            return None
        if kind == self.first:
            self.seen[uid] += 1
        return self.seen[uid] or None


def finalize(  # noqa: PLR0913 - it stands between a tap's folder and the two things made of it
    folder: Path,
    extender: str,
    entry: Entry,
    offset_seconds: float,
    append: Append,
    cassette: CassetteWriter,
    *,
    limit_bytes: int = LIMIT_BYTES,
    told: Callable[[str], str] = str,
) -> list[str]:
    """Write every call that a tap recorded into the record and the cassette; return what is doubtful about them.

    Args:
        folder: where the tap recorded; a folder without calls is fine.
        extender: the extender's name in the record.
        entry: its entry of the configuration, as it would be without the tap.
        offset_seconds: the run's time when the tap's own clock stood at 0.
        append: takes the lines of `calls.jsonl`.
        cassette: takes the calls with their bodies.
        limit_bytes: of larger bodies only the size is kept.
        told: what the record calls a pod that the cluster calls otherwise.

    Raises:
        HarnessError: something could not be read or written.
    """
    warnings: list[str] = []
    attempts = _Attempts("filter" if entry.filter_verb else "prioritize")
    missing: Counter[str] = Counter()
    unended = 0
    try:
        pairs = _pairs(folder / CALLS, warnings)
        with opened(folder / BODIES) as bodies, _uncollected():
            for begin, end in pairs:
                unended += not end
                request, response = (body(bodies, end, side, limit_bytes) for side in ("request", "response"))
                response = unpacked(response, _header(end, "Content-Encoding"), limit_bytes)
                missing.update(one.missing for one in (request, response) if one.missing)
                call, taped = _call(extender, entry, offset_seconds, attempts, (begin, end, request, response), told)
                append(STREAM, call.to_json())
                cassette.append(taped)
    except OSError as error:
        raise HarnessError(f"{folder}: what the tap recorded cannot be read: {error.strerror or error}") from error
    if unended:
        warnings.append(f"{extender}: {unended} call{'s' * (unended != 1)} had not ended when recording stopped")
    warnings += [f"{extender}: {count} bodies are not in the cassette: {why}" for why, count in missing.items()]
    return warnings


def _call(
    extender: str,
    entry: Entry,
    offset_seconds: float,
    attempts: _Attempts,
    seen: tuple[dict[str, Any], dict[str, Any], Body, Body],
    told: Callable[[str], str],
) -> tuple[Call, CassetteCall]:
    begin, end, asked, answered = seen
    kind = entry.kind_of(begin["path"].partition("?")[0])
    request = _json(asked.data)
    pod, uid = _pod(request)
    status, ending = end.get("status"), end.get("ending", "open")
    made = _EMPTY
    # What was not kept, or had not come yet, cannot be judged; silence about it is better than a wrong word.
    if kind and ending != "open" and not (status == OK and answered.missing):
        made = effect(kind, entry, request, status, answered.data, ending=ending, location=_header(end, "Location"))
    times = {
        key: None if end.get(key) is None else round(end[key] + offset_seconds, 6)
        for key in ("sent", "first_byte", "now")
    }
    call = Call(
        extender=extender,
        seq=begin["seq"],
        t=round(begin["now"] + offset_seconds, 6),
        kind=kind,
        path=begin["path"],
        ending=ending,
        connection=begin.get("connection", 0),
        status=status,
        sent_t=times["sent"],
        first_byte_t=times["first_byte"],
        end_t=times["now"],
        request_bytes=end.get("request_bytes", 0),
        response_bytes=end.get("response_bytes", 0),
        pod=told(pod) if pod else pod,
        uid=uid,
        attempt=attempts.of(kind, uid),
        nodes_in=_nodes_in(kind, request),
        nodes_out=_nodes_out(made),
        fault=begin.get("fault"),
        error=_error(answered, made),
        reasons=dict(Counter([*made.rejected.values(), *made.unresolvable.values()])),
        notices=made.notices,
    )
    omitted = asked.missing or answered.missing
    return call, _taped(call, entry, request, answered.data, omitted)


def _error(answered: Body, made: Effect) -> str | None:
    unread = answered.cut if any(notice.code == "bad-reply" for notice in made.notices) else None
    return answered.error or unread or made.error


def _taped(call: Call, entry: Entry, request: Any, body: bytes, omitted: str | None) -> CassetteCall:
    response, raw = None, None
    if body:
        try:
            response = quickly(body)
            orjson.dumps(response)
        except (ValueError, TypeError):
            response, raw = None, body
        if response is not None and call.error and call.kind:
            # Number formats and what stands behind the first value can be what the error is about.
            again = effect(call.kind, entry, request, call.status, orjson.dumps(response), ending=call.ending)
            response, raw = (response, None) if again.error == call.error else (None, body)
    elif call.status is not None:
        raw = b""
    return CassetteCall(
        extender=call.extender,
        seq=call.seq,
        t=call.t,
        kind=call.kind,
        path=call.path,
        status=call.status,
        seconds=call.seconds,
        pod=call.pod,
        uid=call.uid,
        attempt=call.attempt,
        request=request,
        response=response,
        raw=raw,
        fault=call.fault,
        ending=call.ending,
        omitted=omitted,
    )


def _pairs(path: Path, warnings: list[str]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the beginning and the end of every call, in the order of their beginnings; the end may be empty."""
    begins: dict[int, dict[str, Any]] = {}
    ends: dict[int, dict[str, Any]] = {}
    for number, line in _lines(path):
        try:
            value = orjson.loads(line)
            (begins if value["event"] == "begin" else ends)[value["seq"]] = value
        except (ValueError, KeyError, TypeError):
            warnings.append(f"{path}:{number}: this line is cut or damaged, and left out")
    return [(begin, ends.get(seq, {})) for seq, begin in sorted(begins.items())]


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    if path.is_file():
        with path.open("rb") as stream:
            yield from enumerate(stream, 1)


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector away: it would walk through large bodies again and again, and JSON has no cycles."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _header(end: Mapping[str, Any], name: str) -> str | None:
    pairs = end.get("response_headers") or ()
    return next((value for key, value in pairs if key.lower() == name.lower()), None)


def _json(data: bytes) -> Any:
    try:
        return orjson.loads(data) if data else None
    except ValueError:
        return None


def _pod(request: Any) -> tuple[str | None, str | None]:
    """Return the pod that a request is about, as `namespace/name` and UID."""
    if not isinstance(request, dict):
        return None, None
    asked = request.get("Pod")
    metadata = asked.get("metadata") if isinstance(asked, dict) else None
    metadata = metadata if isinstance(metadata, dict) else {}
    name = metadata.get("name") or request.get("PodName")
    namespace = metadata.get("namespace") or request.get("PodNamespace")
    uid = metadata.get("uid") or request.get("PodUID")
    # Anybody may send anything to a tap.
    known = f"{namespace}/{name}" if namespace else name
    return (known if isinstance(known, str) else None), (uid if isinstance(uid, str) else None)


def _nodes_in(kind: str | None, request: Any) -> int | None:
    known = (
        sent_victims(request)
        if kind == "preempt"
        else sent_nodes(request)
        if kind in {"filter", "prioritize"}
        else None
    )
    return None if known is None else len(known)


def _nodes_out(made: Effect) -> int | None:
    if made.error is not None:
        return None
    counted = {"filter": made.feasible, "prioritize": made.scores, "preempt": made.victims}.get(made.kind)
    return None if counted is None else len(counted)
