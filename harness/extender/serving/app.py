"""Between the wire and an author's extender: decodes kube-scheduler's requests, encodes what the extender decided."""

import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from harness.errors import HarnessError
from harness.extender.author import Binding, Filtered, Node, Pod, Refused, Victims

KINDS = ("filter", "prioritize", "preempt", "bind")
NOT_KEPT = "not kept by the extender"
"""Why a node is out that the author dropped without a reason; silently dropped, it would be out without a text."""

JSON, TEXT = "application/json", "text/plain; charset=utf-8"
_OK, _BAD_REQUEST, _NOT_FOUND, _NOT_ALLOWED, _BROKEN = 200, 400, 404, 405, 500
_HARNESS = Path(__file__).parents[2]
# Kinds whose reply has a place for an error's text; for the others the status is all that kube-scheduler looks at.
_TELLS_ERRORS = frozenset({"filter", "bind"})


class BadRequestError(Exception):
    """A body is not what kube-scheduler sends."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP reply."""

    status: int
    body: bytes
    content_type: str = TEXT
    allow: str = ""


class App:
    """One extender, ready to answer; safe to share between threads if the extender is.

    Args:
        extender: an object with some of the methods filter, prioritize, preempt, bind.
        routes: where a kind of call is served, if not at its own name, such as {"prioritize": "priority"}.
        log: takes one line per call; standard output unless told otherwise.
    """

    def __init__(
        self, extender: object, routes: Mapping[str, str] | None = None, log: Callable[[str], None] | None = None
    ) -> None:
        self._extender = extender
        self._log = log or _say
        found = [kind for kind in KINDS if callable(getattr(extender, kind, None))]
        self.routes = {"/" + (routes or {}).get(kind, kind): kind for kind in found}

    def answer(self, method: str, path: str, body: bytes) -> Reply:
        """Answer one request; never raises."""
        path = path.partition("?")[0]
        if path == "/healthz":
            return Reply(_OK, b"ok") if method in {"GET", "HEAD"} else Reply(_NOT_ALLOWED, b"use GET", allow="GET")
        kind = self.routes.get(path)
        if kind is None:
            known = ", ".join([*self.routes, "/healthz"])
            self._log(f"{method} {path}: not found")
            return Reply(_NOT_FOUND, f"{path}: not found; served here: {known}".encode())
        if method != "POST":
            return Reply(_NOT_ALLOWED, b"use POST", allow="POST")
        try:
            answered = getattr(self, f"_{kind}")(_decoded(body))
        except (orjson.JSONDecodeError, BadRequestError) as error:
            self._log(f"{kind}: bad request: {error}")
            return Reply(_BAD_REQUEST, f"{kind}: {error}".encode())
        except Exception as error:  # noqa: BLE001 - whatever an author's code raises is the scheduler's to know
            return self._failed(kind, error)
        return Reply(_OK, answered, JSON)

    def _failed(self, kind: str, error: Exception) -> Reply:
        deliberate = isinstance(error, Refused | HarnessError)
        text = (str(error) if deliberate else f"{type(error).__name__}: {error}{_place(error)}") or type(error).__name__
        if not deliberate:
            self._log("".join(traceback.format_exception(error)).rstrip())
        self._log(f"{kind}: {text}")
        if kind in _TELLS_ERRORS:
            return Reply(_OK, orjson.dumps({"Error": text}), JSON)
        return Reply(_BROKEN, text.encode())

    def _filter(self, arguments: dict[str, Any]) -> bytes:
        pod, nodes = _pod(arguments), _nodes(arguments)
        verdict: Any = self._extender.filter(pod, nodes)  # type: ignore[attr-defined]
        filtered = verdict if isinstance(verdict, Filtered) else Filtered(self._kept(verdict))
        known = {node.name: node for node in nodes}
        kept = list(dict.fromkeys(_name(one) for one in filtered.kept))
        if ghosts := [name for name in kept if name not in known]:
            raise Refused(f"filter kept {ghosts[0]!r}, which is none of the nodes that were asked about")
        rejected, unresolvable = _reasons(filtered.rejected), _reasons(filtered.unresolvable)
        explained = {*kept, *rejected, *unresolvable}
        unresolvable.update((name, NOT_KEPT) for name in known if name not in explained)
        self._log(filtered.note or f"filter {pod}: kept {len(kept)} of {len(nodes)}")
        by_name = arguments.get("NodeNames") is not None
        sent = arguments.get("Nodes") or {}
        return orjson.dumps(
            {
                "Nodes": None if by_name else {**sent, "items": [known[name].raw for name in kept]},
                "NodeNames": kept if by_name else None,
                "FailedNodes": rejected,
                "FailedAndUnresolvableNodes": unresolvable,
                "Error": "",
            }
        )

    def _prioritize(self, arguments: dict[str, Any]) -> bytes:
        pod, nodes = _pod(arguments), _nodes(arguments)
        scores: Any = self._extender.prioritize(pod, nodes)  # type: ignore[attr-defined]
        self._require(isinstance(scores, Mapping), "prioritize", scores, "a dict of node to score")
        for name, score in scores.items():
            if not isinstance(score, int) or isinstance(score, bool):
                raise Refused(f"prioritize gave {name} the score {score!r}; kube-scheduler takes whole numbers only")
        self._log(f"prioritize {pod}: {_best(scores)}")
        return orjson.dumps([{"Host": _name(name), "Score": score} for name, score in scores.items()])

    def _preempt(self, arguments: dict[str, Any]) -> bytes:
        pod, candidates = _pod(arguments), _candidates(arguments)
        chosen: Any = self._extender.preempt(pod, candidates)  # type: ignore[attr-defined]
        self._require(isinstance(chosen, Mapping), "preempt", chosen, "a dict of node to victims")
        reply = {}
        for name, victims in chosen.items():
            offered = candidates.get(name, Victims(()))
            violations = victims.violations if isinstance(victims, Victims) else offered.violations
            uids = [victim.uid if isinstance(victim, Pod) else victim for victim in victims]
            reply[name] = {"Pods": [{"UID": uid} for uid in uids], "NumPDBViolations": violations}
        self._log(f"preempt {pod}: {len(reply)} of {len(candidates)} nodes")
        # This key is the only one that kube-scheduler reads, whatever it sent.
        return orjson.dumps({"NodeNameToMetaVictims": reply})

    def _bind(self, arguments: dict[str, Any]) -> bytes:
        values = [arguments.get(key) for key in ("PodName", "PodNamespace", "PodUID", "Node")]
        if not all(isinstance(value, str) and value for value in values):
            raise BadRequestError("PodName, PodNamespace, PodUID and Node expected")
        binding = Binding(*map(str, values))
        self._extender.bind(binding)  # type: ignore[attr-defined]
        self._log(f"bind {binding}: {binding.node}")
        return b"{}"

    def _kept(self, verdict: Any) -> Iterable[str | Node]:
        listed = isinstance(verdict, Iterable) and not isinstance(verdict, str | Mapping)
        self._require(listed, "filter", verdict, "a list of nodes or names, or Filtered,")
        kept: Iterable[str | Node] = verdict
        return kept

    def _require(self, fits: bool, kind: str, returned: Any, expected: str) -> None:
        """Refuse what an author's function returned; nothing was raised in it, so that only we can name it."""
        if not fits:
            function = getattr(self._extender, kind)
            code: Any = getattr(getattr(function, "__func__", function), "__code__", None)
            theirs = code and _HARNESS not in Path(code.co_filename).parents
            place = f" ({Path(code.co_filename).name}:{code.co_firstlineno} in {code.co_name})" if theirs else ""
            raise Refused(f"{kind} returned {type(returned).__name__}{place}; {expected} is expected")


