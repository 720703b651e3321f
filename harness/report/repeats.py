"""Decides which runs are repeats of the same, and gives each group a name; others are held against the first."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.expect.percentile import percentile
from harness.record.model import Record
from harness.report.spread import Loads, Spread, counted, loads, spread
from harness.report.summary import RunSummary


@dataclass(frozen=True)
class Side:
    """Runs of the same, under a name that no other side has."""

    name: str
    runs: tuple[RunSummary, ...]

    @property
    def first(self) -> RunSummary:
        """Return the run whose pods stand for all: the first."""
        return self.runs[0]

    @cached_property
    def loads(self) -> tuple[Loads, ...]:
        """What the nodes hold, run by run."""
        return tuple(loads(run.record) for run in self.runs)

    @cached_property
    def spread(self) -> Spread:
        """How evenly the nodes are filled."""
        return spread(self.loads)

    @cached_property
    def waits_ms(self) -> tuple[tuple[float, ...], ...]:
        """Milliseconds from the creation of each bound pod to its binding, run by run."""
        return tuple(run.waits_ms for run in self.runs)

    def figures(self, name: str) -> tuple[float, ...]:
        """Return one figure of every run that has it."""
        found = (figure(run, name) for run in self.runs)
        return tuple(value for value in found if value is not None)


def figure(run: RunSummary, name: str) -> float | None:
    """Return a figure of one run: p50_ms, p90_ms, p99_ms, pods_per_second, cpu_ms_per_pod, attempts, pending."""
    if name.startswith("p") and name.endswith("_ms"):
        return percentile(run.waits_ms, int(name[1:-3]))
    if name == "pending":
        return float(sum(pod.pending for pod in counted(run.record.pods)))
    value: float | None = getattr(run, name)
    return value


def middle(values: Sequence[float]) -> float | None:
    """Return the median; None of nothing."""
    return float(np.median(values)) if values else None


def sides(runs: Sequence[RunSummary]) -> tuple[Side, ...]:
    """Put repeats together: the same variant with the same extenders and the same configuration of the scheduler.

    Runs that are all of one kind each stand alone: who compares them wants to know how they differ.
    """
    groups: dict[str, list[RunSummary]] = {}
    for run in runs:
        groups.setdefault(run.identity, []).append(run)
    together = list(groups.values()) if len(groups) > 1 else [[run] for run in runs]
    return named(together)


def named(groups: Sequence[Sequence[RunSummary]]) -> tuple[Side, ...]:
    """Give every group a name: its variant, with what tells it from others of the same variant."""
    firsts = [group[0].record for group in groups]
    ways = (
        [record.meta.variant for record in firsts],
        [_subjects(record) for record in firsts],
        [record.meta.cluster for record in firsts],
    )
    names = list(ways[0])
    for way in ways[1:]:
        given: dict[str, set[str]] = {}
        for name, more in zip(names, way, strict=True):
            given.setdefault(name, set()).add(more)
        doubtful = {name for name, some in given.items() if len(some) > 1}
        names = [_joined(name, more) if name in doubtful else name for name, more in zip(names, way, strict=True)]
    numbered = [f"{name} #{names[: place + 1].count(name)}" for place, name in enumerate(names)]
    names = [full if names.count(name) > 1 else name for name, full in zip(names, numbered, strict=True)]
    return tuple(Side(name, tuple(group)) for name, group in zip(names, groups, strict=True))


def _joined(name: str, more: str) -> str:
    """Return `extender (ref:one, kind)`."""
    if not more:
        return name
    return f"{name.removesuffix(')')}, {more})" if name.endswith(")") else f"{name} ({more})"


def _subjects(record: Record) -> str:
    return " + ".join(extender.subject for extender in record.extenders)
