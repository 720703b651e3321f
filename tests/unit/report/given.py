"""Judged runs to be shown, made from synthetic records."""

from dataclasses import replace
from typing import Any

from harness.expect.judge import judge
from harness.report.summary import RunSummary
from tests.unit.expect.records import NO_CPU, RecordBuilder


def judged(builder: RecordBuilder, **meta: Any) -> RunSummary:
    record = builder.build()
    record = replace(record, meta=replace(record.meta, **meta))
    return RunSummary(record, tuple(judge(record)))


def mixed(*expect: Any, variant: str = "default") -> RunSummary:
    """A run with every kind of end: two pods run, one waits, one has succeeded, one failed, one was deleted."""
    builder = RecordBuilder(*expect, variant=variant).node("n1").node("n2").node("n3", removed_t=9.0)
    builder.pod("a", "n1").pod("b", "n1", namespace="other").pod("waits", message=NO_CPU)
    builder.pod("done", "n2", phase="Succeeded").pod("broken", "n2", phase="Failed").pod("gone", "n1", deleted_t=5.0)
    builder.step(4.9, op="delete", kind="Pod", name="gone")
    return judged(builder, seed=3, ready_seconds=2.0, warnings=("something is odd",))
