"""Calls an extender once per verb, before any pod depends on it. Never binds and never preempts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from harness.extender import requests
from harness.extender.entry import Entry
from harness.extender.reply.effect import Effect, effect
from harness.extender.subject.post import Reply, post
from harness.extender.subject.reach import cannot_reach
from harness.record.call import Notice

TIMEOUT_SECONDS = 5.0
PROBED = ("filter", "prioritize")
# What the handlers are called in extenders that people wrote; the first is what most configurations say.
WORDS = {
    "filter": ("filter", "predicates", "predicate"),
    "prioritize": ("prioritize", "priority", "priorities", "score"),
}
# A path that many examples serve below.
USUAL_PATH = "/scheduler"
NODES_COUNT = 3
MISSING = (404, 405)
OK = 200
SAID_CHARACTERS_MAX = 200
# What says that the two do not fit together. The rest of a verdict depends on the pod, and this one is made up.
WIRING = {
    "bad-reply",
    "bad-status",
    "not-found",
    "nothing-kept-without-reason",
    "redirect",
    "reply-ignored",
    "unexpected-mode",
    "unknown-key",
}


@dataclass(frozen=True)
class Probe:
    """What a probe found out: `replies` and `effects` are by kind; `reachable` is whether anything answered."""

    findings: tuple[Notice, ...]
    reachable: bool
    replies: Mapping[str, Reply] = field(default_factory=dict)
    effects: Mapping[str, Effect] = field(default_factory=dict)


def probe(entry: Entry, timeout_seconds: float = TIMEOUT_SECONDS) -> Probe:
    """Send one canonical request per configured filter and prioritize verb, exactly where kube-scheduler would."""
    if not entry.verbs():
        text = "no verb is configured, so kube-scheduler never calls the extender; set filterVerb or prioritizeVerb"
        return _connection_only(entry, timeout_seconds, (Notice("no-verb", text),))
    kinds = [kind for kind in PROBED if entry.verb(kind)]
    if not kinds:
        return _connection_only(entry, timeout_seconds, ())
    findings: list[Notice] = []
    replies: dict[str, Reply] = {}
    effects: dict[str, Effect] = {}
    for kind in kinds:
        replies[kind], effects[kind] = _ask(kind, entry, timeout_seconds)
        if replies[kind].ending == "unreachable":
            return Probe((_unreachable(entry, replies[kind].problem),), reachable=False, replies=replies)
        findings += _findings(kind, entry, replies[kind], effects[kind], timeout_seconds)
    return Probe(tuple(findings), reachable=True, replies=replies, effects=effects)


def guess_entry(
    url: str, known: Mapping[str, Any] | None = None, timeout_seconds: float = TIMEOUT_SECONDS
) -> tuple[Entry, tuple[str, ...]]:
    """Return the entry that an extender without a description most likely needs, and a note per guess.

    Args:
        url: its urlPrefix.
        known: keys of the entry that are known; of these, `tlsConfig` and `enableHTTPS` matter here.
        timeout_seconds: how long one answer may take.
    """
    entry = Entry.from_json({**(known or {}), "urlPrefix": url})
    notes: list[str] = []
    modes: dict[str, bool] = {}
    for kind in PROBED:
        verb, reply = _route(kind, entry, timeout_seconds)
        if reply.ending == "unreachable":
            return entry, (f"nothing could be guessed: {_unreachable(entry, reply.problem).text}",)
        if verb is None:
            tried = ", ".join(f"/{word}" for word in WORDS[kind])
            notes.append(f"{kind}Verb is left out: none of {tried} answers below {url}")
            continue
        entry = _with_verb(entry, kind, verb)
        notes.append(f'{kind}Verb: "{verb}", because POST {entry.url(kind)} answers')
        modes[kind], why = _mode(kind, entry, timeout_seconds)
        notes.append(why)
    if entry.prioritize_verb and not entry.weight:
        entry = replace(entry, weight=1)
        notes.append("weight: 1, because kube-scheduler does not start without one")
    if len(set(modes.values())) > 1:
        notes.append("filter and prioritize want nodes in different forms; nodeCacheCapable follows filter")
    if modes:
        notes.append("bindVerb and preemptVerb are never guessed, because trying them could bind or evict")
    return replace(entry, node_cache_capable=next(iter(modes.values()), False)), tuple(notes)


def _connection_only(entry: Entry, timeout_seconds: float, findings: tuple[Notice, ...]) -> Probe:
    cause = cannot_reach(entry.url_prefix, timeout_seconds=timeout_seconds)
    return Probe((_unreachable(entry, cause),), reachable=False) if cause else Probe(findings, reachable=True)


def _unreachable(entry: Entry, cause: str | None) -> Notice:
    return Notice("extender-unreachable", f"{entry.url_prefix or 'an empty urlPrefix'}: {cause}")


def _ask(kind: str, entry: Entry, timeout_seconds: float, url: str | None = None) -> tuple[Reply, Effect]:
    """Send the canonical request, and return the reply with what kube-scheduler would make of it."""
    managed = {str(one.get("name")): "1" for one in entry.managed_resources}
    pod = requests.pod("probe", requests=managed or {"cpu": "100m"})
    arguments = requests.extender_args(pod, requests.nodes(NODES_COUNT), entry.node_cache_capable)
    reply = post(url or entry.url(kind), requests.encoded(arguments), entry, timeout_seconds=timeout_seconds)
    judged = effect(kind, entry, arguments, reply.status, reply.body, ending=reply.ending, location=reply.location)
    return reply, judged


def _findings(kind: str, entry: Entry, reply: Reply, judged: Effect, timeout_seconds: float) -> Iterator[Notice]:
    if reply.ending == "aborted":
        yield Notice("timed-out", f"{kind} at {reply.url}: {reply.problem}")
        return
    if reply.status is None:
        yield Notice("bad-reply", f"{kind} at {reply.url}: {reply.problem}; a handler that panics does so")
        return
    for notice in judged.notices:
        if notice.code not in WIRING:
            continue
        extra = ""
        if notice.code == "not-found":
            extra = _neighbour(kind, entry, timeout_seconds)
        elif notice.code == "bad-status":
            extra = _said(reply.body)
        yield replace(notice, text=f"{notice.text}{extra}")


def _said(body: bytes) -> str:
    text = " ".join(body.decode(errors="replace").split())
    return f'; it said "{text[:SAID_CHARACTERS_MAX]}"' if text else ""


def _neighbour(kind: str, entry: Entry, timeout_seconds: float) -> str:
    """Look for the route that was meant, and say what to write for it."""
    for url, advice in _neighbours(kind, entry):
        reply, judged = _ask(kind, entry, timeout_seconds, url)
        if reply.status == OK and judged.error is None:
            return f"; POST {url} does answer: {advice}"
    tried = dict.fromkeys(urlsplit(url).path for url, _ in _neighbours(kind, entry))
    return f"; none of {', '.join(tried)} answers either"


def _neighbours(kind: str, entry: Entry) -> list[tuple[str, str]]:
    """Return URLs near the one that is configured, each with what would lead there."""
    prefix = entry.url_prefix.rstrip("/")
    parts = urlsplit(prefix)
    origin = f"{parts.scheme}://{parts.netloc}"
    # A verb such as "v1/filter" or "/filter" is meant to end in what it ends in.
    words = dict.fromkeys([entry.verb(kind).strip("/"), *WORDS[kind]])
    near: dict[str, str] = {}
    for word in words:
        near.setdefault(f"{prefix}/{word}", f'set {kind}Verb to "{word}"')
    other = origin if parts.path else f"{origin}{USUAL_PATH}"
    for word in words:
        near.setdefault(f"{other}/{word}", f'set urlPrefix to "{other}" and {kind}Verb to "{word}"')
    for word in words:
        near.setdefault(f"{prefix}//{word}", f'set {kind}Verb to "/{word}"')
    near.pop(entry.url(kind), None)
    return list(near.items())


def _route(kind: str, entry: Entry, timeout_seconds: float) -> tuple[str | None, Reply]:
    """Return the first usual verb that the server knows, and its reply."""
    for word in WORDS[kind]:
        named = _with_verb(entry, kind, word)
        reply, _ = _ask(kind, replace(named, node_cache_capable=True), timeout_seconds)
        if reply.ending == "unreachable" or reply.status not in MISSING:
            return word, reply
    return None, reply


def _with_verb(entry: Entry, kind: str, verb: str) -> Entry:
    return replace(entry, filter_verb=verb) if kind == "filter" else replace(entry, prioritize_verb=verb)


def _mode(kind: str, entry: Entry, timeout_seconds: float) -> tuple[bool, str]:
    """Tell whether an extender wants names, by which of the two ways it gives the better answer to; and why."""
    understood = {}
    for by_name in (True, False):
        _, judged = _ask(kind, replace(entry, node_cache_capable=by_name), timeout_seconds)
        understood[by_name] = _understood(judged)
    way = {True: "the names of nodes", False: "whole nodes"}
    if not any(understood.values()):
        return (
            False,
            f"nodeCacheCapable: false as by default, because {kind} works neither with names nor whole nodes",
        )
    by_name = understood[True] >= understood[False]
    worse = "" if understood[not by_name] else f", and not with {way[not by_name]}"
    return by_name, f"nodeCacheCapable: {str(by_name).lower()}, because {kind} works with {way[by_name]}{worse}"


def _understood(judged: Effect) -> int:
    """Return how well a reply fits: 2 if it decides about nodes, 1 if it is only well-formed, 0 if it does not fit."""
    codes = {notice.code for notice in judged.notices}
    if judged.error is not None or codes & {"reply-ignored", "unexpected-mode", "nothing-kept-without-reason"}:
        return 0
    return 2 if judged.feasible or judged.rejected or judged.unresolvable or judged.scores else 1
