"""Finds what no single reply shows: calls that never came, replies that came late, bindings that were not made."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from harness.expect.base import WATCH_SKEW_SECONDS, at, counted, limited, listed
from harness.expect.finding import Finding, about, where
from harness.extender.entry import Entry
from harness.record.call import Call, Extender
from harness.record.model import Record

BLIND_SINCE = (1, 33)
_EXAMPLES_MAX = 3
_TO_SCORE = 2
_OK = 200
_ABORTED_SHARE = 0.9
_VERSION = re.compile(r"v?(\d+)\.(\d+)")


@dataclass(frozen=True)
class Seen:
    """One extender with everything that a record knows about it; `calls` are those that count as its own."""

    record: Record
    extender: Extender
    entry: Entry
    calls: tuple[Call, ...]
    all_calls: tuple[Call, ...]

    @property
    def name(self) -> str:
        """What the extender is called."""
        return self.extender.name

    def of(self, kind: str) -> list[Call]:
        """Return the calls of one kind that kube-scheduler accepted the reply of."""
        return [call for call in self.calls if call.kind == kind and call.ending == "answered" and call.error is None]

    def finding(self, code: str, text: str, count: int, lines: list[str]) -> Finding:
        """Return a finding about this extender."""
        return Finding(code, f"extender {self.name} {text}", count, self.name, limited(lines, _EXAMPLES_MAX))


def crosscalls(seen: Seen) -> Iterator[Finding]:
    """Yield what calls tell together, and what the configuration tells by itself."""
    yield from _timed_out(seen)
    yield from _cut_off(seen)
    yield from _slow_reply(seen)
    yield from _error_reply(seen)
    yield from _bind_without_binding(seen)
    yield from _text_changes(seen)
    yield from _prioritize_never_called(seen)
    yield from _blind_scoring(seen)
    yield from _ignorable_bind(seen)


def _timed_out(seen: Seen) -> Iterator[Finding]:
    late = [call for call in seen.calls if _is_timed_out(seen.entry, call)]
    if late:
        text = (
            f"did not answer within httpTimeout ({seen.entry.timeout_seconds:g} s) in {about(late)}, and "
            "kube-scheduler schedules nothing else meanwhile; answer sooner, or raise httpTimeout"
        )
        yield seen.finding("timed-out", text, len(late), [f"{where(call)}: {call.error or 'aborted'}" for call in late])


def _cut_off(seen: Seen) -> Iterator[Finding]:
    cut = [call for call in seen.calls if call.ending == "cut"]
    if cut:
        text = (
            f"closed the connection before its reply was whole in {about(cut)}, as a handler does that panics or a "
            "server that drops idle connections; answer with Error, and keep idle connections for more than 90 s"
        )
        lines = [f"{where(call)}: {counted(call.response_bytes, 'byte')} of a reply came" for call in cut]
        yield seen.finding("cut-off", text, len(cut), lines)


def _slow_reply(seen: Seen) -> Iterator[Finding]:
    limit = seen.entry.timeout_seconds / 2
    # A negative timeout is none at all: then nothing is too slow.
    slow = [
        call
        for call in seen.calls
        if 0 < limit < (call.seconds or 0.0) and call.ending == "answered" and not _is_timed_out(seen.entry, call)
    ]
    if slow:
        worst = max(call.seconds or 0.0 for call in slow)
        text = (
            f"took up to {at(worst)} of {seen.entry.timeout_seconds:g} s httpTimeout in {about(slow)}, so a little "
            "more load makes scheduling fail; answer sooner, or raise httpTimeout"
        )
        yield seen.finding(
            "slow-reply", text, len(slow), [f"{where(call)}: {at(call.seconds or 0.0)}" for call in slow]
        )


def _error_reply(seen: Seen) -> Iterator[Finding]:
    """Find verbs that never worked; an Error now and then is the extender's good right, and kube-scheduler tells it."""
    for kind, spelt in seen.entry.verbs().items():
        asked = [call for call in seen.calls if call.kind == kind]
        if asked and all(_says_error(call) for call in asked):
            text = (
                f"answered {spelt} with Error every time, in {about(asked)}: {asked[0].error}; its own log says where "
                "it stumbles"
            )
            lines = [f"{where(call)}: {call.error}" for call in asked]
            yield seen.finding("error-reply", text, len(asked), lines)


def _says_error(call: Call) -> bool:
    return call.ending == "answered" and call.status == _OK and bool(call.error) and not call.notices


def _is_timed_out(entry: Entry, call: Call) -> bool:
    """Tell whether the scheduler gave up; it also aborts calls when it is stopped itself, which comes sooner."""
    timeout = entry.timeout_seconds
    return call.ending == "aborted" and 0 < timeout * _ABORTED_SHARE <= (call.seconds or 0.0)


