"""Makes results of raw samples: percentiles, failures, and whether the generator was the bottleneck. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.load import samples
from harness.load.samples import OUTCOMES, VERBS, Samples
from harness.load.saturation import CPU_SHARE_MAX, falls_behind, saturated
from harness.load.schedule import Plan
from harness.record.load import LoadResult

LAG_MS_MAX = 2.0
LAG_SHARE_MAX = 0.1
"""A p99 of the lag above both 2 ms and a tenth of the median latency is the generator's doing."""
NEAR_FLOOR = 2.0
ENOUGH_FOR_P99 = 1000
EPSILON_SECONDS = 1e-6
"""Samples are whole nanoseconds: what was due at the very beginning of a segment may seem to have come before it."""
ENDED_EARLY = ("died", "gone", "interrupted")
MILLISECONDS = 1000.0
EFFORT = ("cpu_seconds", "window_seconds", "subject_cpu_seconds")
OURS = "generator-limited: "
Segment = tuple[float, float, float | None]
"""Begin, end and rate of a part that is judged by itself; a closed load has no rate."""


@dataclass(frozen=True)
class Case:
    """What was asked for; `plan` are the arrivals of an open load, which `workers` shared.

    `turns` are the verbs of its requests in their order, which begins anew when it is at its end.
    """

    subject: str
    nodes: int
    wire: str
    model: str
    schedulers: int | None
    warmup_seconds: float
    seconds: float
    timeout_seconds: float
    body_bytes: int
    verbs: tuple[str, ...] = ("filter",)
    plan: Plan | None = None
    workers: int = 1
    turns: tuple[str, ...] = ()
    node_kib: float | None = None


@dataclass(frozen=True)
class Run:
    """What the generator brought home: samples of the extender and of the null server, and what its workers say."""

    main: Samples
    floor: Samples
    workers: Sequence[dict[str, Any]]
    floor_workers: Sequence[dict[str, Any]]
    ended: str
    notes: tuple[str, ...] = ()


def results(case: Case, run: Run, segments: Sequence[Segment]) -> list[LoadResult]:
    """Return a result per segment of the schedule and verb; each is made of what was due in it, and of nothing else."""
    steps: list[tuple[float, list[LoadResult]]] = []
    intended = run.main["intended"] + EPSILON_SECONDS
    left = _left(case, run)
    made = _made(run, segments)
    for number, (begin, planned_end, rate) in enumerate(made):
        end = planned_end
        first = max(begin, case.warmup_seconds)
        if case.model == "closed" and len(run.main):
            # Slow requests are awaited beyond the end.
            end = max(end, float(intended.max()))
        if run.ended in ENDED_EARLY and len(run.main):
            end = min(end, max(float(intended.max()), first))
        window = run.main.where(((intended >= first) | _stuck(case, run.main, first)) & (intended <= end))
        # Only the first segment has anything to warm up, and answers for what the warm-up lacks.
        before = run.main.where((intended < first) & (number == 0))
        missing = left.where((left["due"] >= (first if number else 0.0)) & (left["due"] < planned_end))
        planned = case.plan.mean_rate(first, end) if case.plan and rate is not None else rate
        # Also those of which nothing came: a generator that failed has results that say so.
        verbs = [VERBS.index(verb) for verb in case.verbs]
        share = None if planned is None else planned / len(verbs)
        span = _Span(number if len(segments) > 1 else None, first, end, share, rate or 0.0, len(window))
        found = []
        for verb in verbs:
            own = replace(span, cut=_count(before, verb), unsent=_count(missing, verb))
            found.append(_result(case, run, VERBS[verb], window.where(window["verb"] == verb), own))
        steps.append((span.offered, found))
    return saturated(steps, len(segments) - len(made)) if len(segments) > 1 else steps[0][1]


def _made(run: Run, segments: Sequence[Segment]) -> Sequence[Segment]:
    """Return the segments up to the one that ended the load; what some worker sent after it belongs to none."""
    saturated_at = [number for worker in run.workers if (number := worker.get("saturated")) is not None]
    return segments[: min(saturated_at) + 1] if saturated_at else segments


def _left(case: Case, run: Run) -> Samples:
    """Return the requests that were never sent, when due and of which verb: of each worker, the last of its share."""
    import numpy as np  # noqa: PLC0415 - only those who measure need it

    counts = [(worker["index"], worker["unsent"]) for worker in run.workers if worker["unsent"]]
    due = case.plan.offsets() if case.plan is not None and counts else np.zeros(0)
    turns = np.array([VERBS.index(verb) for verb in case.turns or case.verbs])
    numbers = np.arange(len(due))
    left = np.zeros(len(due), dtype=bool)
    for index, count in counts:
        left[numbers[index :: case.workers][-count:]] = True
    return Samples({"due": due[left], "verb": turns[numbers[left] % len(turns)]})


