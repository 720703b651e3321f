"""Runs that placed pods in a way that a test chooses."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from harness.report.summary import RunSummary
from tests.unit.expect.records import RecordBuilder
from tests.unit.report.given import judged


def builder(counts: Sequence[int], *, variant: str = "default", slow: float = 1.0, **allocatable: Any) -> RecordBuilder:
    """A record whose n-th node holds so many pods; pod-1 to pod-n stand in order, each waits a little longer."""
    made = RecordBuilder(variant=variant)
    for place in range(len(counts)):
        made.node(f"node-{place + 1}", **allocatable)
    nodes = [f"node-{place + 1}" for place, count in enumerate(counts) for _ in range(count)]
    for number, node in enumerate(nodes, 1):
        created = 1 + 0.01 * number
        made.pod(f"pod-{number}", node, created_t=created, bound_t=created + slow * (0.1 + 0.001 * number))
    return made


def run(counts: Sequence[int], *, run_id: str = "", variant: str = "default", **meta: Any) -> RunSummary:
    slow = meta.pop("slow", 1.0)
    made = judged(builder(counts, variant=variant, slow=slow), **{"machine": {"id": "here", "cores": 2}, **meta})
    return renamed(made, run_id or f"run-{variant}-{'-'.join(map(str, counts))}")


def renamed(made: RunSummary, run_id: str) -> RunSummary:
    return RunSummary(replace(made.record, meta=replace(made.record.meta, id=run_id)), made.verdicts)


def at_random(pods: int, nodes: int, seed: int) -> list[int]:
    return [int(count) for count in np.random.default_rng(seed).multinomial(pods, [1 / nodes] * nodes)]
