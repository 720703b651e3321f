"""Whether answers fall behind the requests of an open load, and which step of a schedule was too much. Pure.

An extender that takes its time but keeps up answers each request as late as the one before. One that does not keep up
answers each later than the one before, however short the load was and whatever the budget is.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness.load import samples
from harness.load.samples import Samples
from harness.record.load import LoadResult

SLOPE_MAX = 0.05
"""By how many seconds per second answers may come later and later: a twentieth less is answered than was asked."""
PART_MIN = 3
SURE = 3.0
"""A growth below so many standard errors is chance."""
EVEN = 0.25
"""Either half of a growth is at least so much of it; a single stall is all in one of them."""
MEDIAN_ERROR = 1.2533
"""The standard error of a median, by that of a mean."""
WAITED_MAX = 0.001
CPU_SHARE_MAX = 0.5
"""A generator that is busy for more than half of the time queues requests inside itself."""


def falls_behind(chosen: Samples, first: float, end: float) -> str:
    """Return who lets answers come later and later: extender, generator, or nobody (an empty text).

    The tail of the last answers plays no part in it, so that a constant latency, however long, is no falling behind.
    """
    import numpy as np  # noqa: PLC0415 - only those who measure need it

    outcome = chosen["outcome"]
    known = chosen.where((outcome <= samples.REPLY_ERROR) | np.isin(outcome, samples.WAITED))
    if not _grows(known["intended"], known["done"] - known["intended"], first, end):
        return ""
    # What left later and later need not have been answered later and later.
    return "extender" if _grows(known["intended"], known["done"] - known["send"], first, end) else "generator"


def _grows(intended: Any, latency: Any, first: float, end: float) -> bool:
    """Tell whether each third of the time is slower than the one before, by more than chance and what is accepted."""
    import numpy as np  # noqa: PLC0415 - see above

    third = (end - first) / 3
    bounds = [first + number * third for number in range(1, 3)]
    parts = np.split(latency, np.searchsorted(intended, bounds))
    if min(map(len, parts)) < PART_MIN:
        return False
    low, middle, high = (float(np.median(part)) for part in parts)
    error = MEDIAN_ERROR * sum(float(part.var()) / len(part) for part in (parts[0], parts[2])) ** 0.5
    is_steady = min(middle - low, high - middle) > EVEN * (high - low)
    return is_steady and high - low > max(SLOPE_MAX * 2 * third, SURE * error)


def is_too_much(chosen: Samples, first: float, end: float, cpu_share: float) -> bool:
    """Tell whether a segment was too much for the extender, as one worker sees it while the load goes on."""
    import numpy as np  # noqa: PLC0415 - see above

    if cpu_share > CPU_SHARE_MAX or np.isin(chosen["outcome"], samples.OWN).any():
        return False
    by_verb = [chosen.where(chosen["verb"] == verb) for verb in np.unique(chosen["verb"])]
    return any(
        falls_behind(one, first, end) == "extender"
        or int(np.isin(one["outcome"], samples.WAITED).sum()) > WAITED_MAX * len(one)
        for one in by_verb
    )


def saturated(steps: Sequence[tuple[float, list[LoadResult]]], unmade: int = 0) -> list[LoadResult]:
    """Return the results of all steps; the first that was too much for the extender, and those after it, say so.

    After the last of them `unmade` steps of the schedule were not begun, because a worker had found it too much.
    """
    made: list[LoadResult] = []
    point: float | None = None
    before: float | None = None
    for number, (rate, results) in enumerate(steps, 1):
        notes: tuple[str, ...] = ()
        if point is not None:
            notes = (f"after the saturation at {point:g}/s: what was left behind there is in these figures",)
        elif why := _why(results):
            point = rate
            highest = f"the highest step below is {before:g}/s" if before is not None else "no step was below"
            notes = (f"saturation point: at {rate:g}/s {why}; {highest}",)
        if unmade and number == len(steps):
            notes = (*notes, f"the load ended after this step: {unmade} higher steps were not made")
        before = rate
        made += [replace(one, notes=(*one.notes, *notes)) for one in results]
    return made


def _why(results: Sequence[LoadResult]) -> str | None:
    """Say in which way a step was too much for the extender; None if it was not, or if it was for the generator."""
    if any(one.unsent or one.generator_cpu > CPU_SHARE_MAX for one in results):
        return None
    if any(one.falls_behind == "extender" for one in results):
        return "answers come later and later"
    waited = [sum(one.error_kinds.get(samples.OUTCOMES[kind], 0) for kind in samples.WAITED) for one in results]
    if any(count > WAITED_MAX * one.requests for count, one in zip(waited, results, strict=True)):
        return "requests are not answered in time"
    return None
