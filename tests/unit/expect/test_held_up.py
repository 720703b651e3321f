from typing import Any

from harness.expect.held_up import HeldUp
from harness.expect.why import why
from tests.unit.expect.records import RecordBuilder


def held(builder: RecordBuilder, name: str) -> str | None:
    record = builder.build()
    return HeldUp(record).by(next(pod for pod in record.pods if pod.name == name))


def hanging(**more: Any) -> RecordBuilder:
    """One pod's call took most of the time; the other pod was never asked about."""
    return RecordBuilder().extender().node("n").pod("asked").pod("other").call("prioritize", "asked", 1.5, **more)


def test_a_call_that_nobody_answered_is_what_a_pod_waits_for() -> None:
    unanswered = hanging(ending="open", status=None, end_t=None)
    told = "its scheduler is at it: prioritize by extender ext was not answered until the end"
    assert held(unanswered, "asked") == told
    assert held(hanging(seconds=8.0), "asked") == (
        "its scheduler is at it: prioritize by extender ext ended after 8.00 s (answered)"
    )


def test_one_that_was_never_asked_about_waits_for_its_turn() -> None:
    told = "its turn did not come: most of the time its scheduler waited for extender ext"
    assert held(hanging(ending="open", status=None, end_t=None), "other") == told
    assert held(hanging(seconds=8.0), "other") == told
    # A call that was under way when the pod came counts with what was left of it.
    assert held(hanging(seconds=8.0).pod("late", created_t=8.8), "late") == told


def test_an_extender_that_answers_holds_nobody_up() -> None:
    assert held(hanging(seconds=0.01), "other") is None
    assert held(hanging(seconds=8.0).pod("late", created_t=9.8), "late") is None
    assert held(RecordBuilder().node("n").pod("other"), "other") is None


def test_the_story_does_not_ask_whether_a_scheduler_runs() -> None:
    story = why(hanging(ending="open", status=None, end_t=None).build(), "other")
    assert "its turn did not come" in story
    assert "let the extender answer sooner, or lower its httpTimeout" in story
    assert "check that one named" not in story
