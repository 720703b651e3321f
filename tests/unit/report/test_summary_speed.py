"""How often schedulers tried, and how fast they were."""

import json
from pathlib import Path

import pytest

from harness.record.metrics import AFTER, BEFORE
from harness.record.read import read
from harness.report.calls import ATTEMPTS
from harness.report.summary import RunSummary
from tests.unit.expect.records import RecordBuilder
from tests.unit.report.given import judged

PAGE = '# scheduler: {name}\n{metric}{{result="scheduled"}} {scheduled}\n{metric}{{result="unschedulable"}} {refused}\n'


def page(scheduled: int, refused: int, name: str = "default-scheduler") -> str:
    return PAGE.format(name=name, metric=ATTEMPTS, scheduled=scheduled, refused=refused)


def told(folder: Path, **pages: str) -> RunSummary:
    """Return a run with these metrics pages."""
    path = RecordBuilder().node("n").pod("a", "n").write(folder)
    for name, text in pages.items():
        (path / {"before": BEFORE, "after": AFTER}[name]).write_text(text)
    return RunSummary(read(path), ())


def test_attempts_are_those_of_the_run_whatever_came_of_them(tmp_path: Path) -> None:
    assert told(tmp_path, before=page(10, 5), after=page(14, 11)).attempts == 10


def test_attempts_of_all_schedulers_are_added_up(tmp_path: Path) -> None:
    before = page(1, 0) + page(0, 0, "second")
    after = page(3, 0) + page(4, 1, "second")
    assert told(tmp_path, before=before, after=after).attempts == 7


def test_a_scheduler_that_had_nothing_to_do_tried_nothing(tmp_path: Path) -> None:
    assert told(tmp_path, before="# scheduler: s\n", after="# scheduler: s\n").attempts == 0


@pytest.mark.parametrize("pages", [{}, {"before": page(1, 1)}, {"after": page(1, 1)}])
def test_schedulers_that_did_not_tell_are_not_taken_for_idle(tmp_path: Path, pages: dict[str, str]) -> None:
    assert told(tmp_path, **pages).attempts is None


def pods(*times: tuple[float, float | None]) -> RunSummary:
    """Return a run of pods that were created and bound at these times."""
    builder = RecordBuilder().node("n", cpu=100_000, pods=1000)
    for number, (created, at) in enumerate(times):
        builder.pod(f"p{number}", None if at is None else "n", created_t=created, bound_t=at)
    return judged(builder)


def test_speed_is_from_the_first_creation_to_the_last_binding() -> None:
    assert pods((1.0, 1.5), (2.0, 5.0), (3.0, 3.5), (1.5, 4.0)).pods_per_second == pytest.approx(1.0)


def test_pods_that_were_never_bound_do_not_count() -> None:
    assert pods((0.5, None), (1.0, 2.0), (1.0, 3.0)).pods_per_second == pytest.approx(1.0)


def test_without_a_binding_or_without_time_there_is_no_speed() -> None:
    assert pods().pods_per_second is None
    assert pods((1.0, None)).pods_per_second is None
    assert pods((1.0, 1.0)).pods_per_second is None


def test_a_pod_that_is_bound_at_the_very_beginning_counts() -> None:
    assert pods((0.0, 0.0), (0.0, 2.0)).pods_per_second == pytest.approx(1.0)


def test_a_program_can_read_both(tmp_path: Path) -> None:
    run = told(tmp_path, before=page(0, 0), after=page(1, 2))
    value = json.loads(json.dumps(run.to_json()))
    assert value["attempts"] == 3
    assert value["pods_per_second"] == pytest.approx(2.0)
    assert value["cpu_seconds"] == {}
    nothing = json.loads(json.dumps(pods().to_json()))
    assert (nothing["attempts"], nothing["pods_per_second"]) == (None, None)
