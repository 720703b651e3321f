"""What a record knows about extenders: which were installed, and every call that the tap saw."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from harness.record.shape import checked

EXTENDERS = "extenders.json"
CASSETTE = "cassette.jsonl.zst"
SPOOL = "tap"
"""What taps write into while a run goes on; only a run that was killed leaves it."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something wrong with a reply that kube-scheduler does not tell; `code` is stable, `text` is for people."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """One request of kube-scheduler to an extender, as the tap saw it; times are seconds since the run's start.

    `kind` is filter, prioritize, preempt or bind, `verb` how the configuration spells it; both are None for a path that
    is not configured. `attempt` counts the scheduling attempts of the pod. `end_t` is None while nobody ended the call.
    `ending` says how it ended: `answered`, `aborted` by the scheduler, `cut` by the extender, `unreachable` extender,
    or `open` at the end of the run. `error` is what kube-scheduler makes of the reply, None if it accepts it.
    `reasons` counts the nodes per text of refusal.
    """

    extender: str
    seq: int
    t: float
    kind: str | None
    path: str
    ending: str
    connection: int = 0
    status: int | None = None
    sent_t: float | None = None
    first_byte_t: float | None = None
    end_t: float | None = None
    request_bytes: int = 0
    response_bytes: int = 0
    pod: str | None = None
    uid: str | None = None
    attempt: int | None = None
    nodes_in: int | None = None
    nodes_out: int | None = None
    fault: str | None = None
    error: str | None = None
    reasons: Mapping[str, int] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()

    @property
    def seconds(self) -> float | None:
        """How long the scheduler waited, None if the call never ended."""
        return None if self.end_t is None else self.end_t - self.t

    def to_json(self) -> dict[str, Any]:
        """Return the call as a line of the record."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Extender:
    """One extender of a run: what the user brought, and the configuration entry it stood in (without the tap)."""

    name: str
    subject: str
    entry: Mapping[str, Any]
    url: str
    tapped: bool = True
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as the record keeps it."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Extender":
        """Return the extender that `to_json` wrote."""
        return cls(**{**value, "notes": tuple(value.get("notes", ()))})


def calls(lines: Iterable[Mapping[str, Any]]) -> tuple[Call, ...]:
    """Build the calls of a record, in the order of their arrival."""
    built = [
        Call(**{**line, "notices": tuple(checked(Notice(**notice)) for notice in line.get("notices", ()))})
        for line in lines
    ]
    return tuple(sorted(built, key=lambda call: (call.t, call.seq)))
