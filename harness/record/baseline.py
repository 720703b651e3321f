"""A baseline as it is kept: what an extender costs in units of a yardstick, and under which inputs that holds. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from harness.errors import InputError

KIND = "baseline"
CHECK_FILE = "baseline.json"
FORMAT = 2
VERDICTS = ("REGRESSION", "INCONCLUSIVE", "PASS")


@dataclass(frozen=True)
class BaselineMetric:
    """What one metric costs, as a ratio to the yardstick; `blocks` are the logarithms it is made of, start by start."""

    ratio: float
    low: float
    high: float
    blocks: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class BaselineCell:
    """One kind of call with one sort of bodies."""

    verb: str
    nodes: int
    wire: str
    source: str
    body_digest: str
    metrics: Mapping[str, BaselineMetric]

    @property
    def title(self) -> str:
        """Return its name for people."""
        return f"{self.verb}, {self.nodes} {self.wire}"


@dataclass(frozen=True)
class BaselineSubject:
    """What was measured of one subject, `inputs` being what must be the same to compare with it."""

    subject: str
    inputs: Mapping[str, Any]
    cells: tuple[BaselineCell, ...]


@dataclass(frozen=True)
class Baseline:
    """A whole file; `facts` say where it comes from and decide nothing."""

    subjects: tuple[BaselineSubject, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the file's content."""
        return {"format": FORMAT, "kind": KIND, **self.facts, "subjects": [asdict(one) for one in self.subjects]}


@dataclass(frozen=True)
class CheckedRow:
    """One comparison with a baseline; `now` and `then` are ratios to the yardstick with their intervals.

    What is not known, because too little was answered, is None.
    """

    title: str
    metric: str
    then: tuple[float, float, float]
    now: tuple[float | None, float | None, float | None]
    change: tuple[float | None, float | None, float | None]
    verdict: str
    p_values: tuple[float, ...]
    mde: float | None
    pairs: int
    failure: str | None = None
    samples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Checked:
    """Everything that a check found."""

    subject: str
    file: str
    yardstick: str
    tolerance: float
    rows: tuple[CheckedRow, ...]
    notes: tuple[str, ...] = ()
    path: Path | None = None

    @property
    def verdict(self) -> str:
        """Return the worst verdict."""
        return next((one for one in VERDICTS if any(row.verdict == one for row in self.rows)), VERDICTS[1])

    @property
    def ok(self) -> bool:
        """Tell whether nothing speaks against the subject."""
        return self.verdict != VERDICTS[0] and not any(row.failure for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        """Return everything as a program reads it."""
        record = str(self.path) if self.path else None
        return {"verdict": self.verdict, "ok": self.ok, **asdict(self), "path": None, "record": record}


def write(baseline: Baseline, path: Path) -> None:
    """Write the file.

    Raises:
        InputError: it cannot be written.
    """
    data = orjson.dumps(baseline.to_json(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    try:
        path.write_bytes(data)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None


def read(path: Path) -> Baseline:
    """Read a file.

    Raises:
        InputError: there is none, it is no baseline, or of a newer format.
    """
    try:
        value = orjson.loads(path.read_bytes())
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror or error}; make one with harness baseline save"
        ) from None
    except ValueError as error:
        raise InputError(f"{path}: no JSON ({error}); make it again with harness baseline save") from None
    if not isinstance(value, dict) or value.get("kind") != KIND:
        raise InputError(f"{path}: this is no baseline; make one with harness baseline save")
    if value.get("format") != FORMAT:
        raise InputError(f"{path}: format {value.get('format')} seen, {FORMAT} expected; make it again")
    try:
        subjects = tuple(map(_subject, value["subjects"]))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: damaged ({error!r}); make it again with harness baseline save") from None
    facts = {key: one for key, one in value.items() if key not in ("format", "kind", "subjects")}
    return Baseline(subjects, facts)


def _subject(value: Mapping[str, Any]) -> BaselineSubject:
    return BaselineSubject(str(value["subject"]), dict(value["inputs"]), tuple(map(_cell, value["cells"])))


def _cell(value: Mapping[str, Any]) -> BaselineCell:
    metrics = {
        name: BaselineMetric(one["ratio"], one["low"], one["high"], _blocks(one["blocks"]))
        for name, one in value["metrics"].items()
    }
    return BaselineCell(**{**value, "metrics": metrics})


def _blocks(value: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(float, start)) for start in value)
