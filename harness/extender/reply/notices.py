"""The words for what is wrong with a reply while kube-scheduler says nothing, or says it where nobody looks.

Every text names what was seen and says what kube-scheduler does about it. Codes never change; texts may.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.extender.reply.shapes import fold
from harness.record.call import Notice

SCORE_MAX = 10
SHOWN_MAX = 5
_AS_GET = (301, 302, 303)
_TEXT_CHARACTERS_MAX = 60

_CONSEQUENCES = {
    "filter": "kube-scheduler fails the whole attempt and tries the pod again later",
    "prioritize": "kube-scheduler ignores it silently and schedules without these scores",
    "preempt": "kube-scheduler gives up preemption in this attempt",
    "bind": "kube-scheduler gives up this attempt and starts over with filter",
}


def not_found(kind: str, url: str, status: int) -> Notice:
    """Nothing answers where the configuration sends this kind of call."""
    return Notice("not-found", f"{status} for {kind}: {url} leads nowhere; {_CONSEQUENCES[kind]}")


def bad_status(kind: str, url: str, status: int) -> Notice:
    """Only 200 is success."""
    return Notice(
        "bad-status",
        f"{kind} answered with status {status}, 200 expected; {_CONSEQUENCES[kind]}, and never reads the body",
    )


def bad_reply(kind: str, error: str) -> Notice:
    """The body cannot be decoded."""
    return Notice("bad-reply", f"the reply to {kind} cannot be read ({error}); {_CONSEQUENCES[kind]}")


def redirect(kind: str, status: int, location: str | None) -> Notice:
    """The server sends the scheduler elsewhere."""
    if location is None:
        does = _CONSEQUENCES[kind]
    elif status in _AS_GET:
        does = "kube-scheduler asks there again with GET and without the request's body"
    else:
        does = "kube-scheduler sends the whole request again"
    return Notice("redirect", f"{kind} answered with redirect {status} to {location or 'nowhere'}; {does}")


def unknown_keys(kind: str, unknown: Mapping[str, Any], known: Iterable[str]) -> Iterator[Notice]:
    """Yield a notice per key that Go ignores."""
    names = list(known)
    for key, value in unknown.items():
        meant = next((name for name in names if _bare(name) == _bare(key)), None)
        inside = [name for name in names if _has_key(value, name)]
        hint = ""
        if meant:
            hint = f', "{meant}" expected'
        elif inside:
            hint = f", although it holds {_listed(inside)}, which belong at the top"
        elif kind == "preempt" and fold(key) == fold("NodeNameToVictims"):
            hint = ', "NodeNameToMetaVictims" expected in every reply'
        yield Notice("unknown-key", f'key "{_cut(key)}" of the reply to {kind}{hint}; kube-scheduler ignores it')


def kept_nodes(
    kept: Sequence[str], sent: Mapping[str, Any] | None, refused: Mapping[str, str], *, by_name: bool
) -> list[Notice]:
    """Return what is odd about the nodes that a reply keeps or refuses."""
    found = []
    if twice := [name for name, count in Counter(kept).items() if count > 1]:
        found.append(Notice("duplicate-node", f"{_listed(twice)} kept more than once; kube-scheduler counts it twice"))
    if both := [name for name in dict.fromkeys(kept) if name in refused]:
        text = f"{_listed(both)} kept and refused in the same reply; kube-scheduler keeps it"
        found.append(Notice("kept-and-failed", text))
    if sent is None:
        return found
    if ghosts := [name for name in dict.fromkeys(kept) if name not in sent]:
        does = (
            _CONSEQUENCES["filter"]
            if by_name
            else "kube-scheduler does not check it and may bind the pod to such a node"
        )
        found.append(Notice("ghost-node", f"{_listed(ghosts)} kept, but not in the request; {does}"))
    if foreign := [name for name in refused if name not in sent]:
        text = (
            f"{_listed(foreign)} refused, but not in the request; kube-scheduler overwrites what it knew of that node"
        )
        found.append(Notice("foreign-node-failed", text))
    return found


def dropped(names: Sequence[str]) -> list[Notice]:
    """Return a notice if nodes are neither kept nor refused."""
    if not names:
        return []
    does = "kube-scheduler rejects it, shows no reason, and never preempts there"
    return [Notice("dropped-without-reason", f"{_listed(names)} neither kept nor refused; {does}")]


def nothing_kept(names: Sequence[str]) -> Notice:
    """Neither list of nodes is there."""
    does = f"kube-scheduler rejects every node, without a reason for {_listed(names)}"
    return Notice("nothing-kept-without-reason", f"neither Nodes nor NodeNames in the reply; {does}")


def reply_ignored(names: Sequence[str]) -> Notice:
    """Names came where only whole nodes count."""
    does = "kube-scheduler looks only at Nodes, finds none, and rejects every node"
    return Notice("reply-ignored", f"NodeNames ({_listed(names)}) in the reply while nodeCacheCapable is false; {does}")


def unexpected_mode() -> Notice:
    """Whole nodes came where names were asked for."""
    does = "kube-scheduler takes them unchecked, and scores resources as if these nodes were empty"
    return Notice("unexpected-mode", f"Nodes instead of NodeNames in the reply while nodeCacheCapable is true; {does}")


def changed_nodes(sent: Mapping[str, Any], returned: Mapping[str, Any]) -> list[Notice]:
    """Return a notice if a Node came back other than it was sent."""
    changes = {name: _changes(sent[name], node) for name, node in returned.items() if sent.get(name)}
    names = [name for name, paths in changes.items() if paths]
    if not names:
        return []
    what = _listed(dict.fromkeys(path for name in names for path in changes[name]))
    does = "kube-scheduler goes on with the changed Node"
    return [Notice("changed-node", f"{_listed(names)} came back with another {what} than sent; {does}")]


def texts(refused: Mapping[str, str]) -> list[Notice]:
    """Return what is odd about the texts of refusals, or of an error."""
    found = []
    if empty := [name for name, text in refused.items() if not text]:
        text = f"no text for the refusal of {_listed(empty)}; kube-scheduler shows only a count and a dot"
        found.append(Notice("empty-text", text))
    if percent := next((text for text in refused.values() if "%" in text), None):
        does = "kube-scheduler takes it for a format in events, which then show %!(NOVERB) and the like"
        found.append(Notice("percent-in-text", f'"%" in the text "{_cut(percent)}"; {does}'))
    return found


def scores(pairs: Sequence[tuple[str, int]], sent: Mapping[str, Any] | None, weight: int) -> list[Notice]:
    """Return what is odd about the scores of a reply."""
    found = []
    if out := [f"{host} {score}" for host, score in pairs if not 0 <= score <= SCORE_MAX]:
        does = f"kube-scheduler does not clamp it and adds {10 * max(weight, 1)} times the score"
        found.append(Notice("score-out-of-range", f"{_listed(out)}: outside 0 to {SCORE_MAX}; {does}"))
    counts = Counter(host for host, _ in pairs)
    if twice := [host for host, count in counts.items() if count > 1]:
        found.append(Notice("score-duplicate", f"{_listed(twice)} scored more than once; kube-scheduler adds them up"))
    if sent is None:
        return found
    if unknown := [host for host in counts if host not in sent]:
        text = f"{_listed(unknown)} scored, but not in the request; kube-scheduler ignores it"
        found.append(Notice("score-unknown-node", text))
    if missing := [name for name in sent if name not in counts]:
        text = f"no score for {_listed(missing)}; kube-scheduler takes 0"
        found.append(Notice("score-missing-node", text))
    return found


def null_victims(nodes: Sequence[str]) -> Notice:
    """A reply that ends kube-scheduler."""
    text = f"null among the victims of {_listed(nodes)}; kube-scheduler dereferences it and crashes"
    return Notice("null-victims", text)


def empty_victims(nodes: Sequence[str], *, ignorable: bool) -> Notice:
    """A node is proposed without anybody to evict."""
    does = "kube-scheduler drops the node" if ignorable else _CONSEQUENCES["preempt"]
    return Notice("empty-victims", f"no victim on {_listed(nodes)}; {does}")


def foreign_victims(victims: Mapping[str, Sequence[str]], proposed: Mapping[str, Sequence[str]] | None) -> list[Notice]:
    """Return a notice if a reply evicts what was not proposed."""
    if proposed is None:
        return []
    foreign = [f"node {node}" for node in victims if node not in proposed]
    foreign += [
        f"pod {uid} on {node}"
        for node, uids in victims.items()
        for uid in uids
        if node in proposed and uid not in proposed[node]
    ]
    if not foreign:
        return []
    does = "kube-scheduler evicts it whatever its priority, or fails preemption if there is no such pod"
    return [Notice("foreign-victims", f"{_listed(foreign)}: not proposed by the request; {does}")]


def _changes(sent: Any, returned: Any) -> list[str]:
    """Return the keys, two levels deep, by which two Nodes differ; what is empty counts as missing."""
    if sent == returned:
        return []
    found = []
    for key in dict.fromkeys([*sent, *returned]):
        one, other = _solid(sent.get(key)), _solid(returned.get(key))
        if one == other or key in {"kind", "apiVersion"}:
            continue
        if isinstance(one or {}, dict) and isinstance(other or {}, dict):
            one, other = one or {}, other or {}
            found += [f"{key}.{part}" for part in dict.fromkeys([*one, *other]) if one.get(part) != other.get(part)]
        else:
            found.append(key)
    return found


def _solid(value: Any) -> Any:
    """Return a value without what Go writes or leaves out as it likes: null, empty objects and lists."""
    if isinstance(value, dict):
        solid = {key: part for key, one in value.items() if (part := _solid(one)) is not None}
        return solid or None
    if isinstance(value, list):
        return [_solid(one) for one in value] or None
    return value


def _bare(key: str) -> str:
    return fold(key).replace("_", "").replace("-", "")


def _has_key(value: Any, name: str) -> bool:
    keys = value if isinstance(value, dict) else dict(value) if isinstance(value, list) and _pairs(value) else {}
    return any(fold(key) == fold(name) for key in keys)


def _pairs(value: list[Any]) -> bool:
    return all(isinstance(one, tuple) for one in value)


def _listed(names: Iterable[str]) -> str:
    known = [_cut(name) for name in names]
    more = f" and {len(known) - SHOWN_MAX} more" if len(known) > SHOWN_MAX else ""
    return (", ".join(known[:SHOWN_MAX]) or "nothing") + more


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT_CHARACTERS_MAX else text[: _TEXT_CHARACTERS_MAX - 1] + "…"
