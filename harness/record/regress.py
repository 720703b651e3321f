"""A comparison of two extenders as it is kept: frozen values, and how they are read back. Pure."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import RecordError
from harness.record.judged import META, VERDICTS, document, known
from harness.record.salvage import sound

FILE = "regress.json"
PAIRS = "pairs"


@dataclass(frozen=True)
class MetricResult:
    """One metric of one comparison.

    `verdict` is None where the metric is only shown. `ratio` is candidate over base, `low` and `high` its 95 %
    interval, `mde` the smallest slowdown that would have been found nine times of ten. What is not known is None.
    """

    metric: str
    verdict: str | None
    base_ms: float | None
    candidate_ms: float | None
    ratio: float | None
    low: float | None
    high: float | None
    p_values: tuple[float, ...]
    mde: float | None
    blocks: int


@dataclass(frozen=True)
class Comparison:
    """One kind of call with one sort of bodies.

    `failure` says what is wrong with the candidate's answers, which no speed makes good; None if nothing is. `samples`
    are the files of raw pairs, one per stage.
    """

    verb: str
    nodes: int
    wire: str
    body_bytes: int
    bodies: int
    body_digest: str
    pairs: int
    block_size: int
    base_errors: int
    candidate_errors: int
    error_kinds: Mapping[str, int]
    failure: str | None
    verdict: str
    metrics: tuple[MetricResult, ...]
    notes: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Tell whether nothing speaks against the candidate."""
        return self.verdict != "REGRESSION" and self.failure is None

    @property
    def title(self) -> str:
        """Return its name for people."""
        return f"{self.verb}, {self.nodes} {self.wire}"

    def metric(self, name: str) -> MetricResult | None:
        """Return one metric by name."""
        return next((one for one in self.metrics if one.metric == name), None)


@dataclass(frozen=True)
class Regression:
    """A whole comparison of two subjects: `options` is how it was made, `meta` has machine, versions and command."""

    base: str
    candidate: str
    options: Mapping[str, Any]
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...] = ()
    path: Path | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """Return the worst verdict; INCONCLUSIVE if nothing was compared."""
        return next((one for one in VERDICTS if any(each.verdict == one for each in self.comparisons)), VERDICTS[1])

    @property
    def failures(self) -> list[str]:
        """Return what is wrong with the candidate's answers."""
        return [f"{one.title}: {one.failure}" for one in self.comparisons if one.failure]

    @property
    def ok(self) -> bool:
        """Tell whether nothing speaks against the candidate; what is inconclusive does not."""
        return all(one.ok for one in self.comparisons)

    def to_json(self) -> dict[str, Any]:
        """Return everything as a program reads it."""
        return {
            "base": self.base,
            "candidate": self.candidate,
            "verdict": self.verdict,
            "ok": self.ok,
            "options": dict(self.options),
            "comparisons": [asdict(one) for one in self.comparisons],
            "notes": list(self.notes),
            "record": str(self.path) if self.path else None,
        }


def finite(value: float) -> float | None:
    """Return a number as JSON can hold it."""
    return value if math.isfinite(value) else None


def comparison_from_json(value: Mapping[str, Any]) -> Comparison:
    """Return the comparison that was written; keys of later versions are left out."""
    metrics = tuple(known(MetricResult, one) for one in value["metrics"])
    return known(Comparison, {**value, "metrics": metrics})


def read(folder: Path, problems: list[str] | None = None) -> Regression:
    """Read the comparison of a record.

    Args:
        folder: the record.
        problems: where to put what is damaged, a sentence each, instead of raising an error: what can be read is then
            returned.

    Raises:
        RecordError: there is none, or it is of a newer format.
    """
    path = folder / FILE
    try:
        value = document(path)
        comparisons = tuple(sound(value["comparisons"], comparison_from_json, FILE, problems))
        notes = tuple(value["notes"])
        meta = {key: one for key, one in value.items() if key in META}
        return Regression(value["base"], value["candidate"], value["options"], comparisons, notes, folder, meta)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecordError(f"{path}: no comparison can be read from it: {error}") from None
