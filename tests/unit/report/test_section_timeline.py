import pytest

from harness.report.document import Text
from harness.report.sections import timeline
from harness.report.sections.grouping import RUNS_DRAWN_MAX
from harness.report.sections.lives import lives
from harness.report.sections.timeline import PODS_DRAWN_MAX, SLOWEST_DRAWN
from harness.report.summary import RunSummary
from tests.unit.expect.records import NO_CPU, RecordBuilder
from tests.unit.report.given import judged
from tests.unit.report.reading import ENGLISH, blocks, of, pictures, rows, size, values


def run(pods: int, *, variant: str = "default", pending: int = 0) -> RunSummary:
    builder = RecordBuilder(variant=variant, end_t=1000.0).node("n", cpu=10**7, pods=10**6)
    for number in range(pods):
        builder.pod(f"p{number}", "n", created_t=1.0 + number / 100, bound_t=1.5 + number / 50)
    for number in range(pending):
        builder.pod(f"w{number}", message=NO_CPU, created_t=2.0)
    return judged(builder)


def retried() -> RunSummary:
    """One pod that was refused twice before it was bound, as events, calls and its condition tell."""
    builder = RecordBuilder().node("n").extender()
    builder.pod("a", "n", created_t=1.0, bound_t=4.0, message=NO_CPU)
    builder.event("a", "FailedScheduling", NO_CPU, t=1.1, uid="e").event(
        "a", "FailedScheduling", NO_CPU, t=2.1, uid="e", count=2
    )
    for attempt in (1, 2, 3):
        builder.call("filter", "a", float(attempt), attempt=attempt)
    return judged(builder)


def test_without_pods_there_is_nothing_to_say() -> None:
    assert timeline.section(of(), ENGLISH) is None
    assert timeline.section(of(judged(RecordBuilder().node("n"))), ENGLISH) is None


def test_times_are_milliseconds() -> None:
    first, second = rows(timeline.section(of(run(1, pending=1)), ENGLISH), "pods")
    assert (first["pod"], first["node"], first["state"], first["attempts_seen"]) == ("default/p0", "n", "Running", 1)
    times = [first[key] for key in ("created_ms", "bound_ms", "running_ms", "waited_ms", "started_ms")]
    assert times == pytest.approx([1000, 1500, 1750, 500, 250])
    assert (second["state"], second["bound_ms"], second["waited_ms"]) == ("pending", None, None)
    assert second["first_refused_ms"] == pytest.approx(2100)


def test_attempts_are_counted_from_events_and_the_binding() -> None:
    builder = RecordBuilder().node("n").pod("a", "n", bound_t=4.0, message=NO_CPU)
    builder.event("a", "FailedScheduling", NO_CPU, t=1.1, uid="e")
    builder.event("a", "FailedScheduling", NO_CPU, t=2.1, uid="e", count=4)
    (life,) = lives(judged(builder).record)
    assert (life.attempts, life.retries) == (5, 4)
    assert life.refused_t == (1.1, 2.1)


def test_attempts_are_counted_from_calls_too() -> None:
    (life,) = lives(retried().record)
    assert life.attempts == 3
    assert life.tried_t == (1.0, 2.0, 3.0)


def test_a_condition_tells_of_a_refusal_if_no_event_does() -> None:
    (life,) = lives(judged(RecordBuilder().node("n").pod("a", message=NO_CPU)).record)
    assert (life.attempts, life.refused_t) == (1, (1.1,))


def test_a_pod_that_came_with_its_node_was_never_tried() -> None:
    builder = RecordBuilder().node("n").pod("a", node="n", created_t=1.0, bound_t=1.0)
    builder.lines["pods"] = builder.lines["pods"][1:]
    (life,) = lives(judged(builder).record)
    assert life.attempts == 0


def test_few_pods_have_a_bar_each() -> None:
    picture = pictures(timeline.section(of(run(3, pending=1)), ENGLISH))["timeline-default-1"]
    bars = [one for one in values(picture) if "part" in one]
    assert {one["name"] for one in bars} == {"p0", "p1", "p2", "w0"}
    first = [one for one in bars if one["name"] == "p0"]
    assert [(one["part"], one["from"], one["to"]) for one in first] == [
        ("waiting for a node", 0, 500),
        ("bound, starting", 500, 750),
    ]
    assert [one["part"] for one in bars if one["name"] == "w0"] == ["never bound"]
    assert "pods that stayed pending: 1" in picture.about


def test_retries_are_marked() -> None:
    picture = pictures(timeline.section(of(retried()), ENGLISH))["timeline-default-1"]
    marks = [(one["what"], one["at"]) for one in values(picture) if "what" in one]
    assert sorted(marks) == [
        ("attempt begins", 0),
        ("attempt begins", 1000),
        ("attempt begins", 2000),
        ("refused", 100),
        ("refused", 1100),
    ]
    assert "retries: 2" in picture.about


def test_pods_of_the_same_name_have_bars_of_their_own() -> None:
    builder = RecordBuilder().node("n").pod("a", "n", deleted_t=3.0).pod("a", "n", created_t=4.0, uid="again")
    picture = pictures(timeline.section(of(judged(builder)), ENGLISH))["timeline-default-1"]
    assert {one["name"] for one in values(picture)} == {"a", "a #2"}


def test_many_pods_are_drawn_together_and_the_slowest_by_themselves() -> None:
    drawn = pictures(timeline.section(of(run(PODS_DRAWN_MAX + 40)), ENGLISH))
    assert set(drawn) == {"throughput", "waiting-bands", "slowest-default-1"}
    slowest = {one["name"] for one in values(drawn["slowest-default-1"])}
    assert slowest == {f"p{number}" for number in range(PODS_DRAWN_MAX + 40 - SLOWEST_DRAWN, PODS_DRAWN_MAX + 40)}
    curve = [one for one in values(drawn["throughput"]) if one["what"] == "bound"]
    assert max(one["pods"] for one in curve) == PODS_DRAWN_MAX + 40
    bands = values(drawn["waiting-bands"])
    assert max(one["most"] for one in bands) == pytest.approx(500 + 10 * (PODS_DRAWN_MAX + 39))
    assert all(one["low"] <= one["middle"] <= one["high"] <= one["most"] for one in bands)


def test_pictures_of_very_many_pods_stay_small() -> None:
    drawn = pictures(timeline.section(of(run(3000)), ENGLISH))
    assert all(size(picture) < 60_000 for picture in drawn.values())


def test_runs_beyond_the_first_are_in_the_table_only_and_it_says_so() -> None:
    section = timeline.section(of(*(run(2) for _ in range(RUNS_DRAWN_MAX + 3))), ENGLISH)
    assert len(pictures(section)) == RUNS_DRAWN_MAX
    assert any(f"first {RUNS_DRAWN_MAX} of {RUNS_DRAWN_MAX + 3}" in text.text for text in blocks(section, Text))
    assert len(rows(section, "pods")) == 2 * (RUNS_DRAWN_MAX + 3)


def test_pods_that_all_wait_are_drawn_to_the_end_of_the_run() -> None:
    section = timeline.section(of(run(0, pending=PODS_DRAWN_MAX + 1)), ENGLISH)
    assert set(pictures(section)) == {"throughput"}
    few = pictures(timeline.section(of(run(0, pending=2)), ENGLISH))["timeline-default-1"]
    assert {one["part"] for one in values(few) if "part" in one} == {"never bound"}