def _count(chosen: Samples, verb: int) -> int:
    return int((chosen["verb"] == verb).sum())


def _stuck(case: Case, main: Samples, first: float) -> Any:
    """Tell which requests of a closed load's warm-up kept a scheduler waiting beyond it: they are not cut off."""
    return (case.model == "closed") & _among(main["outcome"], samples.WAITED) & (main["done"] > first)


@dataclass(frozen=True)
class _Span:
    """A segment: its number, None if it is the only one; `offered` and `total` are rate and requests of all verbs."""

    number: int | None
    first: float
    end: float
    rate: float | None
    offered: float
    total: int
    unsent: int = 0
    cut: int = 0

    @property
    def seconds(self) -> float:
        return max(self.end - self.first, 1e-9)

    def named(self, notes: Sequence[str]) -> list[str]:
        """Return notes that say which step they are about, where there are several."""
        if self.number is None:
            return list(notes)
        step = f"step of {self.offered:g}/s: "
        return [f"{OURS}{step}{note.removeprefix(OURS)}" if note.startswith(OURS) else step + note for note in notes]


def _result(case: Case, run: Run, verb: str, chosen: Samples, span: _Span) -> LoadResult:
    outcome = chosen["outcome"]
    timed = chosen.where((outcome == samples.OK) | _among(outcome, samples.WAITED))
    latency = percentiles((timed["done"] - timed["intended"]) * MILLISECONDS)
    service = percentiles((timed["done"] - timed["send"]) * MILLISECONDS)
    lag = percentiles((chosen["send"] - chosen["intended"]) * MILLISECONDS)
    floor_ok = run.floor.where(run.floor["outcome"] == samples.OK)
    floor = percentiles((floor_ok["done"] - floor_ok["intended"]) * MILLISECONDS)
    answered = int((outcome == samples.OK).sum())
    efforts = [_effort(worker, span.number) for worker in run.workers]
    subject_cpu = next((one["subject_cpu_seconds"] for one in efforts if one["subject_cpu_seconds"] is not None), None)
    busiest = max((one["cpu_seconds"] / max(one["window_seconds"], 1e-9) for one in efforts), default=0.0)
    # What is not sent to an extender that is gone does not count against the generator.
    limits = _limits(case, chosen, latency, lag, busiest, 0 if run.ended in ENDED_EARLY else span.unsent)
    return LoadResult(
        subject=case.subject,
        verb=verb,
        nodes=case.nodes,
        wire=case.wire,
        node_kib=case.node_kib,
        model=case.model,
        rate=span.rate,
        requests=len(chosen),
        errors=len(chosen) - answered,
        **{f"{key}_ms": value for key, value in latency.items()},
        **{f"service_{key}_ms": value for key, value in service.items() if key != "mean"},
        lag_p50_ms=lag["p50"],
        lag_p99_ms=lag["p99"],
        generator_limited=bool(limits),
        schedulers=case.schedulers,
        achieved_rate=_rate(chosen, span),
        warmup_seconds=case.warmup_seconds,
        warmup_cut=span.cut,
        seconds=span.seconds,
        unsent=span.unsent,
        falls_behind=falls_behind(chosen, span.first, span.end) if case.model == "open" else "",
        error_kinds=_counted(outcome, OUTCOMES),
        statuses={str(key): value for key, value in _counts(chosen["status"]).items() if key},
        body_bytes=case.body_bytes,
        timeout_seconds=case.timeout_seconds,
        connections=sum(worker["opened"] for worker in run.workers),
        cpu_ms_per_request=None if subject_cpu is None or not span.total else subject_cpu * MILLISECONDS / span.total,
        generator_cpu=busiest,
        generator_cpu_us_per_request=_per_request(efforts, span),
        floor_p50_ms=floor["p50"],
        floor_p99_ms=floor["p99"],
        ended=run.ended,
        notes=(*span.named([*limits, *_remarks(run, latency, floor, timed, chosen)]), *run.notes),
        segment=(span.first, span.end),
    )


