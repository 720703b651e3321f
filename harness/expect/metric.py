"""Judges what the schedulers counted, from the metrics pages that the record keeps of before and after the run."""

from collections.abc import Sequence

from harness.expect.base import Verdict, limited, status_of
from harness.record.metrics import AFTER, BEFORE, Sample, read_metrics
from harness.record.model import Record
from harness.scenario.expectations_extender import Metric
from harness.scenario.words import did_you_mean


def metric(expectation: Metric, record: Record, peers: Sequence[Record] = ()) -> Verdict:
    """Judge a metric's value at the end or its growth, summed over the matching series of all schedulers.

    A series that is missing counts as 0, as Prometheus clients leave out what never happened. A name that neither page
    has is a rejection: it is more likely misspelt than never counted.
    """
    demands = {"increase": expectation.increase, "value": expectation.value}
    wanted = {what: demand for what, demand in demands.items() if demand is not None}
    title = f"metric {_shown(expectation)}"
    expected = ", ".join(f"{what} {demand}" for what, demand in wanted.items())
    before, after = read_metrics(record.path, BEFORE), read_metrics(record.path, AFTER)
    if before is None or after is None:
        missing = record.path / (BEFORE if before is None else AFTER)
        told = f"{missing} is missing: the run ended before the schedulers were asked"
        return Verdict("metric", title, "rejected", expected, "no metrics", evidence=(told,))
    trouble = _trouble(expectation.name, before.names | after.names)
    if trouble:
        return Verdict("metric", title, "rejected", expected, trouble[0], evidence=trouble[1:])
    first = before.matching(expectation.name, expectation.labels)
    last = after.matching(expectation.name, expectation.labels)
    sums = {"increase": _sum(last) - _sum(first), "value": _sum(last)}
    return Verdict(
        kind=expectation.kind,
        title=title,
        status=status_of(all(demand.holds(sums[what]) for what, demand in wanted.items())),
        expected=expected,
        seen=", ".join(f"{what} {sums[what]:g}" for what in wanted),
        detail=f"{_sum(first):g} before, {_sum(last):g} after, {len(last)} series",
        evidence=_evidence(first, last),
    )


def _trouble(name: str, known: frozenset[str]) -> tuple[str, ...]:
    """Say that a metric is not there and why, in lines; nothing if it is."""
    if not known:
        return "no metrics", "no scheduler told its metrics; the warnings of the run say why"
    if name in known:
        return ()
    hint = did_you_mean(name, known).rstrip(";")
    return "no such metric", f"no scheduler has a metric {name}{hint}", "one that never counted is not listed"


def _evidence(first: Sequence[Sample], last: Sequence[Sample]) -> tuple[str, ...]:
    earlier = {_series(sample): sample.value for sample in first}
    lines = []
    for sample in last:
        was = earlier.get(_series(sample), 0.0)
        fell = ": it went down, as if the scheduler had been restarted" if sample.value < was else ""
        labels = ", ".join(f"{name}={value}" for name, value in sample.labels.items())
        lines.append(f"{sample.scheduler or 'scheduler'} {{{labels}}}: {was:g} → {sample.value:g}{fell}")
    return limited(sorted(lines)) or ("no series with these labels; that counts as 0",)


def _series(sample: Sample) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    return sample.scheduler, sample.name, tuple(sorted(sample.labels.items()))


def _sum(samples: Sequence[Sample]) -> float:
    return sum(sample.value for sample in samples)


def _shown(expectation: Metric) -> str:
    labels = ", ".join(f"{name}={value}" for name, value in expectation.labels.items())
    return f"{expectation.name}{{{labels}}}" if labels else expectation.name