def _bind_without_binding(seen: Seen) -> Iterator[Finding]:
    lines: dict[str, str] = {}
    for call in seen.of("bind"):
        pod = seen.record.pods_by_uid.get(call.uid or "")
        if pod is None or pod.nodes or call.end_t is None:
            continue
        watched_t = seen.record.end_t if pod.deleted_t is None else pod.deleted_t
        # The binding may still have been on its way when nobody looked any more.
        if watched_t - call.end_t > WATCH_SKEW_SECONDS:
            lines[pod.uid] = f"{where(call)}: no binding until {at(watched_t)}"
    if lines:
        text = (
            f"answered bind with success and {counted(len(lines), 'pod')} never got a node, which kube-scheduler does "
            "not check: it keeps the room for them for ever; create the Binding before answering, or answer with Error"
        )
        yield seen.finding("bind-without-binding", text, len(lines), list(lines.values()))


def _text_changes(seen: Seen) -> Iterator[Finding]:
    """Compare refusals of the same pod among as many nodes; a changed text wakes the pod up again."""
    changed: dict[str, str] = {}
    refusals: dict[tuple[str, int | None], list[Call]] = {}
    for call in seen.of("filter"):
        if call.uid and call.nodes_out == 0 and call.reasons:
            refusals.setdefault((call.uid, call.nodes_in), []).append(call)
    for (uid, _), refused in refusals.items():
        for earlier, later in itertools.pairwise(refused):
            if set(earlier.reasons) != set(later.reasons):
                texts = f'"{listed(sorted(earlier.reasons), 2)}", then "{listed(sorted(later.reasons), 2)}"'
                changed.setdefault(uid, f"{where(later)}: {texts}")
    if changed:
        text = (
            f"refused {counted(len(changed), 'pod')} with another text in each attempt, and since Kubernetes 1.32 a "
            "changed text makes kube-scheduler try again at once, over and over; give one constant text per cause"
        )
        yield seen.finding("text-changes", text, len(changed), list(changed.values()))


def _prioritize_never_called(seen: Seen) -> Iterator[Finding]:
    kept = [call for call in seen.of("filter") if call.nodes_out]
    if not kept or not seen.entry.prioritize_verb or any(call.kind == "prioritize" for call in seen.all_calls):
        return
    if max(call.nodes_in or 0 for call in kept) < _TO_SCORE:
        cause, move = "no pod had two nodes to choose from, and only then are nodes scored", "add nodes"
    elif max(call.nodes_out or 0 for call in kept) < _TO_SCORE:
        cause, move = "its filter never left two nodes, and only then are nodes scored", "keep more nodes"
    elif len(seen.record.extenders) > 1:
        cause, move = "its filter left several nodes, so another extender left fewer than two", "look at the others"
    else:
        cause, move = "kube-scheduler did not come so far", "look into the scheduler's log"
    text = f"was asked to filter and never to prioritize: {cause}; {move}, or leave prioritizeVerb out"
    most = max(kept, key=lambda call: call.nodes_out or 0)
    lines = [f"{where(most)}: {most.nodes_out} of {most.nodes_in} nodes kept, which is the most"]
    yield seen.finding("prioritize-never-called", text, len(kept), lines)


def _blind_scoring(seen: Seen) -> Iterator[Finding]:
    """Warn of what version and entry make likely; only a comparison, `sameAs`, shows whether it happened."""
    entry = seen.entry
    if entry.node_cache_capable or not entry.filter_verb or kubernetes_version(seen.record) < BLIND_SINCE:
        return
    asked = [call for call in seen.of("filter") if call.nodes_out]
    if not asked and seen.extender.tapped:
        return
    text = (
        "answers filter with whole nodes, and since Kubernetes 1.33 resource scores may then see every node as empty "
        "(kubernetes#141781), so that pods pile up or land elsewhere; set nodeCacheCapable and answer with NodeNames"
    )
    lines = [f"{where(call)}: {counted(call.nodes_out or 0, 'node')} left to score" for call in asked]
    yield seen.finding("blind-scoring", text, len(asked), lines)


def _ignorable_bind(seen: Seen) -> Iterator[Finding]:
    if seen.entry.ignorable and seen.entry.bind_verb:
        text = (
            "binds and is ignorable: when its bind fails, kube-scheduler binds the pod itself behind its back; "
            "leave ignorable out, or give bind to an extender of its own"
        )
        count = sum(call.kind == "bind" for call in seen.calls)
        yield seen.finding("ignorable-bind", text, count, [f"ignorable: true, bindVerb: {seen.entry.bind_verb}"])


def kubernetes_version(record: Record) -> tuple[int, int]:
    """Return major and minor of the cluster's Kubernetes; zeros if the record does not say."""
    found = _VERSION.match(str(record.meta.versions.get("kubernetes", "")))
    return (int(found[1]), int(found[2])) if found else (0, 0)
