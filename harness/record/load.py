"""The record of a load: `load.json` and a file of raw samples per measurement, read back offline, never changed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from harness.errors import RecordError
from harness.record.arrays import Arrays, read_arrays
from harness.record.salvage import sound

if TYPE_CHECKING:
    import pandas

FORMAT = 1
FILE = "load.json"
KIND = "load"
NEEDED = ("format", "kind", "id", "results")


@dataclass(frozen=True)
class LoadResult:
    """How one extender did under one load; times are milliseconds.

    Latencies (`p50_ms` and so on) count from when a request was to be sent, service times from when it was. In a closed
    load the two are the same. Requests of the warm-up are in no figure. Requests that failed at once (`error_kinds`
    tells how) are in no percentile either; those that kept the scheduler waiting are, with at least the time-out.

    Args:
        subject: the extender, as it was named.
        verb: filter, prioritize, preempt or bind.
        nodes: how many nodes a request names.
        wire: names or objects.
        node_kib: how large a made-up object is as JSON; None for names, and for nodes that were not made up.
        model: open or closed.
        rate: requests per second that were asked for; None in a closed load.
        requests: how many were made.
        errors: how many of them failed.
        generator_limited: the generator was the bottleneck: the figures are not those of the extender.
        schedulers: how many schedulers a closed load has.
        achieved_rate: requests per second that were answered.
        unsent: how many of the schedule were never sent.
        falls_behind: who let answers come later and later: extender, generator, or nobody (an empty text).
        cpu_ms_per_request: CPU time of the extender's processes per request; None where it cannot be read.
        generator_cpu: the busiest worker's share of a core.
        floor_p50_ms: what the same client measures of a server that does nothing.
        ended: complete, or what ended it: gone, died, interrupted, deadline, worker-lost, generator-failed.
        samples: the file of raw samples, relative to the record; `segment` is their begin and end in it.
    """

    subject: str
    verb: str
    nodes: int
    wire: str
    model: str
    rate: float | None
    requests: int
    errors: int
    p50_ms: float | None
    p90_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    max_ms: float | None
    service_p99_ms: float | None
    lag_p99_ms: float | None
    generator_limited: bool
    schedulers: int | None = None
    achieved_rate: float = 0.0
    warmup_seconds: float = 0.0
    warmup_cut: int = 0
    seconds: float = 0.0
    mean_ms: float | None = None
    service_p50_ms: float | None = None
    service_p90_ms: float | None = None
    service_p95_ms: float | None = None
    service_max_ms: float | None = None
    lag_p50_ms: float | None = None
    unsent: int = 0
    falls_behind: str = ""
    error_kinds: Mapping[str, int] = field(default_factory=dict)
    statuses: Mapping[str, int] = field(default_factory=dict)
    body_bytes: int = 0
    timeout_seconds: float = 0.0
    connections: int = 0
    cpu_ms_per_request: float | None = None
    generator_cpu: float = 0.0
    generator_cpu_us_per_request: float | None = None
    floor_p50_ms: float | None = None
    floor_p99_ms: float | None = None
    ended: str = "complete"
    notes: tuple[str, ...] = ()
    samples: str = ""
    node_kib: float | None = None
    segment: tuple[float, float] = (0.0, 0.0)

    def to_json(self) -> dict[str, Any]:
        """Return it as a program reads it."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "LoadResult":
        """Return the result of a file; keys of later versions are left out."""
        known = {one.name for one in fields(cls)}
        values = {key: part for key, part in value.items() if key in known}
        values["notes"] = tuple(values.get("notes") or ())
        values["segment"] = tuple(values.get("segment") or (0.0, 0.0))
        return cls(**values)


@dataclass(frozen=True)
class Knee:
    """The highest rate that an extender took with a p99 within a budget.

    Args:
        rate: the highest rate that was within the budget, requests of all verbs per second; 0 if none was.
        failed_rate: the lowest rate that was not; None if every one was.
        limited_by: extender, generator (it could not send more), bound (no higher rate is tried) or time.
        pods_per_second: what one scheduler could reach, by the mean service times of its calls one after the other.
        steps: what was tried: rate, requests, errors and achieved_rate over all verbs, p99_ms of the worst_verb,
            whether it was within, and generator_limited.
    """

    subject: str
    verb: str
    nodes: int
    wire: str
    budget_ms: float
    rate: float
    failed_rate: float | None
    limited_by: str
    pods_per_second: float | None
    steps: tuple[Mapping[str, Any], ...] = ()
    node_kib: float | None = None

    @property
    def requests(self) -> int | None:
        """Return how many requests its p99 is of; None if no rate was within the budget."""
        return next((step.get("requests") for step in self.steps if self.rate and step["rate"] == self.rate), None)

    @property
    def rate_in_pods(self) -> float:
        """Return the rate in pods per second; a pod takes one request of each verb."""
        return self.rate / len(self.verb.split("+"))

    def to_json(self) -> dict[str, Any]:
        """Return it as a program reads it."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Knee":
        """Return the knee of a file."""
        known = {one.name for one in fields(cls)}
        return cls(**{**{key: part for key, part in value.items() if key in known}, "steps": tuple(value["steps"])})


@dataclass(frozen=True)
class LoadRecord:
    """A load that was recorded: its results, and everything that they depend on in `meta`."""

    path: Path
    meta: Mapping[str, Any]
    results: tuple[LoadResult, ...]
    knees: tuple[Knee, ...] = ()

    def samples(self, result: LoadResult) -> Arrays:
        """Return the raw samples of a measurement, warm-up and all: seconds, status, outcome and verb by number.

        `meta["outcomes"]` and `meta["verbs"]` name the numbers.

        Raises:
            RecordError: they are not there, or damaged.
        """
        return read_arrays(self.path / result.samples)

    def frame(self) -> "pandas.DataFrame":
        """Return the results for pandas, a row each."""
        import pandas as pd

        return pd.DataFrame([result.to_json() for result in self.results])


def read(path: Path, problems: list[str] | None = None) -> LoadRecord:
    """Read the record of a load from its folder.

    Args:
        path: the folder.
        problems: where to put what is damaged, a sentence each, instead of raising an error: what can be read is then
            returned.

    Raises:
        RecordError: there is none, it is damaged, or of an unknown format.
    """
    file = path / FILE if path.is_dir() else path
    try:
        raw = orjson.loads(file.read_bytes())
    except OSError as error:
        raise RecordError(f"{file}: cannot be read: {error.strerror}; make one with `harness load`") from error
    except orjson.JSONDecodeError as error:
        raise RecordError(f"{file}:{error.lineno}: broken JSON ({error.msg}); measure again") from error
    if not isinstance(raw, dict) or raw.get("kind") != KIND or any(key not in raw for key in NEEDED):
        raise RecordError(f"{file}: this is no record of a load; make one with `harness load`")
    if raw["format"] != FORMAT:
        raise RecordError(f"{file}: format {raw['format']!r} seen, {FORMAT} expected; use the harness that wrote it")
    try:
        results = tuple(sound(raw["results"], LoadResult.from_json, FILE, problems))
        knees = tuple(sound(raw.get("knees") or (), Knee.from_json, FILE, problems))
    except (TypeError, ValueError, KeyError) as error:
        raise RecordError(f"{file}: {error}; the record is damaged, measure again") from error
    meta = {key: value for key, value in raw.items() if key not in ("results", "knees")}
    return LoadRecord(file.parent, meta, results, knees)
