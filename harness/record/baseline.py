"""A baseline as it is kept: what an extender costs in units of a yardstick, and under which inputs that holds. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from harness.errors import InputError

KIND = "baseline"
FORMAT = 2


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


def is_saved(path: Path) -> bool:
    """Tell whether a file is a baseline that was saved, and no check against one: both may have the same name."""
    try:
        value = orjson.loads(path.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(value, dict) and value.get("kind") == KIND
