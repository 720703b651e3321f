"""Sends recorded requests to a subject and compares what it decides with what was decided then; needs no cluster."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from harness.clock import WaitTimeoutError, wait_until
from harness.errors import InputError, VariantError
from harness.extender.cassette.differences import Difference, changes
from harness.extender.cassette.file import CassetteCall, read
from harness.extender.entry import VERBS, Entry
from harness.extender.references import binding
from harness.extender.reply.effect import Effect, effect
from harness.extender.serving import cluster
from harness.extender.subject.parse import Subject
from harness.extender.subject.reach import cannot_reach
from harness.extender.subject.start import REACH_SECONDS, Running, started
from harness.extender.subject.wire import Wire
from harness.progress import bar

REQUESTS_MAX = 10_000
# Errors name the address; both sides are judged at this one, so that a new port is no difference.
_SOMEWHERE = "http://extender"
_SAID_CHARACTERS_MAX = 200
_OK = 200


@dataclass(frozen=True)
class Options:
    """How to replay.

    Args:
        extender: which extender of the cassette; needed when it has several.
        repeat: how many rounds; a subject that the harness starts is started afresh for each.
        requests_max: how many requests of the cassette are sent.
        bind: whether bind requests are sent, which a subject may carry out.
        seed: what a subject that draws lots starts from.
    """

    extender: str | None = None
    repeat: int = 1
    requests_max: int = REQUESTS_MAX
    bind: bool = False
    seed: int = 0


@dataclass
class Replayed:
    """What came of a replay: how much was sent, what was left out and why, the differences, and how long calls took."""

    cassette: Path
    extender: str
    subject: str
    rounds: int
    sent: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    seconds_then: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    seconds_now: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    notices_then: Counter[str] = field(default_factory=Counter)
    notices_now: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Tell whether every decision is as it was."""
        return not self.differences

    def latencies(self) -> dict[str, dict[str, float]]:
        """Return the middle and the 95th percentile of both sides by kind, in seconds."""
        return {
            kind: {
                "recorded_p50": percentile(self.seconds_then[kind], 50),
                "recorded_p95": percentile(self.seconds_then[kind], 95),
                "now_p50": percentile(self.seconds_now[kind], 50),
                "now_p95": percentile(self.seconds_now[kind], 95),
            }
            for kind in VERBS
            if self.seconds_now[kind]
        }

    def to_json(self) -> dict[str, Any]:
        """Return everything, for other programs."""
        return {
            "cassette": str(self.cassette),
            "extender": self.extender,
            "subject": self.subject,
            "same": self.same,
            "rounds": self.rounds,
            "sent": dict(self.sent),
            "left_out": dict(self.left_out),
            "differences": [one.to_json() for one in self.differences],
            "latencies_seconds": self.latencies(),
            "notices": {"recorded": dict(self.notices_then), "now": dict(self.notices_now)},
            "warnings": self.warnings,
        }


def replay(path: Path, subject: Subject, folder: Path, options: Options) -> Replayed:
    """Send the requests of a cassette to a subject, in the order in which they were made.

    Args:
        path: a cassette, or the folder of a record that has one.
        subject: who is asked; started for it, unless it runs elsewhere.
        folder: where a started subject's log goes.
        options: how.

    Raises:
        InputError: the cassette cannot be read, or does not say which extender is meant, or the subject is a reference
            that needs a cluster.
        VariantError: the subject does not start, or is gone before the end.
    """
    known = _extender(path, options.extender)
    entry = Entry.from_json(known["entry"], f"{path}: extender {known['name']}")
    result = Replayed(path, known["name"], subject.text, options.repeat)
    target = _target(entry, subject, result)
    seen: dict[tuple[int, str | None, str, str], Difference] = {}
    with started(subject, folder=folder, seed=options.seed, kubeconfig=None) as running, bar("replay") as shown:
        target = target.at(_address(running.url, entry, subject))
        for number in range(1, options.repeat + 1):
            if number > 1 and running.restartable:
                running.restart(options.seed)
            with Wire(target) as wire:
                judged = _Round(entry.at(_SOMEWHERE), wire, running, result, first=number == 1)
                for call in _chosen(path, options, target, result):
                    for one in judged.play(call):
                        key = (one.seq, one.node, one.what, str(one.after))
                        seen[key] = replace(one, rounds=seen[key].rounds + 1) if key in seen else one
                    shown.advance(f"round {number} of {options.repeat}: {call.kind} of {call.pod}")
    if not result.sent:
        reasons = ", ".join(f"{count} {why}" for why, count in result.left_out.items()) or "it holds no call"
        raise InputError(f"{path}: nothing of extender {result.extender} can be sent ({reasons}); record another run")
    result.differences = sorted(seen.values(), key=lambda one: (one.seq, one.node or "", one.what))
    return result


