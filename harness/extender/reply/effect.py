"""Tells what kube-scheduler makes of an extender's reply, in its own words; pure.

Read from kube-scheduler's source, the same in every release that the harness knows: what differs between releases
comes after the reply was understood. What kube-scheduler keeps to itself becomes a notice.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from harness.extender.entry import Entry
from harness.extender.reply import notices, shapes
from harness.extender.reply.golang import GoError, plain
from harness.record.call import Notice

OK = 200
NOT_FOUND = 404
REDIRECTS = (301, 302, 303, 307, 308)
SILENT = "prioritize"
PANIC = "runtime error: invalid memory address or nil pointer dereference"

_SLOW_HEADERS = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
_SLOW_BODY = "context deadline exceeded (Client.Timeout or context cancellation while reading body)"


@dataclass(frozen=True)
class Effect:
    """What one reply does to the scheduling of a pod.

    Attributes:
        kind: filter, prioritize, preempt or bind.
        error: what kube-scheduler says went wrong; None if it accepts the reply.
        silent: kube-scheduler tells nobody about the error.
        feasible: nodes that stay, in the order of the reply, repeated ones included.
        rejected: nodes refused by FailedNodes with the text given.
        unresolvable: nodes refused by FailedAndUnresolvableNodes with the text given.
        dropped: nodes that were sent, and are neither kept nor refused.
        scores: score per host as it counts before weighting: of a host named twice, the sum.
        victims: UIDs of the pods to evict, per node.
        notices: what is wrong with the reply without kube-scheduler saying so.
    """

    kind: str
    error: str | None = None
    silent: bool = False
    feasible: tuple[str, ...] = ()
    rejected: Mapping[str, str] = field(default_factory=dict)
    unresolvable: Mapping[str, str] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    scores: Mapping[str, int] = field(default_factory=dict)
    victims: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()


def effect(  # noqa: PLR0913 - a reply is judged by all of it
    kind: str,
    entry: Entry,
    request: Any,
    status: int | None,
    body: bytes,
    *,
    ending: str = "answered",
    location: str | None = None,
) -> Effect:
    """Return what kube-scheduler makes of a reply.

    Args:
        kind: filter, prioritize, preempt or bind.
        entry: the extender's entry of the configuration.
        request: what kube-scheduler sent, decoded; None if it is not known, which leaves out what compares with it.
        status: the status of the reply; None if there was none.
        body: the body of the reply, as far as it came.
        ending: how the call ended; see `harness.record.call.Call`.
        location: the Location header of a redirect.
    """
    if status is None:
        return _failed(kind, _unanswered(kind, entry, ending), ())
    if status in REDIRECTS:
        seen = notices.redirect(kind, status, location)
        error = f"redirected to {location} with code {status}" if location else _refused(kind, entry, status)
        return _failed(kind, error, (seen,))
    if status != OK:
        notice = notices.not_found if status == NOT_FOUND else notices.bad_status
        return _failed(kind, _refused(kind, entry, status), (notice(kind, entry.url(kind), status),))
    cut = {"aborted": _SLOW_BODY, "cut": "unexpected EOF"}.get(ending)
    try:
        return _JUDGES[kind](entry, request, body, cut)
    except GoError as error:
        return _failed(kind, str(error), (notices.bad_reply(kind, str(error)),))


def sent_nodes(request: Any) -> dict[str, Any] | None:
    """Return the nodes of a request for filter or prioritize by name, with the Node or None where only names are sent.

    None if the request does not say.
    """
    if not isinstance(request, dict):
        return None
    names, nodes = request.get("NodeNames"), request.get("Nodes")
    if isinstance(names, list):
        return dict.fromkeys(names) if all(isinstance(name, str) for name in names) else None
    items = nodes.get("items") if isinstance(nodes, dict) else None
    try:
        return {_name(node): node for node in items} if isinstance(items, list) else None
    except AttributeError:
        # Somebody else than kube-scheduler wrote it.
        return None


def sent_victims(request: Any) -> dict[str, tuple[str, ...]] | None:
    """Return the UIDs that a request for preemption proposes, per node; None if the request does not say."""
    if not isinstance(request, dict):
        return None
    meta, full = request.get("NodeNameToMetaVictims"), request.get("NodeNameToVictims")
    if not isinstance(meta, dict) and not isinstance(full, dict):
        return None
    proposed: dict[str, tuple[str, ...]] = {}
    try:
        for node, victims in (meta or full or {}).items():
            pods = (victims or {}).get("Pods") or ()
            uids = (pod.get("UID") if meta else (pod.get("metadata") or {}).get("uid") for pod in pods if pod)
            proposed[node] = tuple(str(uid) for uid in uids)
    except (AttributeError, TypeError):
        return None
    return proposed


def _filter(entry: Entry, request: Any, body: bytes, cut: str | None) -> Effect:
    reply = shapes.unmarshal(shapes.FILTER_RESULT, body, cut)
    found = list(notices.unknown_keys("filter", reply.unknown, shapes.FILTER_RESULT.fields))
    fields = reply.fields
    if fields["Error"]:
        return _failed("filter", fields["Error"], (*found, *notices.texts({"Error": fields["Error"]})))
    sent, names = sent_nodes(request), fields["NodeNames"]
    nodes = None if fields["Nodes"] is None else fields["Nodes"].fields["items"] or []
    by_name = entry.node_cache_capable and names is not None
    kept = tuple(names or ()) if by_name else tuple(node.fields["metadata"].fields["name"] for node in nodes or ())
    failed, hopeless = fields["FailedNodes"] or {}, fields["FailedAndUnresolvableNodes"] or {}
    refused, stays = {**failed, **hopeless}, set(kept)
    dropped = tuple(name for name in sent or () if name not in stays and name not in refused)
    found += notices.kept_nodes(kept, sent, refused, by_name=by_name)
    found += _mode(entry, names, nodes, dropped)
    if nodes is not None and not by_name and sent:
        returned = {name: plain(node.raw) for name, node in zip(kept, nodes, strict=True)}
        found += notices.changed_nodes(sent, returned)
    found += notices.texts(refused)
    ghost = next((name for name in kept if sent is not None and name not in sent), None)
    if by_name and ghost is not None:
        claim = f"claims a filtered node {_quoted(ghost)} which is not found in the input node list"
        return _failed("filter", f"extender {_quoted(entry.url_prefix)} {claim}", tuple(found))
    return Effect(
        "filter",
        feasible=kept,
        rejected={name: text for name, text in failed.items() if name not in stays and name not in hopeless},
        unresolvable={name: text for name, text in hopeless.items() if name not in stays},
        dropped=dropped,
        notices=tuple(found),
    )


def _mode(entry: Entry, names: Any, nodes: Any, dropped: Sequence[str]) -> list[Notice]:
    """Say when a list came that kube-scheduler does not look at, or none at all."""
    if entry.node_cache_capable and names is None and nodes is not None:
        return [*notices.dropped(dropped), notices.unexpected_mode()]
    if nodes is None and names is not None and not entry.node_cache_capable:
        return [notices.reply_ignored(names)]
    if nodes is None and names is None:
        return [notices.nothing_kept(dropped)] if dropped else []
    return notices.dropped(dropped)


def _prioritize(entry: Entry, request: Any, body: bytes, cut: str | None) -> Effect:
    reply = shapes.unmarshal(shapes.PRIORITY_LIST, body, cut) or []
    pairs = [(one.fields["Host"], one.fields["Score"]) for one in reply if one]
    scores: Counter[str] = Counter()
    for host, score in pairs:
        scores[host] += score
    unknown = {key: value for one in reply if one for key, value in one.unknown.items()}
    found = [
        *notices.unknown_keys("prioritize", unknown, ("Host", "Score")),
        *notices.scores(pairs, sent_nodes(request), entry.weight),
    ]
    return Effect("prioritize", scores=dict(scores), notices=tuple(found))


def _preempt(entry: Entry, request: Any, body: bytes, cut: str | None) -> Effect:
    reply = shapes.unmarshal(shapes.PREEMPTION_RESULT, body, cut)
    found = list(notices.unknown_keys("preempt", reply.unknown, shapes.PREEMPTION_RESULT.fields))
    given = reply.fields["NodeNameToMetaVictims"] or {}
    pods = {node: None if one is None else one.fields["Pods"] or [] for node, one in given.items()}
    nulls = sorted(node for node, some in pods.items() if some is None or None in some)
    if nulls:
        return _failed("preempt", PANIC, (*found, notices.null_victims(nulls)))
    victims = {node: tuple(pod.fields["UID"] for pod in some or ()) for node, some in pods.items()}
    found += notices.foreign_victims(victims, sent_victims(request))
    empty = sorted(node for node, uids in victims.items() if not uids)
    if empty:
        found.append(notices.empty_victims(empty, ignorable=entry.ignorable))
        if not entry.ignorable:
            return _failed("preempt", f"expected at least one victim pod on node {_quoted(empty[0])}", tuple(found))
    return Effect("preempt", victims={node: uids for node, uids in victims.items() if uids}, notices=tuple(found))


def _bind(entry: Entry, request: Any, body: bytes, cut: str | None) -> Effect:
    reply = shapes.unmarshal(shapes.BINDING_RESULT, body, cut)
    found = list(notices.unknown_keys("bind", reply.unknown, shapes.BINDING_RESULT.fields))
    error = reply.fields["Error"]
    if error:
        return _failed("bind", error, (*found, *notices.texts({"Error": error})))
    return Effect("bind", notices=tuple(found))


_JUDGES = {"filter": _filter, "prioritize": _prioritize, "preempt": _preempt, "bind": _bind}


def _failed(kind: str, error: str, found: tuple[Notice, ...]) -> Effect:
    return Effect(kind, error=error, silent=kind == SILENT, notices=found)


def _refused(kind: str, entry: Entry, status: int) -> str:
    return f"failed {entry.verb(kind)} with extender at URL {entry.url(kind)}, code {status}"


def _unanswered(kind: str, entry: Entry, ending: str) -> str:
    place = urlsplit(entry.url_prefix).netloc
    why = {
        "unreachable": f"dial tcp {place}: connect: connection refused",
        "aborted": _SLOW_HEADERS,
    }.get(ending, "EOF")
    return f'Post "{entry.url(kind)}": {why}'


def _name(node: Any) -> str:
    return str(((node or {}).get("metadata") or {}).get("name") or "")


def _quoted(text: str) -> str:
    """Return a string as Go's %q writes it, as far as names and addresses go."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
