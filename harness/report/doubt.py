"""Whether a record that reads well is whole: a file that is gone, or cut between two lines, says nothing. Pure.

A finished run wrote what its scenario made it write; what is not there is no sign that nothing happened.
"""

from collections.abc import Iterator, Sequence

from harness.errors import RecordError
from harness.expect.base import Verdict
from harness.expect.judge import judge
from harness.record.metrics import AFTER, BEFORE, read_metrics
from harness.record.model import Record
from harness.scenario.expectations import COMPARING
from harness.scenario.steps import CreatePods

_ANYWHERE = "existing"


def doubts(record: Record, saved: Sequence[Verdict] | None) -> tuple[str, ...]:
    """Return what speaks against a record, one sentence each that begins with the file it is about.

    Args:
        record: one that could be read.
        saved: the verdicts that were given when the run was made, None without any.
    """
    if record.meta.status != "finished":
        return ()
    found = (*_missing_lines(record), *_missing_pages(record))
    # Verdicts on a record with holes are others; that is no news beside the holes.
    return found or tuple(_contradicted(record, saved) if saved else ())


def _missing_lines(record: Record) -> Iterator[str]:
    if record.meta.deaths or record.meta.node_deaths:
        return
    ended = {mark.index for mark in record.steps if mark.phase == "end"}
    missing = set(range(len(record.scenario.steps))) - ended
    if record.meta.settled and missing:
        yield f"steps.jsonl: {len(missing)} of {len(record.scenario.steps)} steps that were carried out are not there"
    declared = {node.name for node in record.scenario.declared_nodes}
    there = {node.name for node in record.nodes}
    # A cluster of the user's own need not have the nodes that are declared; it has some.
    if record.meta.settled and (not there if record.meta.cluster == _ANYWHERE else declared - there):
        yield f"nodes.jsonl: {len(declared - there)} of {len(declared)} nodes that were declared are not there"
    if not record.pods and _had_pods(record):
        yield "pods.jsonl: pods were created, and none is there"


def _had_pods(record: Record) -> bool:
    return (
        any(isinstance(step, CreatePods) for step in record.scenario.steps)
        or any(event.object_kind == "Pod" for event in record.events)
        or any(call.uid for call in record.calls)
        or any(workload.current for workload in record.workloads)
    )


def _missing_pages(record: Record) -> Iterator[str]:
    pages = (BEFORE, AFTER)
    there = [name for name in pages if (record.path / name).is_file()]
    yield from (f"{name}: the page of metrics is not there" for name in pages if there and name not in there)
    for name in there:
        try:
            read_metrics(record.path, name)
        except RecordError as error:
            yield str(error).removeprefix(f"{record.path}/")


def _contradicted(record: Record, saved: Sequence[Verdict]) -> Iterator[str]:
    """Yield that verdicts are others now; those that need other records are passed over."""
    try:
        judged = judge(record)
    except RecordError as error:
        # What an expectation asks about stands in a file of its own, and that cannot be read.
        yield str(error).removeprefix(f"{record.path}/")
        return
    compared = {place for place, one in enumerate(record.scenario.expect) if isinstance(one, COMPARING)}
    then, now = (
        [(one.kind, one.index, one.status, one.seen) for one in verdicts if one.index not in compared]
        for verdicts in (saved, judged)
    )
    if other := sum(one != another for one, another in zip(then, now, strict=False)) + abs(len(then) - len(now)):
        yield (
            f"verdicts.json: {other} of {len(then)} verdicts that were saved are not what the record gives now: "
            "lines or files of it are missing, or were changed"
        )
