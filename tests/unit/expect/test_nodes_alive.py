from dataclasses import replace
from typing import Any

from harness.expect.base import Verdict
from harness.expect.judge import judge
from tests.unit.expect.records import RecordBuilder

DEATH = "node node-2 is gone: its container harness-1b5c-worker2 ended with code 137"


def judged(*expect: dict[str, Any], **meta: Any) -> dict[str, Verdict]:
    """Return the verdicts about a run with one pod, by kind."""
    record = RecordBuilder(*expect).node("n").pod("a", "n").build()
    record = replace(record, meta=replace(record.meta, **meta))
    return {verdict.kind: verdict for verdict in judge(record)}


def test_nodes_that_live_hold() -> None:
    verdict = judged()["nodesAlive"]
    assert (verdict.status, verdict.seen, verdict.evidence) == ("held", "none", ())


def test_a_death_is_rejected_with_its_reason_and_not_told_as_unrest() -> None:
    verdicts = judged(node_deaths=(DEATH,), settled=False)
    assert [kind for kind, one in verdicts.items() if not one.ok] == ["nodesAlive"]
    verdict = verdicts["nodesAlive"]
    assert (verdict.title, verdict.expected, verdict.seen) == ("nodes that died", "none", "1")
    assert verdict.evidence == (DEATH,)


def test_unrest_that_was_seen_before_the_death_is_told_too() -> None:
    verdicts = judged(node_deaths=(DEATH,), settled=False, unsettled=("pod a: waits",))
    assert [kind for kind, one in verdicts.items() if not one.ok] == ["settled", "nodesAlive"]


def test_a_node_is_no_scheduler() -> None:
    assert judged(node_deaths=(DEATH,), settled=False)["schedulerAlive"].ok
    assert judged(deaths=("panic",), settled=False)["nodesAlive"].ok


def test_a_death_can_be_what_is_expected() -> None:
    expect = {"kind": "invariant", "name": "nodesAlive", "violated": True}
    assert all(one.ok for one in judged(expect, node_deaths=(DEATH,), settled=False).values())
    assert not all(one.ok for one in judged(expect).values())
