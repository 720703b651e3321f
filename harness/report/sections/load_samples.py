"""Makes curves of the raw samples of loads: percentiles, and latency over time. Every value is one that was seen. Pure.

Which samples count is said by the results: those of a verb within `segment`, as `LoadResult` tells it. Samples are
gathered into curves file by file, so that no more than one file is ever held.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import RecordError
from harness.record.load import LoadRecord, LoadResult

Floats = NDArray[np.float64]
Columns = Mapping[str, NDArray[Any]]

# Failures that kept a scheduler waiting are in percentiles, with the time-out or more; quick ones are in none.
TIMED = ("ok", "timeout", "unanswered", "overflow")
WAITED = TIMED[1:]
NAMED_PERCENTILES = (50.0, 90.0, 95.0, 99.0, 99.9, 99.99)
POINTS_PER_DECADE = 16
BINS_MAX, BINS_MIN = 100, 20
# With fewer requests in a bin its p99 is its maximum.
REQUESTS_PER_BIN = 100
BIN_SECONDS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)
MILLISECONDS = 1000.0


@dataclass(frozen=True)
class Point:
    """A point of a percentile curve; `rarity` is 1 / (1 - p): of so many requests, one is slower."""

    percent: float
    rarity: float
    latency_ms: float
    service_ms: float


@dataclass(frozen=True)
class Bin:
    """What requests took that were to be sent within a stretch of time; `middle` is seconds since the load began."""

    middle: float
    requests: int
    failed: int
    p50_ms: float | None
    p99_ms: float | None
    max_ms: float | None


@dataclass(frozen=True)
class Curve:
    """The percentiles of one result."""

    record: LoadRecord
    result: LoadResult
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Course:
    """How one measurement of one verb went on, over all steps of its schedule; `results` are those steps."""

    record: LoadRecord
    results: tuple[LoadResult, ...]
    bin_seconds: float
    bins: tuple[Bin, ...]


@dataclass(frozen=True)
class Unread:
    """Samples that cannot be read, or are not those of their results; `results` are left out of pictures."""

    record: LoadRecord
    file: str
    results: tuple[LoadResult, ...]


@dataclass(frozen=True)
class Curves:
    """All that pictures of samples are made of."""

    curves: tuple[Curve, ...] = ()
    courses: tuple[Course, ...] = ()
    unread: tuple[Unread, ...] = ()


def curves_of(records: Sequence[LoadRecord]) -> Curves:
    """Read the samples of all results that the generator did not limit."""
    curves: list[Curve] = []
    courses: list[Course] = []
    unread: list[Unread] = []
    for record in records:
        files: dict[str, list[LoadResult]] = {}
        for result in record.results:
            if result.requests and not result.generator_limited:
                files.setdefault(result.samples, []).append(result)
        for file, results in files.items():
            columns = _columns(record, results[0]) if file else None
            windows = {} if columns is None else _windows(record, results, columns)
            if columns is None or any(
                len(windows[place].intended) != one.requests for place, one in enumerate(results)
            ):
                unread.append(Unread(record, file, tuple(results)))
                continue
            curves += [Curve(record, one, points(windows[place])) for place, one in enumerate(results)]
            courses += _courses(record, results, windows)
    return Curves(tuple(curve for curve in curves if curve.points), tuple(courses), tuple(unread))


@dataclass(frozen=True)
class Window:
    """The samples that count for one result, in seconds; `timed` tells which of them are in percentiles."""

    intended: Floats
    send: Floats
    done: Floats
    timed: NDArray[np.bool_]
    ok: NDArray[np.bool_]


def _columns(record: LoadRecord, result: LoadResult) -> Columns | None:
    """Return the samples of a file; None where it is gone or damaged."""
    outside = Path(result.samples).is_absolute() or ".." in Path(result.samples).parts
    if outside:
        return None
    try:
        columns = record.samples(result)
        kept = {name: columns[name] for name in ("intended", "send", "done", "outcome", "verb")}
    except (RecordError, KeyError):
        return None
    whole = len({len(column) for column in kept.values() if column.ndim == 1}) == 1
    return kept if whole and all(column.ndim == 1 for column in kept.values()) else None


def _windows(record: LoadRecord, results: Sequence[LoadResult], columns: Columns) -> dict[int, Window]:
    """Return what counts for each result, as the percentiles of the record were made."""
    outcomes, verbs = (list(record.meta.get(name) or ()) for name in ("outcomes", "verbs"))
    timed = np.isin(columns["outcome"], [outcomes.index(name) for name in TIMED if name in outcomes])
    waited = np.isin(columns["outcome"], [outcomes.index(name) for name in WAITED if name in outcomes])
    ok = columns["outcome"] == (outcomes.index("ok") if "ok" in outcomes else 0)
    windows = {}
    for place, result in enumerate(results):
        first, end = result.segment
        intended = columns["intended"]
        # A request of a closed load's warm-up that kept its scheduler waiting beyond it is not cut off.
        stuck = (result.model == "closed") & waited & (columns["done"] > first)
        verb = verbs.index(result.verb) if result.verb in verbs else -1
        chosen = ((intended >= first) | stuck) & (intended < end) & (columns["verb"] == verb)
        windows[place] = Window(
            intended[chosen], columns["send"][chosen], columns["done"][chosen], timed[chosen], ok[chosen]
        )
    return windows


def points(window: Window) -> tuple[Point, ...]:
    """Return the percentile curve up to the slowest request."""
    intended, send, done = (times[window.timed] for times in (window.intended, window.send, window.done))
    if not len(done):
        return ()
    # The slowest of n stands for everything beyond 1 - 1/n: it is drawn at twice that.
    last = 2.0 * len(done)
    steps = np.logspace(0, math.log10(last), 1 + math.ceil(POINTS_PER_DECADE * math.log10(last)))
    percents = {100 - 100 / float(step) for step in steps}
    chosen = sorted(percents | {percent for percent in NAMED_PERCENTILES if 100 / (100 - percent) <= last})
    latency, service = (_percentiles((done - start) * MILLISECONDS, chosen) for start in (intended, send))
    rarities = [100 / (100 - percent) for percent in chosen]
    return tuple(map(Point, chosen, rarities, latency, service))


def _courses(record: LoadRecord, results: Sequence[LoadResult], windows: Mapping[int, Window]) -> list[Course]:
    courses = []
    for verb in dict.fromkeys(result.verb for result in results):
        places = [place for place, result in enumerate(results) if result.verb == verb]
        first = min(results[place].segment[0] for place in places)
        joined = _joined([windows[place] for place in places])
        seconds = max(results[place].segment[1] for place in places) - first
        width = bin_seconds(seconds, len(joined.intended))
        own = tuple(results[place] for place in places)
        courses.append(Course(record, own, width, bins(joined, first, width)))
    return courses


def bin_seconds(seconds: float, requests: int) -> float:
    """Return how long the bins of a course are: as short as is sensible, all of them a length that people know."""
    fitting = [width for width in BIN_SECONDS if seconds <= BINS_MAX * width] or [seconds / BINS_MAX]
    filled = [width for width in fitting if requests * width >= REQUESTS_PER_BIN * seconds]
    several = [width for width in fitting if seconds >= BINS_MIN * width]
    return next((width for width in filled if width in several), several[-1] if several else fitting[0])


def bins(window: Window, first: float, width: float) -> tuple[Bin, ...]:
    """Return what happened in each stretch of time in which something did."""
    numbers = np.maximum((window.intended - first) // width, 0).astype(np.int64)
    latency = (window.done - window.intended) * MILLISECONDS
    made = []
    for number in np.unique(numbers):
        here = numbers == number
        times = latency[here & window.timed]
        p50, p99, most = _percentiles(times, (50, 99, 100)) if len(times) else (None, None, None)
        failed = int((here & ~window.ok).sum())
        made.append(Bin(first + (int(number) + 0.5) * width, int(here.sum()), failed, p50, p99, most))
    return tuple(made)


def _joined(windows: Sequence[Window]) -> Window:
    names = ("intended", "send", "done", "timed", "ok")
    return Window(*(np.concatenate([getattr(window, name) for window in windows]) for name in names))


def _percentiles(values: Floats, percents: Sequence[float]) -> list[float]:
    return [float(value) for value in np.percentile(values, percents, method="inverted_cdf")]
