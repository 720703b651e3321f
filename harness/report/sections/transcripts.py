"""Every call to an extender as a row, and for some pods what was said about each single node. Pure."""

from collections.abc import Iterator, Sequence

from harness.expect.nodewise import READ_BYTES_MAX, NodeWords, node_words
from harness.record.call import Call
from harness.report.document import Block, Callout, Cell, Column, Fold, Table
from harness.report.sections.drawing import MS
from harness.report.sections.grouping import Shown, key_columns, readable
from harness.report.words import Words

PODS_MAX = 30
ROWS_MAX = 20_000


def transcripts(runs: Sequence[Shown], words: Words) -> list[Block]:
    """Return the drill-down: a table of all calls, then one of nodes for a bounded number of pods."""
    called = [one for one in runs if one.run.record.calls]
    if not called:
        return []
    blocks: list[Block] = [Fold(words("run.transcript.all"), (_call_table(called, words),))]
    nodes = list(_node_blocks(called, words))
    return [*blocks, Fold(words("run.transcript.nodes"), tuple(nodes))] if nodes else blocks


def chosen(calls: Sequence[Call]) -> tuple[list[str], int]:
    """Return the pods whose calls are shown node by node, and how many have calls at all.

    The first ones, and the first of those with a call that failed.
    """
    every = dict.fromkeys(call.uid for call in calls if call.uid)
    failing = dict.fromkeys(call.uid for call in calls if call.uid and _failed(call))
    some = dict.fromkeys([*list(every)[:PODS_MAX], *list(failing)[:PODS_MAX]])
    return [uid for uid in some if uid], len(every)


def _call_table(runs: Sequence[Shown], words: Words) -> Table:
    keys = ("pod", "attempt", "extender", "call", "nodes_in", "nodes_out", "status", "ending")
    times = ("at_ms", "call_ms")
    texts = ("refused", "error", "notices", "fault")
    columns = (
        *key_columns(words),
        *(Column(key, words(f"run.column.{key}")) for key in keys),
        *(Column(key, words(f"run.column.{key}"), 2) for key in times),
        *(Column(key, words(f"run.column.{key}")) for key in texts),
    )
    rows: list[tuple[Cell, ...]] = []
    marks = {}
    for one in runs:
        for call in one.run.record.calls:
            if _failed(call):
                marks[len(rows)] = "bad"
            rows.append((*one.keys, *_cells(call, words)))
    filters = ("scenario", "variant", "extender", "call", "status", "ending")
    title = words("run.transcript.calls")
    return Table("transcript", title, columns, tuple(rows), words("run.transcript.note"), marks=marks, filters=filters)


def _cells(call: Call, words: Words) -> tuple[Cell, ...]:
    refused = words("run.join").join(f"{count} x {text}" for text, count in call.reasons.items())
    ms = None if call.seconds is None else MS * call.seconds
    ending = words(f"run.ending.{call.ending}") if call.ending in _ENDINGS else call.ending
    whom = (call.pod, call.attempt, call.extender, call.kind or call.path, call.nodes_in, call.nodes_out)
    notices = words("run.join").join(words.phrase(notice.text) for notice in call.notices)
    error = call.error and words.phrase(call.error)
    return (*whom, call.status, ending, MS * call.t, ms, refused or None, error, notices or None, call.fault)


_ENDINGS = ("answered", "aborted", "cut", "unreachable", "open")


def _failed(call: Call) -> bool:
    return bool(call.error) or call.ending != "answered"


def _node_blocks(runs: Sequence[Shown], words: Words) -> Iterator[Block]:
    """Yield the table of nodes, after what is missing in it."""
    rows: list[tuple[Cell, ...]] = []
    marks: dict[int, str] = {}
    room = max(1, ROWS_MAX // len(runs))
    for one in runs:
        record = one.run.record
        uids, every = chosen(record.calls)
        found = readable(NodeWords(), node_words, record, set(uids), READ_BYTES_MAX // len(runs))
        lines = found.words[:room]
        for word in lines:
            if word.said == "failed":
                marks[len(rows)] = "bad"
            pod = record.pods_by_uid.get(word.uid)
            kept = words("run.yes") if word.node and pod and pod.node == word.node else ""
            said = words(f"run.said.{word.said}")
            whom = (word.pod, word.attempt, word.extender, word.kind)
            rows.append((*one.keys, *whom, word.node, said, word.score, words.phrase(word.text), kept))
        left_out = found.left_out + len(found.words) - len(lines)
        yield from _missing(one, words, found, (len(uids), every, left_out))
    if not rows:
        return
    keys = ("pod", "attempt", "extender", "call", "node", "said", "score", "text", "chosen")
    columns = (*key_columns(words), *(Column(key, words(f"run.column.{key}")) for key in keys))
    filters = ("scenario", "variant", "pod", "call", "node", "said")
    note, title = words("run.transcript.nodes-note"), words("run.transcript.nodes-table")
    yield Table("transcript-nodes", title, columns, tuple(rows), note, marks=marks, filters=filters)


def _missing(one: Shown, words: Words, found: NodeWords, counts: tuple[int, int, int]) -> Iterator[Callout]:
    some, every, left_out = counts
    if some < every:
        yield Callout("info", words("run.transcript.some-pods", run=one.title, some=some, every=every))
    if found.unread and found.words:
        yield Callout("info", words("run.transcript.unread", run=one.title, count=found.unread))
    if left_out > 0:
        yield Callout("info", words("run.transcript.left-out", run=one.title, count=left_out))
    for warning in found.warnings:
        yield Callout("warning", words("run.transcript.warning", run=one.title, warning=words.phrase(warning)))