@dataclass(frozen=True)
class _Round:
    """One time through the cassette; `entry` judges both sides alike."""

    entry: Entry
    wire: Wire
    running: Running
    result: Replayed
    first: bool

    def play(self, call: CassetteCall) -> Iterator[Difference]:
        """Send one call and yield what is different."""
        kind = call.kind or ""
        request, body = self._bodies(call)
        reply = self.wire.send(kind, request)
        if reply.status is None and (why := cannot_reach(reply.url, timeout_seconds=REACH_SECONDS)):
            how = self._ended() or why
            raise VariantError(f"{self.result.subject}: gone at call {call.seq} ({kind} of {call.pod}): {how}")
        before = self._judged(call, call.status, body, call.ending)
        after = self._judged(call, reply.status, reply.body, reply.ending)
        if after.error:
            self._refuse_without_cluster(reply.body)
        result = self.result
        result.sent[kind] += 1
        result.seconds_now[kind].append(reply.seconds)
        result.notices_now.update(notice.code for notice in after.notices)
        if self.first:
            result.notices_then.update(notice.code for notice in before.notices)
            if call.seconds is not None:
                result.seconds_then[kind].append(call.seconds)
        for node, what, was, now in changes(before, after):
            said = _excerpt(reply.body) if now and what == "error" and reply.status not in (None, _OK) else None
            yield Difference(call.extender, call.seq, kind, call.pod, call.attempt, node, what, was, now, said=said)

    def _refuse_without_cluster(self, body: bytes) -> None:
        """Raise when a reference says that it lacks what no replay has; its errors would pass for decisions."""
        subject = self.running.subject
        if subject.kind == "ref" and any(text.encode() in body for text in (binding.NO_CLUSTER, cluster.NO_CLUSTER)):
            raise InputError(
                f"{subject.text}: it does its work only with a cluster, and a replay has none; compare it in runs "
                f"(harness run … --extender {subject.text})"
            )

    def _bodies(self, call: CassetteCall) -> tuple[bytes, bytes]:
        try:
            return orjson.dumps(call.request), call.body
        except TypeError as error:
            # What is nested more deeply can be read, but not be written.
            raise InputError(f"{self.result.cassette}: call {call.seq} cannot be sent: {error}") from error

    def _ended(self) -> str | None:
        """Say how a subject that the harness started ended; whoever watches it may not have had a turn yet."""
        if not self.running.restartable:
            return None
        try:
            return wait_until(self.running.check, what="the subject's end", timeout_seconds=REACH_SECONDS)
        except WaitTimeoutError:
            return None

    def _judged(self, call: CassetteCall, status: int | None, body: bytes, ending: str) -> Effect:
        return effect(call.kind or "", self.entry, call.request, status, body, ending=ending)


def _excerpt(body: bytes) -> str | None:
    """Return the beginning of a body, in a line."""
    text = " ".join(body.decode("utf-8", errors="replace").split())
    return text if len(text) <= _SAID_CHARACTERS_MAX else text[:_SAID_CHARACTERS_MAX] + "…"


def percentile(values: Iterable[float], percent: int) -> float:
    """Return a percentile of some values; 0 if there are none."""
    ordered = sorted(values)
    if len(ordered) < 2:  # noqa: PLR2004 - a single value is every percentile of itself
        return ordered[0] if ordered else 0.0
    return statistics.quantiles(ordered, n=100, method="inclusive")[percent - 1]


def _extender(path: Path, name: str | None) -> Mapping[str, Any]:
    known = {str(one["name"]): one for one in read(path).extenders}
    listed = ", ".join(known) or "none"
    if name is None and len(known) == 1:
        return next(iter(known.values()))
    if name is None:
        raise InputError(f"{path}: one extender expected, seen: {listed}; choose one with --extender")
    if name not in known:
        raise InputError(f"{path}: no extender {name!r} in it; known: {listed}")
    return known[name]


def _target(entry: Entry, subject: Subject, result: Replayed) -> Entry:
    """Return where the subject's calls go: what it says of itself over what was recorded."""
    told = Entry.from_json(dict(subject.entry or {}), subject.text)
    if subject.entry and "nodeCacheCapable" in subject.entry and told.node_cache_capable != entry.node_cache_capable:
        mode = "names of nodes" if entry.node_cache_capable else "whole nodes"
        result.warnings.append(f"{subject.text}: its entry asks for the other wire mode; {mode} are sent, as recorded")
    known = {**entry.to_json(), **told.to_json()}
    if told.verbs():
        # A kind that the subject does not serve would never be asked of it.
        known = {key: value for key, value in known.items() if not key.endswith("Verb") or key in told.to_json()}
    return Entry.from_json(known, subject.text)


def _address(url: str, entry: Entry, subject: Subject) -> str:
    """Return the subject's urlPrefix; one that says nothing about its paths is asked where the recorded one was."""
    told = subject.entry or {}
    if not subject.is_started or "urlPrefix" in told or any(f"{kind}Verb" in told for kind in VERBS):
        return url
    return url.rstrip("/") + urlsplit(entry.url_prefix).path


def _chosen(path: Path, options: Options, target: Entry, result: Replayed) -> Iterator[CassetteCall]:
    """Yield the calls that are sent; the others are counted with the reason."""
    cassette = read(path)
    left_out: Counter[str] = Counter()
    sent = 0
    for call in cassette.calls:
        if call.extender != result.extender:
            continue
        why = _left_out(call, options, target)
        if why is None and sent >= options.requests_max:
            why = f"above {options.requests_max} requests"
        if why is not None:
            left_out[why] += 1
            continue
        sent += 1
        yield call
    # The same in every round.
    result.left_out = left_out
    result.warnings += [warning for warning in cassette.warnings if warning not in result.warnings]


def _left_out(call: CassetteCall, options: Options, target: Entry) -> str | None:
    if call.fault is not None:
        return "made under a fault"
    if call.kind is None:
        return "of no configured verb"
    if call.kind == "bind" and not options.bind:
        return "bind, sent only with --bind"
    if not target.verb(call.kind):
        return f"{call.kind}, for which the subject has no verb"
    if call.ending == "open":
        return "not ended when recording stopped"
    if call.omitted is not None:
        return f"body not recorded: {call.omitted}"
    return "without a request" if call.request is None else None
