"""What is sent under load: bodies as kube-scheduler sends them, recorded or made up, ready as bytes."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from harness.errors import InputError
from harness.extender import requests
from harness.extender.cassette.file import CassetteCall, read
from harness.extender.entry import VERBS, Entry
from harness.extender.subject.post import HEADERS
from harness.load.order import Request

WIRES = ("names", "objects")
NODE_KIB = 4.0
"""How large a made-up node is as JSON: between a fresh one and one with many images."""
BODY_BYTES_MAX = 64 * 1024 * 1024
PODS_MAX = 64
PODS_MIN = 2
# Larger bodies get fewer pods, so that all of them together fit into memory several times.
CORPUS_BYTES_MAX = 96 * 1024 * 1024
CALLS_MAX = 20_000
VICTIMS = 2


@dataclass(frozen=True)
class Body:
    """One body: which verb it is for, and the number of its pod."""

    verb: str
    pod: int
    data: bytes


@dataclass(frozen=True)
class Corpus:
    """The bodies of a measurement, pod by pod in the order of kube-scheduler.

    `nodes` is how many nodes they name, `node_kib` how large each is; None where that was not asked for.
    """

    bodies: tuple[Body, ...]
    nodes: int
    wire: str
    source: str
    notes: tuple[str, ...] = ()
    node_kib: float | None = None

    @property
    def digest(self) -> str:
        """Return what tells two corpora apart."""
        whole = hashlib.sha256()
        for body in self.bodies:
            whole.update(f"{body.verb} {body.pod} {len(body.data)}\n".encode())
            whole.update(body.data)
        return whole.hexdigest()[:16]

    @property
    def verbs(self) -> tuple[str, ...]:
        """Return the verbs that it has bodies for."""
        there = {body.verb for body in self.bodies}
        return tuple(verb for verb in VERBS if verb in there)

    @property
    def bytes_mean(self) -> float:
        """Return how large a body is on average."""
        return sum(len(body.data) for body in self.bodies) / len(self.bodies)

    def prepared(self, entry: Entry) -> tuple[Request, ...]:
        """Return whole requests for an extender: with the paths, headers and order of kube-scheduler."""
        heads = {verb: _head(entry.url(verb)) for verb in self.verbs}
        return tuple(
            Request(body.verb, body.pod, heads[body.verb] % len(body.data) + body.data) for body in self.bodies
        )


def made_up(nodes: int, wire: str, verbs: Sequence[str], *, node_kib: float = NODE_KIB) -> Corpus:
    """Return bodies for so many nodes, each pod with its own name, labels and requests.

    Raises:
        InputError: a body would be larger than anything that kube-scheduler sends.
    """
    if nodes < 1:
        raise InputError(f"--nodes {nodes}: at least 1 expected")
    if wire == "objects" and nodes * max(node_kib, 1.3) * requests.KIB > BODY_BYTES_MAX:
        most = int(BODY_BYTES_MAX / requests.KIB / max(node_kib, 1.3))
        raise InputError(
            f"--nodes {nodes}: {nodes} nodes of {node_kib:g} KiB make a body above {BODY_BYTES_MAX >> 20} MiB; "
            f"at most {most} nodes of that size"
        )
    listed = requests.nodes(nodes, kib_each=node_kib if wire == "objects" else 0)
    told = f"{nodes} nodes" + (f" of {node_kib:g} KiB" if wire == "objects" else "")
    return replace(_corpus(listed, wire, verbs, told), node_kib=node_kib if wire == "objects" else None)


def about(nodes: Sequence[Mapping[str, Any]], wire: str, verbs: Sequence[str], source: str) -> Corpus:
    """Return bodies about nodes of a cluster, as its API server gives them.

    Raises:
        InputError: there are none, or they are more than kube-scheduler could send.
    """
    if not nodes:
        raise InputError(f"{source}: it has no nodes; add some first")
    if wire == "objects" and sum(len(requests.encoded(node)) for node in nodes) > BODY_BYTES_MAX:
        raise InputError(f"{source}: its {len(nodes)} nodes make a body above {BODY_BYTES_MAX >> 20} MiB")
    return _corpus(nodes, wire, verbs, f"{len(nodes)} nodes of {source}")


def _corpus(listed: Sequence[Mapping[str, Any]], wire: str, verbs: Sequence[str], told: str) -> Corpus:
    first = [_body(verb, 0, listed, wire) for verb in verbs]
    size = sum(len(body.data) for body in first)
    pods = max(PODS_MIN, min(PODS_MAX, CORPUS_BYTES_MAX // size))
    bodies = [*first, *(_body(verb, pod, listed, wire) for pod in range(1, pods) for verb in verbs)]
    return Corpus(tuple(bodies), len(listed), wire, f"{pods} made-up pods, {told}")


def _pod(number: int) -> dict[str, Any]:
    return requests.pod(
        f"web-{number:04d}",
        labels={"app": f"web-{number % 7}", "tier": "front"},
        requests={"cpu": f"{100 + 10 * (number % 20)}m", "memory": f"{64 * (1 + number % 8)}Mi"},
    )


def _body(verb: str, number: int, nodes: Sequence[Mapping[str, Any]], wire: str) -> Body:
    pod = _pod(number)
    names_only = wire == "names"
    arguments: dict[str, Any]
    match verb:
        case "bind":
            arguments = requests.binding_args(pod, nodes[number % len(nodes)]["metadata"]["name"])
        case "preempt":
            victims = {
                node["metadata"]["name"]: [
                    requests.pod(f"victim-{place}-{number}", node=node["metadata"]["name"]) for place in range(VICTIMS)
                ]
                for node in nodes
            }
            arguments = requests.preemption_args(pod, victims, meta=names_only)
        case _:
            arguments = requests.extender_args(pod, nodes, names_only)
    return Body(verb, number, requests.encoded(arguments))


def recorded(path: Path, verbs: Sequence[str], extender: str | None = None) -> Corpus:
    """Return the bodies of a cassette, in the order of the calls; a pod's calls stay together.

    Raises:
        InputError: the cassette cannot be read, or has nothing to send.
    """
    cassette = read(path)
    left: Counter[str] = Counter()
    numbers: dict[str, int] = {}
    pods: dict[int, list[Body]] = {}
    sizes: Counter[int] = Counter()
    wires: Counter[str] = Counter()
    for call in _within(cassette.calls, left):
        if why := _left_out(call, verbs, extender):
            left[why] += 1
            continue
        key = call.uid or call.pod or str(call.seq)
        number = numbers.setdefault(key, len(numbers))
        pods.setdefault(number, []).append(Body(str(call.kind), number, requests.encoded(call.request)))
        if counted := _nodes_of(call.request):
            sizes[counted[0]] += 1
            wires[counted[1]] += 1
    bodies = [body for calls in pods.values() for body in calls]
    if not bodies:
        reasons = ", ".join(f"{count} {why}" for why, count in left.items()) or "it holds no call"
        raise InputError(f"{path}: nothing in it can be sent for {', '.join(verbs)} ({reasons}); record another run")
    notes = tuple(f"{count} recorded calls left out: {why}" for why, count in left.items()) + tuple(cassette.warnings)
    nodes = sizes.most_common(1)[0][0] if sizes else 0
    if len(sizes) > 1:
        notes += (f"recorded requests name {min(sizes)} to {max(sizes)} nodes; most of them {nodes}",)
    wire = wires.most_common(1)[0][0] if wires else "names"
    return Corpus(tuple(bodies), nodes, wire, f"cassette {path.name}, {len(bodies)} requests", notes)


def _within(calls: Iterator[CassetteCall], left: Counter[str]) -> Iterator[CassetteCall]:
    for number, call in enumerate(calls):
        if number >= CALLS_MAX:
            left[f"above {CALLS_MAX} calls"] += 1
        else:
            yield call


def _left_out(call: CassetteCall, verbs: Sequence[str], extender: str | None) -> str | None:
    if extender is not None and call.extender != extender:
        return "of another extender"
    if call.fault is not None:
        return "made under a fault"
    if call.kind not in verbs:
        return "of other verbs"
    return "without a recorded body" if call.request is None or call.omitted is not None else None


def _nodes_of(request: Any) -> tuple[int, str] | None:
    if not isinstance(request, dict):
        return None
    if isinstance(names := request.get("NodeNames"), list):
        return len(names), "names"
    nodes = request.get("Nodes")
    items = nodes.get("items") if isinstance(nodes, dict) else None
    return (len(items), "objects") if isinstance(items, list) else None


def _head(url: str) -> bytes:
    """Return the head of a request as Go writes it, with a place for the length."""
    parts = urlsplit(url)
    path = (parts.path or "/").replace("%", "%%")
    lines = [f"POST {path} HTTP/1.1", f"Host: {parts.netloc}", f"User-Agent: {HEADERS['User-Agent']}"]
    lines += ["Content-Length: %d"]
    lines += [f"{name}: {value}" for name, value in HEADERS.items() if name != "User-Agent"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
