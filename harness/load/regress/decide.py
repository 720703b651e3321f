"""Makes a verdict of raw pairs. Pure: the same pairs give the same verdict, whenever it is asked for."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from harness.load.lean import ENDINGS
from harness.load.regress.corpus import Cell
from harness.load.regress.pairs import SIDES, Pairs
from harness.load.stats.blocks import Floats, joined, log_ratios
from harness.load.stats.judge import ALPHA, TOLERANCE, Verdict, interval, judge, more_errors_p, rejects, slower_p
from harness.record.regress import Comparison, MetricResult, finite

# name: (what is measured, quantile). In the order in which they are shown.
METRICS = {
    "cpu p50": ("cpu", 0.50),
    "cpu p99": ("cpu", 0.99),
    "wall p50": ("wall", 0.50),
    "wall p95": ("wall", 0.95),
    "wall p99": ("wall", 0.99),
}
# What a PASS has to be sure of; the others among the gated ones can only reject.
MIDDLES = ("cpu p50", "wall p50")
SHOWN_ONLY = ("wall p95", "wall p99")
# A tail needs this many pairs, or its blocks are single calls.
TAIL_PAIRS_MIN = 1500
# Of the pairs; with fewer left, speed is not judged.
ANSWERED_SHARE_MIN = 0.5
BACKGROUND_SHARE_NOTED = 0.25
MILLISECONDS = 1000


def starts(pairs: Pairs, metric: str) -> list[Floats]:
    """Return the log-ratios of the blocks of one metric, start by start; no block reaches over a restart."""
    what, quantile = METRICS[metric]
    base, candidate = pairs.times(what)
    parts = [pairs.restart == number for number in np.unique(pairs.restart)]
    found = [log_ratios(base[part], candidate[part], pairs.size, quantile) for part in parts]
    return [one for one in found if len(one)]


def ratios(pairs: Pairs, metric: str) -> Floats:
    """Return the log-ratios of the blocks of all starts."""
    return joined(starts(pairs, metric))


def middle(pairs: Pairs) -> Floats:
    """Return the blocks that decide first: those of processor time, else those of the wall clock."""
    return next((found for name in MIDDLES if len(found := ratios(pairs, name))), np.empty(0))


def gated(pairs: Pairs, *, sees_cpu: bool = True) -> list[str]:
    """Return the metrics that may reject, for such pairs."""
    reads = sees_cpu and bool(np.isfinite(pairs.cpu).any())
    names = [name for name in METRICS if name not in SHOWN_ONLY and (reads or METRICS[name][0] != "cpu")]
    return [name for name in names if name != "cpu p99" or len(pairs) >= TAIL_PAIRS_MIN]


def is_suspect(pairs: Pairs, tolerance: float = TOLERANCE, *, sees_cpu: bool = True) -> bool:
    """Tell whether a first stage calls for a second."""
    return any(rejects(slower_p(ratios(pairs, name), tolerance)) for name in gated(pairs, sees_cpu=sees_cpu))


def decide(
    cell: Cell,
    stages: Sequence[Pairs],
    *,
    tolerance: float = TOLERANCE,
    sees_cpu: bool = True,
    died: str | None = None,
    notes: Sequence[str] = (),
) -> Comparison:
    """Return the verdict over one comparison, of one stage or of two."""
    judged = [_metric(name, stages, tolerance, sees_cpu=sees_cpu) for name in METRICS]
    metrics = tuple(one for one in judged if one is not None)
    errors = _errors(stages)
    total = sum(map(len, stages))
    failure = failure_of(stages, died)
    told = [*notes, *_background(stages)]
    verdict = _verdict(metrics)
    if total and max(errors) > total * (1 - ANSWERED_SHARE_MIN):
        verdict = "INCONCLUSIVE"
        told.append("too few requests were answered to compare speed")
    return Comparison(
        verb=cell.verb,
        nodes=cell.nodes,
        wire=cell.wire,
        body_bytes=cell.body_bytes,
        bodies=len(cell.bodies),
        body_digest=cell.digest,
        pairs=total,
        block_size=stages[0].size if stages else 0,
        base_errors=errors[0],
        candidate_errors=errors[1],
        error_kinds=_kinds(stages),
        failure=failure,
        verdict=verdict,
        metrics=metrics,
        notes=tuple(told),
    )


def _metric(name: str, stages: Sequence[Pairs], tolerance: float, *, sees_cpu: bool) -> MetricResult | None:
    blocks = [ratios(one, name) for one in stages]
    if not any(map(len, blocks)) or (METRICS[name][0] == "cpu" and not sees_cpu):
        return None
    what, quantile = METRICS[name]
    values = np.concatenate([one.times(what) for one in stages], axis=1)
    values = values[:, np.isfinite(values).all(axis=0)]
    base, candidate = (float(np.quantile(one, quantile)) * MILLISECONDS for one in values)
    if not any(name in gated(one, sees_cpu=sees_cpu) for one in stages):
        ratio, low, high = interval(joined(blocks))
        count = sum(map(len, blocks))
        return MetricResult(name, None, base, candidate, ratio, low, high, (), None, count)
    found = judge(blocks, tolerance)
    return MetricResult(
        metric=name,
        verdict=found.verdict,
        base_ms=base,
        candidate_ms=candidate,
        ratio=finite(found.ratio),
        low=finite(found.low),
        high=finite(found.high),
        p_values=found.p_values,
        mde=finite(found.mde),
        blocks=found.blocks,
    )


def _verdict(metrics: Sequence[MetricResult]) -> Verdict:
    if any(one.verdict == "REGRESSION" for one in metrics):
        return "REGRESSION"
    middles = [one for one in metrics if one.metric in MIDDLES]
    return "PASS" if middles and all(one.verdict == "PASS" for one in middles) else "INCONCLUSIVE"


def _errors(stages: Sequence[Pairs]) -> list[int]:
    return [sum(one.errors(side) for one in stages) for side in range(len(SIDES))]


def failure_of(stages: Sequence[Pairs], died: str | None = None) -> str | None:
    """Say what is wrong with the candidate's answers, beyond what chance and the base explain; None if nothing is."""
    if died:
        return f"the candidate ended by itself: {died}"
    errors, total = _errors(stages), sum(map(len, stages))
    p_value = more_errors_p(errors[0], total, errors[1], total)
    if p_value >= ALPHA:
        return None
    seen = f"{errors[1]} of {total} requests failed, {errors[0]} of the base's"
    return f"{seen} (Fisher's exact test: p = {p_value:.2g})"


def _kinds(stages: Sequence[Pairs]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for pairs in stages:
        for side, codes in zip(SIDES, pairs.ending, strict=True):
            found.update(f"{side}: {ENDINGS[int(code)]}" for code in codes if code)
    return dict(found)


def _background(stages: Sequence[Pairs]) -> list[str]:
    """Note a subject that works on after it has answered: that work is in no request's processor time."""
    told = []
    for row, side in enumerate(SIDES):
        inside = sum(float(np.nansum(one.cpu[row])) for one in stages)
        outside = sum(float(np.nansum(one.background[row])) for one in stages)
        share = outside / (inside + outside) if inside + outside > 0 else math.nan
        if share > BACKGROUND_SHARE_NOTED:
            told.append(f"{share:.0%} of the {side}'s processor time is used between requests and not compared")
    return told