def percentiles(values: Any) -> dict[str, Any]:
    """Return what is asked of a distribution; each is a value that was seen, None if there was none."""
    import numpy as np  # noqa: PLC0415 - only those who measure need it

    if not len(values):
        return dict.fromkeys(("p50", "p90", "p95", "p99", "max", "mean"))
    points = np.percentile(values, (50, 90, 95, 99, 100), method="inverted_cdf")
    return {
        **dict(zip(("p50", "p90", "p95", "p99", "max"), map(float, points), strict=True)),
        "mean": float(values.mean()),
    }


def _limits(
    case: Case, chosen: Samples, latency: dict[str, Any], lag: dict[str, Any], busiest: float, unsent: int
) -> list[str]:
    """Return why the generator, and not the extender, shaped the figures; nothing if it did not."""
    reasons = []
    if case.model == "open" and lag["p99"] is not None:
        bound = max(LAG_MS_MAX, LAG_SHARE_MAX * (latency["p50"] or 0.0))
        if lag["p99"] > bound:
            # Without figures: they stand in the table, and the same words of many results are told once.
            reasons.append(f"{OURS}requests left late; a p99 of the lag up to 2 ms or a tenth of p50 is fine")
    # With one request in flight there is no queue that a busy generator could have.
    if busiest > CPU_SHARE_MAX and not (case.model == "closed" and case.schedulers == 1):
        reasons.append(
            f"{OURS}the generator used more than {CPU_SHARE_MAX:.0%} of a core; use more --processes, or a lower rate"
        )
    if unsent:
        reasons.append(f"{OURS}{unsent} requests of the schedule were not sent before time was up")
    if own := int(_among(chosen["outcome"], samples.OWN).sum()):
        reasons.append(f"{OURS}no file descriptors were left for {own} requests; raise `ulimit -n`")
    return reasons


def _remarks(run: Run, latency: dict[str, Any], floor: dict[str, Any], timed: Samples, chosen: Samples) -> list[str]:
    said = []
    count = len(timed)
    if run.ended in ENDED_EARLY:
        answered = int((run.main["outcome"] <= samples.REPLY_ERROR).sum())
        said.append(f"ended early ({run.ended}) after {answered} answers, those of the warm-up among them")
    elif not len(run.main):
        said.append("nothing was measured")
    elif not count and (chosen["outcome"] <= samples.REPLY_ERROR).any():
        said.append("every answer of the measured time was a failure; percentiles are of good answers only")
    elif not count:
        said.append("no request of the measured time was answered")
    if latency["p50"] is not None and floor["p50"] is not None and latency["p50"] < NEAR_FLOOR * floor["p50"]:
        said.append("near the floor: a server that does nothing takes more than half as long with this client")
    if 0 < count < ENOUGH_FOR_P99:
        said.append(f"fewer than {ENOUGH_FOR_P99} requests: p99 is a guess")
    if held := sum(worker["binds_held"] for worker in run.workers):
        said.append(f"a scheduler waited {held} times because too many binds were open; kube-scheduler would not")
    return said


def _rate(chosen: Samples, span: _Span) -> float:
    """Return how many requests per second were answered; answers that are later than the quickest stretch the time."""
    answered = chosen.where(chosen["outcome"] <= samples.REPLY_ERROR)
    if not len(answered):
        return 0.0
    quickest = float((answered["done"] - answered["intended"]).min())
    last = float(answered["done"].max())
    return len(answered) / max(span.seconds, last - span.first - quickest)


def _per_request(efforts: Sequence[dict[str, Any]], span: _Span) -> float | None:
    """Return how many microseconds of CPU time a request cost the generator."""
    return sum(one["cpu_seconds"] for one in efforts) * 1e6 / span.total if span.total else None


def _effort(worker: dict[str, Any], number: int | None) -> dict[str, Any]:
    """Return the CPU time of a worker, and of the extender, while a segment went on; without a number, of them all."""
    if number is None:
        return {"subject_cpu_seconds": None, **worker}
    parts = worker["segments"]
    # An early end leaves out what was not begun.
    return dict(zip(EFFORT, parts[number] if number < len(parts) else (0.0, 0.0, None), strict=True))


def _among(values: Any, wanted: Sequence[int]) -> Any:
    import numpy as np  # noqa: PLC0415 - see above

    return np.isin(values, wanted)


def _counts(values: Any) -> dict[int, int]:
    import numpy as np  # noqa: PLC0415 - see above

    keys, counts = np.unique(values, return_counts=True)
    return dict(zip(keys.astype(int).tolist(), counts.tolist(), strict=True))


def _counted(outcomes: Any, names: Sequence[str]) -> dict[str, int]:
    return {names[key]: count for key, count in _counts(outcomes).items() if key}
