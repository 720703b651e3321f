"""What a finding is, which codes there are, and what to do about each: the words of everything said of extenders."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from harness.expect.base import at, counted, limited, listed
from harness.record.call import Call

_EXAMPLES_MAX = 3

SEVERITIES: dict[str, str] = {
    "null-victims": "critical",
    "ghost-node": "critical",
    "foreign-victims": "critical",
    "bind-without-binding": "critical",
    "unknown-key": "critical",
    "extender-unreachable": "high",
    "never-called": "high",
    "timed-out": "high",
    "cut-off": "high",
    "not-found": "high",
    "bad-status": "high",
    "redirect": "high",
    "bad-reply": "high",
    "reply-ignored": "high",
    "nothing-kept-without-reason": "high",
    "error-reply": "high",
    "text-changes": "high",
    "empty-victims": "high",
    "ignorable-bind": "high",
    "blind-scoring": "medium",
    "unexpected-mode": "medium",
    "changed-node": "medium",
    "slow-reply": "medium",
    "prioritize-never-called": "medium",
    "dropped-without-reason": "medium",
    "kept-and-failed": "medium",
    "foreign-node-failed": "medium",
    "score-out-of-range": "medium",
    "score-duplicate": "medium",
    "score-missing-node": "medium",
    "score-unknown-node": "low",
    "duplicate-node": "low",
    "percent-in-text": "low",
    "empty-text": "low",
}
"""How bad each code is, the worst first; findings are shown in this order.

Critical is a scheduler that crashes or a pod that is bound wrongly or never, high is pods that stay pending, medium is
function or throughput that is lost without a word, low is what only makes the cause hard to see.
"""

MOVES: dict[str, str] = {
    "null-victims": "leave the node out instead of giving it null",
    "ghost-node": "answer only with nodes of the request",
    "foreign-victims": "answer only with nodes and pods of the request",
    "unknown-key": "spell the keys as in ExtenderFilterResult, at the top of the reply",
    "not-found": "make the verb of the entry and the route of the server the same",
    "bad-status": "answer with status 200 and put the trouble into Error",
    "redirect": "configure the address that is redirected to",
    "bad-reply": "answer with one JSON value of the right types",
    "reply-ignored": "make nodeCacheCapable and the reply agree: NodeNames if true, Nodes if false",
    "nothing-kept-without-reason": "answer with a list, and with a reason per refused node",
    "empty-victims": "leave the node out, or give it a victim",
    "unexpected-mode": "answer with NodeNames when the request has them",
    "kept-and-failed": "put every node into one list only",
    "changed-node": "return the Node objects as they came, or set nodeCacheCapable",
    "dropped-without-reason": "put every refused node into FailedNodes or FailedAndUnresolvableNodes",
    "foreign-node-failed": "give reasons only for nodes of the request",
    "score-out-of-range": "score from 0 to 10",
    "score-duplicate": "score every node once",
    "score-missing-node": "score every node of the request",
    "score-unknown-node": "score only nodes of the request",
    "duplicate-node": "list every node once",
    "percent-in-text": "leave % out of the texts",
    "empty-text": "give a reason in words",
}
"""What the author of an extender does next, for codes that single replies lead to."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong with an extender; `text` is one sentence with the likely cause and the next move.

    `count` says how many calls or pods show it, `evidence` has examples.
    """

    code: str
    text: str
    count: int
    extender: str
    evidence: tuple[str, ...] = ()

    @property
    def severity(self) -> str:
        """How bad it is: critical, high, medium or low."""
        return SEVERITIES.get(self.code, "medium")

    def to_json(self) -> dict[str, Any]:
        """Return the finding as JSON values, with its severity."""
        return {**asdict(self), "evidence": list(self.evidence), "severity": self.severity}


def order(finding: Finding) -> int:
    """Return the place of a finding among others: the worst first, codes that are not known last."""
    codes = list(SEVERITIES)
    return codes.index(finding.code) if finding.code in codes else len(codes)


def of_notices(extender: str, calls: Iterable[Call]) -> Iterator[Finding]:
    """Yield one finding per code that the replies of an extender lead to, however many calls show it."""
    shown: dict[str, list[tuple[Call, str]]] = {}
    for call in calls:
        for notice in call.notices:
            # What cannot be read because it never came whole is told by how the call ended.
            if notice.code == "bad-reply" and call.ending != "answered":
                continue
            shown.setdefault(notice.code, []).append((call, notice.text.strip().removesuffix(".")))
    for code, examples in shown.items():
        made = {call.seq: call for call, _ in examples}
        move = f"; {MOVES[code]}" if code in MOVES else ""
        often = f", and so in {about(made.values())}" if len(made) > 1 else ""
        text = f"extender {extender}: {examples[0][1]}{often}{move}"
        distinct = {said: call for call, said in reversed(examples)}
        lines = [f"{where(call)}: {said}" for said, call in reversed(distinct.items())]
        yield Finding(code, text, len(made), extender, limited(lines, _EXAMPLES_MAX))


def about(calls: Iterable[Call]) -> str:
    """Say how many calls there are and whom they are about: `3 calls about web-1, web-2`."""
    made = list(calls)
    names = dict.fromkeys(pod_name(call) for call in made if call.pod)
    return counted(len(made), "call") + (f" about {listed(names, _EXAMPLES_MAX)}" if names else "")


def where(call: Call) -> str:
    """Say which call is meant: `filter for web-1 at 0.51 s`."""
    whom = f" for {pod_name(call)}" if call.pod else ""
    return f"{call.kind or call.path}{whom} at {at(call.t)}"


def pod_name(call: Call) -> str:
    """Return the name of the call's pod as people say it: the namespace only if it is not `default`."""
    return (call.pod or "").removeprefix("default/")
