"""What judging hands on: verdicts that say what was demanded, what was seen, and on which evidence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Status = Literal["held", "rejected", "not-judged"]

WATCH_SKEW_SECONDS = 1.0
"""Nodes and pods arrive over separate watches: their order is certain only beyond this distance."""

NAMES_SHOWN_MAX = 5
_SENTENCE_EVIDENCE_MAX = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a record meets one expectation.

    `title` says what was looked at, `expected` and `seen` are short enough to stand in a table, `detail` spells `seen`
    out, `evidence` has one fact per line. `index` is the place among the scenario's expectations, None for invariants.
    `note` says why a verdict is missing or weaker than it looks.
    """

    kind: str
    title: str
    status: Status
    expected: str
    seen: str
    detail: str = ""
    evidence: tuple[str, ...] = ()
    index: int | None = None
    note: str | None = None

    @property
    def ok(self) -> bool:
        """False only when the record contradicts the expectation; what could not be judged is no contradiction."""
        return self.status != "rejected"

    def sentence(self) -> str:
        """Say it in one line: `spread over zone: maxSkew 1 expected, 4 seen (a 6, b 2). 10 of 10 pods bound`."""
        detail = f" ({self.detail})" if self.detail else ""
        parts = [f"{self.title}: {self.expected} expected, {self.seen} seen{detail}"]
        shown = self.evidence[:_SENTENCE_EVIDENCE_MAX]
        if shown:
            parts.append("; ".join(shown))
        if self.note:
            parts.append(self.note)
        return ". ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as JSON values, with `ok` beside `status`."""
        return {**asdict(self), "evidence": list(self.evidence), "ok": self.ok}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Verdict":
        """Return the verdict that `to_json` wrote."""
        fields = {key: part for key, part in value.items() if key != "ok"}
        return cls(**{**fields, "evidence": tuple(fields.get("evidence", ()))})


def status_of(held: bool) -> Status:
    """Return the status of something that could be judged."""
    return "held" if held else "rejected"


def listed(names: Iterable[str], limit: int = NAMES_SHOWN_MAX) -> str:
    """Join names for a sentence, at most `limit` of them: `a, b and 3 more`."""
    every = list(names)
    rest = len(every) - limit
    return ", ".join(every[:limit]) + (f" and {rest} more" if rest > 0 else "")


def counted(number: int, noun: str) -> str:
    """Return `1 pod`, `2 pods`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def limited(lines: Sequence[str], limit: int = NAMES_SHOWN_MAX) -> tuple[str, ...]:
    """Keep evidence readable: at most `limit` lines and one that says how many were left out."""
    rest = len(lines) - limit
    return (*lines[:limit], f"and {rest} more like these") if rest > 0 else tuple(lines)


def at(t: float) -> str:
    """Return a time of the run as people read it: `1.84 s`."""
    return f"{t:.2f} s"
