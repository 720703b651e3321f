"""Tells what a pod's extenders said about it, call by call, and how far that explains the node it got."""

from collections import Counter
from collections.abc import Iterator, Mapping

from harness.errors import InputError
from harness.expect.base import counted, listed
from harness.expect.scores import points
from harness.extender.cassette.file import CassetteCall, transcript
from harness.extender.entry import Entry
from harness.extender.reply.effect import Effect, effect
from harness.record.call import CASSETTE
from harness.record.model import PodHistory, Record

_NODES_SHOWN_MAX = 6
_CALLS_SHOWN_MAX = 40
NOT_ENDED = "it had not ended when recording stopped"


def said_by_extenders(record: Record, pod: PodHistory) -> list[str]:
    """Return one line per call about a pod, then one about the choice that came of them."""
    file = record.path / CASSETTE
    if pod.uid not in record.calls_by_uid or not file.exists():
        return []
    entries = {one.name: Entry.from_json(one.entry) for one in record.extenders}
    lines: list[str] = []
    last: dict[str, Effect] = {}
    scores: dict[str, Effect] = {}
    try:
        for call in transcript(file, pod.uid):
            if call.kind is None or call.extender not in entries:
                continue
            if untold := call.omitted or (NOT_ENDED if call.ending == "open" else None):
                lines.append(f"{_when(call)} {untold}")
                continue
            made = effect(call.kind, entries[call.extender], call.request, call.status, call.body, ending=call.ending)
            lines.append(f"{_when(call)} {_what(call, made)}")
            if call.kind == "filter":
                last, scores = {**last, call.extender: made}, {}
            elif call.kind == "prioritize" and not made.error:
                scores[call.extender] = made
    except InputError as error:
        return [f"what was said cannot be read: {error}"]
    hidden = len(lines) - _CALLS_SHOWN_MAX
    if hidden > 0:
        lines = [*lines[: _CALLS_SHOWN_MAX // 2], f"… {hidden} calls more …", *lines[-_CALLS_SHOWN_MAX // 2 :]]
    return [*lines, *_choice(pod, last, scores, entries)]


def _when(call: CassetteCall) -> str:
    took = "no answer" if call.seconds is None else f"{call.seconds * 1000:.1f} ms"
    attempt = f"attempt {call.attempt}, " if call.attempt else ""
    fault = f", broken on purpose: {call.fault}" if call.fault else ""
    return f"{call.t:.3f} s  {attempt}{call.kind} by {call.extender} ({took}{fault}):"


def _what(call: CassetteCall, made: Effect) -> str:
    if made.error:
        ignored = "; kube-scheduler ignores this without a word" if made.silent else ""
        return f"{made.error if made.error.startswith('failed') else f'failed: {made.error}'}{ignored}"
    match call.kind:
        case "filter":
            return _filtered(made)
        case "prioritize":
            ordered = sorted(made.scores.items(), key=lambda one: -one[1])
            return "scores " + (listed([f"{node}={score}" for node, score in ordered], _NODES_SHOWN_MAX) or "nothing")
        case "preempt":
            return "evicts " + (listed([f"{len(pods)} on {node}" for node, pods in made.victims.items()]) or "nobody")
        case _:
            node = call.request.get("Node") if isinstance(call.request, Mapping) else None
            return f"says it bound the pod to {node}"


def _filtered(made: Effect) -> str:
    refused = {**made.rejected, **made.unresolvable}
    sent = len({*made.feasible, *refused, *made.dropped})
    parts = [f"{counted(sent, 'node')} sent, kept {listed(made.feasible, _NODES_SHOWN_MAX) or 'none'}"]
    for text, number in Counter(refused.values()).most_common(_NODES_SHOWN_MAX):
        parts.append(f"{number} rejected: {text!r}")
    if made.dropped:
        parts.append(f"{len(made.dropped)} rejected without a reason")
    return "; ".join(parts)


def _choice(
    pod: PodHistory, filtered: Mapping[str, Effect], scored: Mapping[str, Effect], entries: Mapping[str, Entry]
) -> Iterator[str]:
    if pod.node is None:
        return
    if any(len(set(one.feasible)) == 1 for one in filtered.values() if not one.error):
        yield f"chosen: {pod.node}, the only node that was left"
        return
    if not scored:
        return
    added = points(scored, entries)
    best = max(added.values(), default=0)
    own = added[pod.node]
    if own == best and sum(1 for value in added.values() if value == best) == 1:
        yield f"chosen: {pod.node}, which got the most from extenders ({own} points); the plugins' scores count too"
    elif own == best:
        yield f"chosen: {pod.node}, one of those that got the most from extenders ({own} points); the plugins decided"
    else:
        top = listed([node for node, value in added.items() if value == best])
        yield f"chosen: {pod.node} with {own} points of extenders, although {top} got {best}: plugins outweighed that"
