"""Measures an extender over and over: for many sizes of the cluster, and for the highest rate that it can take."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harness.clock import SYSTEM
from harness.load.bodies import Corpus
from harness.load.measure import Run
from harness.load.saturation import CPU_SHARE_MAX
from harness.load.schedule import RATE_MAX, Plan
from harness.load.session import Loaded, Shape
from harness.record.load import Knee, LoadResult

NODES = (1, 10, 100, 812, 1000, 5000)
NODE_KIBS = (2.0, 8.0)
"""A node with next to nothing on it, and one with many images; 5000 of the latter are a body of 40 MB."""
ERRORS_MAX = 0.001
CLOSE = 1.1
"""Rates that differ by less are the same knee."""
KNEE_SECONDS = 120.0
STEP_SECONDS, STEP_SECONDS_MAX = 2.0, 5.0
STEP_REQUESTS = 100
"""A p99 of fewer is their maximum: a step at a low rate takes longer, up to a bound."""
STEP_WARMUP_SECONDS = 0.5
RATE_MIN = 1.0
STEPS_MAX = 24

Measure = Callable[[Corpus, Shape, bool], tuple[Run, list[LoadResult]]]


@dataclass(frozen=True)
class Step:
    """One rate that was tried, with a result per verb."""

    rate: float
    within: bool
    limited: bool
    results: tuple[LoadResult, ...]

    def to_json(self) -> dict[str, Any]:
        """Return what a record keeps of it: sums over all verbs, as the rate is one; only p99 has to be one verb's."""
        worst = max(self.results, key=lambda one: one.p99_ms if one.p99_ms is not None else float("inf"))
        return {
            "rate": self.rate,
            "within": self.within,
            "p99_ms": worst.p99_ms,
            "worst_verb": worst.verb,
            "errors": sum(one.errors for one in self.results),
            "requests": sum(one.requests for one in self.results),
            "achieved_rate": sum(one.achieved_rate for one in self.results),
            "generator_limited": any(one.generator_limited for one in self.results),
        }


def find_knee(
    loaded: Loaded, corpus: Corpus, measure: Measure, *, budget_ms: float | None, seed: int, limit_seconds: float
) -> Knee:
    """Search the highest rate whose p99 is within a budget: doubling, then halving the gap.

    Args:
        loaded: the extender.
        corpus: what is sent; its first verb is the one that is searched for.
        measure: measures once, and keeps it.
        budget_ms: what p99 may be; half of httpTimeout unless given.
        seed: of the arrivals, which are those of a Poisson process.
        limit_seconds: when the search ends, whatever it has found.
    """
    budget = budget_ms if budget_ms is not None else loaded.entry.timeout_seconds * 1000 / 2
    began = SYSTEM.now()
    alone = Shape(STEP_SECONDS, STEP_WARMUP_SECONDS)
    _, cycle = measure(corpus, alone, True)
    pods = pods_per_second(cycle)
    steps: list[Step] = []
    limited_by = "bound"
    search = _Search(0.5 * pods if pods else RATE_MIN)
    while (rate := search.next()) is not None and len(steps) < STEPS_MAX:
        if SYSTEM.now() - began > limit_seconds:
            # A gap that is known but wide has been ended by somebody all the same.
            limited_by = "time" if search.bad is None else limited_by
            break
        seconds = min(max(STEP_SECONDS, STEP_REQUESTS / rate), STEP_SECONDS_MAX)
        plan = Plan("poisson", (rate,), seconds, seed, STEP_WARMUP_SECONDS)
        run, results = measure(corpus, Shape(seconds, STEP_WARMUP_SECONDS, plan), False)
        step = judged(rate, results, budget)
        steps.append(step)
        search.tell(within=step.within)
        if not step.within:
            limited_by = "generator" if step.limited else "extender"
        if run.ended != "complete":
            limited_by = "extender" if run.ended in ("died", "gone") else run.ended
            break
    return Knee(
        subject=loaded.subject.text,
        verb="+".join(corpus.verbs),
        nodes=corpus.nodes,
        wire=corpus.wire,
        node_kib=corpus.node_kib,
        budget_ms=budget,
        rate=search.good,
        failed_rate=search.bad,
        limited_by=limited_by,
        pods_per_second=pods,
        steps=tuple(step.to_json() for step in steps),
    )


def judged(rate: float, results: Sequence[LoadResult], budget_ms: float) -> Step:
    """Tell whether a rate was within the budget; of several verbs, all have to be."""
    within = all(_is_within(one, budget_ms) for one in results)
    # Late requests that were answered within the budget all the same prove the rate; only a failure is put in doubt.
    limited = not within and any(_is_ours(one, budget_ms) for one in results)
    return Step(rate, within, limited, tuple(results))


def _is_ours(result: LoadResult, budget_ms: float) -> bool:
    """Tell whether the generator alone can have missed the budget."""
    return (
        bool(result.unsent)
        or result.generator_cpu > CPU_SHARE_MAX
        or (result.lag_p99_ms or 0.0) > budget_ms / 2
        or result.falls_behind == "generator"
    )


def _is_within(result: LoadResult, budget_ms: float) -> bool:
    return (
        result.p99_ms is not None
        and result.p99_ms <= budget_ms
        and result.errors <= ERRORS_MAX * result.requests
        and not result.unsent
        and not result.falls_behind
    )


def pods_per_second(cycle: Sequence[LoadResult]) -> float | None:
    """Return how many pods per second one scheduler could decide, by what its calls take one after the other.

    Binds do not count: they are made beside the next pod.
    """
    times = [one.mean_ms for one in cycle if one.verb != "bind" or len(cycle) == 1]
    if not times or any(time is None for time in times):
        return None
    return 1000.0 / sum(time for time in times if time is not None)


class _Search:
    """Doubles a rate until it is too high, then halves the gap, geometrically."""

    def __init__(self, start: float) -> None:
        self.good = 0.0
        self.bad: float | None = None
        self._rate: float | None = max(RATE_MIN, min(start, RATE_MAX))

    def next(self) -> float | None:
        """Return the rate to try, None when it is known well enough."""
        return self._rate

    def tell(self, *, within: bool) -> None:
        """Take note of what came of the last rate."""
        rate = self._rate or 0.0
        if within:
            self.good = max(self.good, rate)
        else:
            self.bad = rate if self.bad is None else min(self.bad, rate)
        self._rate = self._following()

    def _following(self) -> float | None:
        if self.bad is None:
            return min(2 * self.good, RATE_MAX) if self.good < RATE_MAX else None
        if self.good == 0.0:
            return self.bad / 2 if self.bad > RATE_MIN else None
        return (self.good * self.bad) ** 0.5 if self.bad > CLOSE * self.good else None


def sizes(nodes: Sequence[int], wires: Sequence[str], node_kibs: Sequence[float]) -> Iterator[tuple[int, str, float]]:
    """Yield what a sweep measures: small clusters first, both wires of each; only whole nodes have a size."""
    for count in nodes:
        for wire in wires:
            for kib in node_kibs if wire == "objects" else node_kibs[:1]:
                yield count, wire, kib
