"""Compares what kube-scheduler makes of two replies to the same request; pure.

Only decisions count: which nodes stay, why others do not, scores, victims, errors. The order of nodes does not.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from harness.extender.reply.effect import Effect

KEPT = "kept"


@dataclass(frozen=True)
class Difference:
    """One decision that is not the same any more.

    `what` is verdict, reason, score, victims or error; `node` is None for an error, which concerns the whole call.
    `rounds` counts in how many rounds it was seen. `said` is what the subject wrote beside a status that is an error.
    """

    extender: str
    seq: int
    kind: str
    pod: str | None
    attempt: int | None
    node: str | None
    what: str
    before: Any
    after: Any
    rounds: int = 1
    said: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)

    def text(self) -> str:
        """Return it as a line for people."""
        place = f", node {self.node}" if self.node else ""
        said = f" ({self.said})" if self.said else ""
        return f"{self.pod or 'no pod'}: {self.kind} {self.seq}{place}: {self.what} {_said(self)}{said}"


Change = tuple[str | None, str, Any, Any]
"""Node or None, what changed, before, after."""


def changes(before: Effect, after: Effect) -> Iterator[Change]:
    """Yield what differs between two effects of the same request."""
    if before.error is not None or after.error is not None:
        # Where there is an error there are no decisions to compare.
        if before.error != after.error:
            yield None, "error", before.error, after.error
        return
    yield from _verdicts(before, after)
    yield from _changed("score", before.scores, after.scores)
    # Their order counts: kube-scheduler takes the first for the one of the highest priority.
    yield from _changed("victims", before.victims, after.victims)


def _verdicts(before: Effect, after: Effect) -> Iterator[Change]:
    was, now = _states(before), _states(after)
    for node in sorted({*was, *now}):
        verdict, reason = was.get(node, (None, None))
        new_verdict, new_reason = now.get(node, (None, None))
        if verdict != new_verdict:
            yield node, "verdict", _worded(verdict, reason), _worded(new_verdict, new_reason)
        elif reason != new_reason:
            yield node, "reason", reason, new_reason


def _states(effect: Effect) -> dict[str, tuple[str, str | None]]:
    """Return what became of each node that a reply is about, with the text of a refusal."""
    states: dict[str, tuple[str, str | None]] = dict.fromkeys(effect.dropped, ("dropped", None))
    states |= {node: ("rejected", text) for node, text in effect.rejected.items()}
    states |= {node: ("unresolvable", text) for node, text in effect.unresolvable.items()}
    return states | dict.fromkeys(effect.feasible, (KEPT, None))


def _changed(what: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    for node in sorted({*before, *after}):
        if before.get(node) != after.get(node):
            yield node, what, before.get(node), after.get(node)


def _worded(verdict: str | None, reason: str | None) -> str | None:
    return f"{verdict} ({reason})" if reason else verdict


def _said(difference: Difference) -> str:
    before, after = ("none" if one is None else str(one) for one in (difference.before, difference.after))
    if difference.what == "error" and difference.before is None:
        return f"appeared: {after}"
    if difference.what == "error" and difference.after is None:
        return f"vanished: {before}"
    return f"{before} → {after}"
