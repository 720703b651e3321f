from pathlib import Path
from typing import Any

import pytest

from harness.expect.base import Verdict
from harness.expect.judge import judge
from harness.record.read import read
from tests.unit.expect.records import RecordBuilder

BEFORE = """# scheduler: kube-scheduler
# TYPE scheduler_schedule_attempts_total counter
scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 2
scheduler_pending_pods{queue="active"} 5
"""
AFTER = """# scheduler: kube-scheduler
scheduler_schedule_attempts_total{profile="default-scheduler",result="error"} 3
scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 6
scheduler_pending_pods{queue="active"} 1
# scheduler: second
scheduler_schedule_attempts_total{profile="second",result="scheduled"} 1
scheduler_algorithm_seconds_sum 0.25
"""
ATTEMPTS = {"name": "scheduler_schedule_attempts_total"}


def judged(tmp_path: Path, before: str | None = BEFORE, after: str | None = AFTER, **expect: Any) -> Verdict:
    path = RecordBuilder({"kind": "metric", **expect}).write(tmp_path)
    for name, text in (("before", before), ("after", after)):
        if text is not None:
            (path / f"metrics-{name}.txt").write_text(text)
    return judge(read(path))[0]


@pytest.mark.parametrize(
    ("demand", "seen"),
    [
        ({**ATTEMPTS, "increase": 8}, "increase 8"),
        ({**ATTEMPTS, "labels": {"result": "scheduled"}, "increase": 5, "value": 7}, "increase 5, value 7"),
        ({**ATTEMPTS, "labels": {"result": "error", "profile": "default-scheduler"}, "increase": 3}, "increase 3"),
        ({**ATTEMPTS, "labels": {"result": "unschedulable"}, "increase": 0}, "increase 0"),
        ({"name": "scheduler_pending_pods", "value": {"max": 1}}, "value 1"),
        ({"name": "scheduler_algorithm_seconds_sum", "increase": {"min": 0, "max": 1}}, "increase 0.25"),
    ],
)
def test_what_was_counted_as_demanded_holds(tmp_path: Path, demand: dict[str, Any], seen: str) -> None:
    verdict = judged(tmp_path, **demand)
    assert (verdict.status, verdict.seen) == ("held", seen)


def test_what_was_counted_otherwise_is_rejected_with_the_series(tmp_path: Path) -> None:
    verdict = judged(tmp_path, **ATTEMPTS, labels={"result": "scheduled"}, increase=4)
    assert (verdict.status, verdict.seen) == ("rejected", "increase 5")
    assert verdict.detail == "2 before, 7 after, 2 series"
    assert verdict.evidence == (
        "kube-scheduler {profile=default-scheduler, result=scheduled}: 2 → 6",
        "second {profile=second, result=scheduled}: 0 → 1",
    )


def test_a_fall_is_told(tmp_path: Path) -> None:
    verdict = judged(tmp_path, name="scheduler_pending_pods", increase={"min": 0})
    assert (verdict.status, verdict.seen) == ("rejected", "increase -4")
    assert "5 → 1: it went down" in verdict.evidence[0]


def test_a_name_that_exists_nowhere_is_rejected_even_if_nothing_is_demanded(tmp_path: Path) -> None:
    verdict = judged(tmp_path, name="scheduler_schedule_atempts_total", increase=0)
    assert (verdict.status, verdict.seen) == ("rejected", "no such metric")
    assert verdict.evidence[0].endswith('; did you mean "scheduler_schedule_attempts_total"?')


@pytest.mark.parametrize(("before", "after"), [(None, AFTER), (BEFORE, None), ("", "")])
def test_without_pages_it_is_rejected(tmp_path: Path, before: str | None, after: str | None) -> None:
    verdict = judged(tmp_path, before, after, **ATTEMPTS, increase={"min": 0})
    assert (verdict.status, verdict.seen) == ("rejected", "no metrics")
    assert "is missing" in verdict.evidence[0] or "told its metrics" in verdict.evidence[0]