def _place(error: Exception) -> str:
    """Return where in the author's file an error arose, empty when it is none of theirs; the log has the whole way."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if _HARNESS not in Path(one.filename).parents]
    if not frames:
        return ""
    # The first frame is what was called; a library that it called in turn says nothing to the author.
    theirs = [one for one in reversed(frames) if one.filename == frames[0].filename]
    # Of a comprehension or lambda, whose name is in angle brackets, the function around it says more.
    name = next((one.name for one in theirs if not one.name.startswith("<")), theirs[0].name)
    return f" ({Path(theirs[0].filename).name}:{theirs[0].lineno} in {name})"


def _decoded(body: bytes) -> dict[str, Any]:
    arguments = orjson.loads(body)
    if not isinstance(arguments, dict):
        raise BadRequestError(f"{type(arguments).__name__} seen, an object expected")
    return arguments


def _pod(arguments: Mapping[str, Any]) -> Pod:
    raw = arguments.get("Pod")
    if not isinstance(raw, dict):
        raise BadRequestError("no Pod in it")
    return Pod(raw)


def _nodes(arguments: Mapping[str, Any]) -> list[Node]:
    names, sent = arguments.get("NodeNames"), arguments.get("Nodes")
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return [Node.named(name) for name in names]
    if isinstance(sent, dict) and isinstance(items := sent.get("items") or [], list):
        nodes = [Node(item) for item in items if isinstance(item, dict)]
        if len(nodes) == len(items) and all(node.name for node in nodes):
            return nodes
    raise BadRequestError("neither Nodes (a list of nodes) nor NodeNames (a list of names) in it")


def _candidates(arguments: Mapping[str, Any]) -> dict[str, Victims]:
    full, meta = arguments.get("NodeNameToVictims"), arguments.get("NodeNameToMetaVictims")
    sent = meta if meta is not None else full
    try:
        return {
            name: Victims(
                tuple(Pod({"metadata": {"uid": one["UID"]}}) if "UID" in one else Pod(one) for one in found["Pods"]),
                found.get("NumPDBViolations", 0),
            )
            for name, found in (sent or {}).items()
        }
    except (AttributeError, KeyError, TypeError) as error:
        raise BadRequestError(f"victims of each node expected: {error!r}") from error


def _reasons(given: Mapping[Any, Any]) -> dict[str, str]:
    # A reason that is no text would cost the whole reply: kube-scheduler could not decode it.
    return {_name(one): str(why) for one, why in given.items()}


def _name(one: str | Node) -> str:
    return one.name if isinstance(one, Node) else one


def _best(scores: Mapping[str, int]) -> str:
    if not scores:
        return "no score"
    best = max(scores, key=lambda name: scores[name])
    return f"best {best} with {scores[best]}"


_TALKING = threading.Lock()


def _say(line: str) -> None:
    # One line is one write: lines of calls at the same time must not mix, and are to be seen at once.
    with _TALKING:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
