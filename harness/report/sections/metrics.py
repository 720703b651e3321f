"""What the schedulers counted themselves: before the first step, after the last, and the difference. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.record.metrics import AFTER, BEFORE, Metrics, Sample, read_metrics
from harness.report.document import Block, Callout, Cell, Column, Section, Table, Text
from harness.report.sections.drawing import MS
from harness.report.sections.grouping import Shown, key_columns, readable, shown
from harness.report.sources import Sources
from harness.report.words import Words

COUNTERS = (
    "scheduler_schedule_attempts_total",
    "scheduler_queue_incoming_pods_total",
    "scheduler_preemption_attempts_total",
    "scheduler_pod_preemption_victims_total",
    "scheduler_plugin_evaluation_total",
)
GAUGES = ("scheduler_pending_pods", "scheduler_cache_size", "scheduler_unschedulable_pods")
DURATIONS = (
    "scheduler_scheduling_attempt_duration_seconds",
    "scheduler_scheduling_algorithm_duration_seconds",
    "scheduler_pod_scheduling_sli_duration_seconds",
    "scheduler_framework_extension_point_duration_seconds",
    "scheduler_plugin_execution_duration_seconds",
    "rest_client_rate_limiter_duration_seconds",
)
_QUANTILES = (("p50_at_most_ms", 0.5), ("p99_at_most_ms", 0.99))

Series = tuple[str, str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class Pages:
    """The metrics of one run by series; a series that is not there has counted nothing yet."""

    before: Mapping[Series, float]
    after: Mapping[Series, float]


def section(sources: Sources, words: Words) -> Section | None:
    """Return the chapter about metrics of schedulers, None if no run has any."""
    known = [(one, pages) for one in shown(sources.runs) if (pages := readable(None, _pages, one))]
    if not known:
        return None
    counted = tuple(row for one, pages in known for row in _counted(one, pages))
    lasted = tuple(row for one, pages in known for row in _lasted(one, pages))
    blocks: list[Block] = [Text(words("run.metrics.read"))]
    restarted = [one.title for one, pages in known if _is_restarted(pages)]
    if restarted:
        blocks.append(Callout("warning", words("run.metrics.restarted", runs=words("run.list").join(restarted))))
    blocks += [_count_table(counted, words), _duration_table(lasted, words)]
    return Section("metrics", words("run.metrics.title"), tuple(blocks))


def _pages(one: Shown) -> Pages | None:
    before, after = (read_metrics(one.run.record.path, name) for name in (BEFORE, AFTER))
    if before is None or after is None:
        return None
    return Pages(_by_series(before), _by_series(after))


def _by_series(metrics: Metrics) -> dict[Series, float]:
    wanted = {*COUNTERS, *GAUGES, *(f"{name}_{part}" for name in DURATIONS for part in ("sum", "count", "bucket"))}
    return {_series(sample): sample.value for sample in metrics.samples if sample.name in wanted}


def _series(sample: Sample) -> Series:
    return sample.scheduler, sample.name, tuple(sorted(sample.labels.items()))


def _is_restarted(pages: Pages) -> bool:
    """Tell whether a counter went backwards: a scheduler that starts anew begins at nothing."""
    return any(pages.after.get(series, 0.0) < value for series, value in pages.before.items() if series[1] in COUNTERS)


def _counted(one: Shown, pages: Pages) -> Iterator[tuple[Cell, ...]]:
    for name in (*COUNTERS, *GAUGES):
        for series in sorted(key for key in {*pages.before, *pages.after} if key[1] == name):
            before, after = pages.before.get(series, 0.0), pages.after.get(series, 0.0)
            # What never counted anything says nothing; a gauge is told even if it ends where it began.
            if before or after:
                changed = after - before
                if changed or name in GAUGES:
                    yield *one.keys, series[0], name, _labels(series), before, after, changed


def _lasted(one: Shown, pages: Pages) -> Iterator[tuple[Cell, ...]]:
    for name in DURATIONS:
        buckets = _buckets(pages, f"{name}_bucket")
        for series in sorted(key for key in pages.after if key[1] == f"{name}_count"):
            calls = pages.after[series] - pages.before.get(series, 0.0)
            total = (series[0], f"{name}_sum", series[2])
            seconds = pages.after.get(total, 0.0) - pages.before.get(total, 0.0)
            if calls > 0:
                ends = buckets.get((series[0], series[2]), [])
                limits = (_limit_ms(ends, share) for _, share in _QUANTILES)
                yield *one.keys, series[0], name, _labels(series), calls, MS * seconds, MS * seconds / calls, *limits


def _buckets(pages: Pages, name: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], list[tuple[float, float]]]:
    """Return, per scheduler and labels, how many lay at or below which number of seconds during the run."""
    found: dict[tuple[str, tuple[tuple[str, str], ...]], list[tuple[float, float]]] = {}
    for series, after in pages.after.items():
        if series[1] == name:
            labels = tuple(pair for pair in series[2] if pair[0] != "le")
            end = readable(float("inf"), float, dict(series[2]).get("le", "+Inf"))
            found.setdefault((series[0], labels), []).append((end, after - pages.before.get(series, 0.0)))
    return {key: sorted(ends) for key, ends in found.items()}


def _limit_ms(ends: Sequence[tuple[float, float]], share: float) -> float | None:
    """Return the end of the bucket that a percentile lies in: all that a histogram tells. None beyond the last."""
    if not ends or ends[-1][1] <= 0:
        return None
    end = next((end for end, count in ends if count >= share * ends[-1][1]), float("inf"))
    return None if end == float("inf") else MS * end


def _labels(series: Series) -> str:
    return ", ".join(f"{key}={value}" for key, value in series[2] if value != "")


def _count_table(rows: tuple[tuple[Cell, ...], ...], words: Words) -> Table:
    columns = (
        *key_columns(words),
        *(Column(key, words(f"run.column.{key}")) for key in ("scheduler", "metric", "labels")),
        *(Column(key, words(f"run.column.{key}"), 0) for key in ("before", "after", "difference")),
    )
    filters = ("scenario", "variant", "scheduler", "metric")
    return Table("metrics", words("run.metrics.counts"), columns, rows, words("run.metrics.note"), filters=filters)


def _duration_table(rows: tuple[tuple[Cell, ...], ...], words: Words) -> Table:
    columns = (
        *key_columns(words),
        *(Column(key, words(f"run.column.{key}")) for key in ("scheduler", "metric", "labels")),
        Column("count", words("run.column.count"), 0),
        *(Column(key, words(f"run.column.{key}"), 3) for key in ("total_ms", "mean_ms")),
        *(Column(key, words(f"run.column.{key}"), 1) for key, _ in _QUANTILES),
    )
    note = words("run.metrics.durations-note")
    filters = ("scenario", "variant", "scheduler", "metric")
    return Table("metrics-durations", words("run.metrics.durations"), columns, rows, note, filters=filters)
