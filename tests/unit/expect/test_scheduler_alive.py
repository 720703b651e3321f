from dataclasses import replace
from typing import Any

from harness.expect.base import Verdict
from harness.expect.judge import judge
from tests.unit.expect.records import RecordBuilder

DEATH = "kube-scheduler exited with code 2: panic: nil pointer"


def judged(*expect: dict[str, Any], **meta: Any) -> dict[str, Verdict]:
    """Return the verdicts about a run with one pod, by kind."""
    record = RecordBuilder(*expect).node("n").pod("a", "n").build()
    record = replace(record, meta=replace(record.meta, **meta))
    return {verdict.kind: verdict for verdict in judge(record)}


def test_schedulers_that_live_hold() -> None:
    verdict = judged()["schedulerAlive"]
    assert (verdict.status, verdict.seen, verdict.evidence) == ("held", "none", ())


def test_a_death_is_rejected_and_told_in_its_own_words() -> None:
    verdict = judged(deaths=(DEATH,), settled=False)["schedulerAlive"]
    assert (verdict.status, verdict.expected, verdict.seen) == ("rejected", "none", "1")
    assert (verdict.title, verdict.evidence) == ("schedulers that died", (DEATH,))
    assert judged(deaths=(DEATH, DEATH), settled=False)["schedulerAlive"].seen == "2"


def test_a_death_is_told_once_and_not_as_unrest() -> None:
    rejected = [kind for kind, one in judged(deaths=(DEATH,), settled=False).items() if not one.ok]
    assert rejected == ["schedulerAlive"]


def test_unrest_that_was_seen_before_the_death_is_told_too() -> None:
    verdicts = judged(deaths=(DEATH,), settled=False, unsettled=("pod a: waits",))
    assert [kind for kind, one in verdicts.items() if not one.ok] == ["settled", "schedulerAlive"]


def test_unrest_alone_is_no_death() -> None:
    verdicts = judged(settled=False, unsettled=("pod a: waits",))
    assert [kind for kind, one in verdicts.items() if not one.ok] == ["settled"]


def test_a_death_can_be_what_is_expected() -> None:
    expect = {"kind": "invariant", "name": "schedulerAlive", "violated": True}
    assert all(one.ok for one in judged(expect, deaths=(DEATH,), settled=False).values())
    assert not all(one.ok for one in judged(expect).values())
