"""Tells what extenders said about every single node, call by call, for chosen pods of a record.

A cassette may hold many gigabytes of nodes, so it is read as a stream, only as far as needed, and never beyond a limit.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from harness.errors import InputError
from harness.expect.transcript import NOT_ENDED
from harness.extender.cassette.file import CassetteCall, read
from harness.extender.entry import Entry
from harness.extender.reply.effect import Effect, effect
from harness.record.call import CASSETTE
from harness.record.model import Record

READ_BYTES_MAX = 64_000_000
NODES_PER_CALL_MAX = 200


@dataclass(frozen=True, slots=True)
class NodeWord:
    """What one call said about one node; about none of them (`node` is None) where the call as a whole failed.

    `said` is kept, rejected, unresolvable, dropped, scored, victims, bound, failed or unknown; `score` is a score, or
    the number of victims.
    """

    extender: str
    seq: int
    t: float
    kind: str
    uid: str
    pod: str
    attempt: int | None
    node: str | None
    said: str
    score: int | None = None
    text: str = ""


@dataclass
class NodeWords:
    """All that was found: `unread` are calls that lie beyond the limit, `left_out` nodes of calls with too many."""

    words: list[NodeWord] = field(default_factory=list)
    unread: int = 0
    left_out: int = 0
    warnings: list[str] = field(default_factory=list)


def node_words(record: Record, uids: Collection[str], bytes_max: int = READ_BYTES_MAX) -> NodeWords:
    """Return what was said about each node in the calls about these pods, in the order of the calls.

    Args:
        record: whose cassette is read.
        uids: the pods.
        bytes_max: how much is read at most, by the sizes of the bodies.
    """
    found = NodeWords()
    wanted = {(call.extender, call.seq) for call in record.calls if call.uid in uids and call.kind}
    if not wanted or not (record.path / CASSETTE).exists():
        return found
    try:
        for call in _calls(record, wanted, bytes_max, found):
            _add(call, Entry.from_json(_entry(record, call.extender)), found)
    except InputError as error:
        found.warnings.append(str(error))
    found.unread = len(wanted)
    found.words.sort(key=lambda word: (word.t, word.seq))
    return found


def _calls(record: Record, wanted: set[tuple[str, int]], bytes_max: int, found: NodeWords) -> Iterator[CassetteCall]:
    """Yield the wanted calls and strike them off, until there are none left or too much was read."""
    sizes = {(call.extender, call.seq): call.request_bytes + call.response_bytes for call in record.calls}
    cassette = read(record.path / CASSETTE)
    read_bytes = 0
    for call in cassette.calls:
        key = call.extender, call.seq
        read_bytes += sizes.get(key, 0)
        if key in wanted:
            wanted.discard(key)
            yield call
        if not wanted or read_bytes > bytes_max:
            break
    found.warnings += cassette.warnings


def _entry(record: Record, name: str) -> Mapping[str, object]:
    return next((one.entry for one in record.extenders if one.name == name), {})


def _add(call: CassetteCall, entry: Entry, found: NodeWords) -> None:
    if untold := call.omitted or (NOT_ENDED if call.ending == "open" else None):
        said = [_word(call, None, "unknown", text=untold)]
    else:
        made = effect(str(call.kind), entry, call.request, call.status, call.body, ending=call.ending)
        said = list(_said(call, made))
    found.left_out += max(0, len(said) - NODES_PER_CALL_MAX)
    found.words += said[:NODES_PER_CALL_MAX]


def _said(call: CassetteCall, made: Effect) -> Iterator[NodeWord]:
    """Yield a word per node, those first that a reader looks for when there are too many."""
    if made.error:
        yield _word(call, None, "failed", text=made.error)
        return
    match call.kind:
        case "filter":
            yield from _filtered(call, made)
        case "prioritize":
            for node, score in sorted(made.scores.items(), key=lambda one: -one[1]):
                yield _word(call, node, "scored", score)
        case "preempt":
            for node, pods in made.victims.items():
                yield _word(call, node, "victims", len(pods))
        case _:
            target = call.request.get("Node") if isinstance(call.request, Mapping) else None
            yield _word(call, None if target is None else str(target), "bound")


def _filtered(call: CassetteCall, made: Effect) -> Iterator[NodeWord]:
    for node, text in made.rejected.items():
        yield _word(call, node, "rejected", text=text)
    for node, text in made.unresolvable.items():
        yield _word(call, node, "unresolvable", text=text)
    for node in made.dropped:
        yield _word(call, node, "dropped")
    for node in dict.fromkeys(made.feasible):
        yield _word(call, node, "kept")


def _word(call: CassetteCall, node: str | None, said: str, score: int | None = None, text: str = "") -> NodeWord:
    return NodeWord(
        call.extender,
        call.seq,
        call.t,
        str(call.kind),
        call.uid or "",
        call.pod or "",
        call.attempt,
        node,
        said,
        score,
        text,
    )
