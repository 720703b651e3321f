import dataclasses
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from harness.expect.judge import judge
from harness.record.model import Record
from tests.unit.expect.records import NO_CPU, RecordBuilder

EXPECT = (
    {"kind": "count", "running": {"min": 2}, "pending": {"max": 2}, "total": {"max": 6}},
    {"kind": "placement", "on": {"pod-0": "node-0", "pod-1*": "node-1"}},
    {"kind": "onlyOn", "nodeSelector": "zone=a"},
    {"kind": "neverOn", "nodes": ["node-2"]},
    {"kind": "distribution", "perNode": {"max": 3}, "counts": [2, 1, 1]},
    {"kind": "spread", "over": "zone"},
    {"kind": "pending", "selector": "app=web", "count": {"min": 0}},
    {"kind": "staysPending", "pods": ["pod-*"], "seconds": 3},
    {"kind": "timing", "measure": "createToBound", "percentile": 90, "atMost": 1.0, "relativeTo": "default"},
)

moments = st.integers(0, 8).map(lambda number: number / 2)
places = st.none() | st.sampled_from(["node-0", "node-1", "node-2", "ghost"])


@st.composite
def records(draw: st.DrawFn) -> Record:
    builder = RecordBuilder(*EXPECT)
    for index in range(3):
        builder.node(f"node-{index}", labels={"zone": "ab"[index % 2]}, cpu=300)
    for index in range(draw(st.integers(0, 8))):
        created_t = draw(moments)
        place = draw(places)
        builder.pod(
            f"pod-{index}",
            place,
            created_t=created_t,
            bound_t=created_t + draw(moments),
            deleted_t=9.0 if draw(st.booleans()) else None,
            message=None if place else draw(st.none() | st.just(NO_CPU)),
            phase=draw(st.sampled_from(["Running", "Succeeded", "Pending"])),
            labels={"app": draw(st.sampled_from(["web", "db"]))},
        )
    return builder.build()


@given(records(), st.randoms(use_true_random=False))
def test_the_order_of_pods_and_nodes_changes_no_verdict(record: Record, random: Random) -> None:
    pods, nodes = list(record.pods), list(record.nodes)
    random.shuffle(pods)
    random.shuffle(nodes)
    shuffled = dataclasses.replace(record, pods=tuple(pods), nodes=tuple(nodes))
    assert judge(shuffled) == judge(record)


@given(records())
def test_judging_twice_gives_the_same(record: Record) -> None:
    assert judge(record, [record]) == judge(record, [record])


@given(records())
def test_a_record_takes_exactly_as_long_as_itself(record: Record) -> None:
    verdict = next(one for one in judge(record) if one.kind == "timing")
    assert (verdict.status, verdict.seen) in {("held", "1.00"), ("rejected", "no ratio")}
    if record.pods and all(pod.bound_t is not None for pod in record.pods):
        assert verdict.seen == "1.00"


@given(records())
def test_a_rejected_verdict_says_what_was_seen(record: Record) -> None:
    for verdict in judge(record):
        assert verdict.expected
        assert verdict.seen
        assert verdict.ok == (verdict.status != "rejected")
