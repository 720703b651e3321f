from pathlib import Path

import pytest

from harness.report.document import Callout, Text
from harness.report.sections import extenders
from harness.report.sections.extenders import FINDINGS_SHORT_MAX
from harness.report.sections.latency import CALLS_MIN, SERIES_MAX, curve
from harness.report.sections.transcripts import PODS_MAX, chosen
from harness.report.summary import RunSummary
from tests.unit.expect.records import RecordBuilder
from tests.unit.expect.test_nodewise import NAMES, spoken
from tests.unit.report.given import judged
from tests.unit.report.reading import ENGLISH, blocks, callouts, from_disk, of, pictures, rows, size, table, values


def called(*milliseconds: float, kind: str = "filter", **more: object) -> RunSummary:
    """A run with a pod per call."""
    builder = RecordBuilder(variant="extender").node("n", cpu=10**6, pods=10**4).extender(prioritizeVerb="")
    for number, ms in enumerate(milliseconds):
        builder.pod(f"p{number}", "n")
        builder.call(kind, f"p{number}", 1.0 + number, seconds=ms / 1000, nodes_in=3, nodes_out=2, attempt=1, **more)
    return judged(builder)


def test_without_extenders_there_is_nothing_to_say() -> None:
    assert extenders.section(of(), ENGLISH) is None
    assert extenders.section(of(judged(RecordBuilder().node("n"))), ENGLISH) is None


def test_calls_are_counted_per_run_extender_and_kind() -> None:
    first, second = rows(extenders.section(of(called(1, 2, 3, 40), called(5)), ENGLISH), "calls")
    assert (first["repeat"], first["call"], first["calls"], first["failed"]) == (1, "filter", 4, 0)
    assert [first[key] for key in ("p50_ms", "p95_ms", "max_ms")] == pytest.approx([2, 40, 40])
    assert (first["nodes_in"], first["nodes_out"]) == (12, 8)
    assert (second["repeat"], second["calls"]) == (2, 1)


def test_calls_that_failed_are_marked_and_those_broken_on_purpose_counted() -> None:
    section = extenders.section(of(called(1, 2, error="no", fault="status 500")), ENGLISH)
    (row,) = rows(section, "calls")
    assert (row["failed"], row["broken_on_purpose"]) == (2, 2)
    assert table(section, "calls").marks == {0: "warning"}


def test_nothing_wrong_is_said_too() -> None:
    section = extenders.section(of(called(1)), ENGLISH)
    assert [level for level, _ in callouts(section) if level != "info"] == ["good"]


def test_nobody_vouches_for_replies_that_were_not_seen(tmp_path: Path) -> None:
    untapped = judged(RecordBuilder(variant="extender").node("n").extender(tapped=False, prioritizeVerb=""))
    assert "good" not in [level for level, _ in callouts(extenders.section(of(untapped), ENGLISH))]
    damaged = RecordBuilder().node("n").extender(nodeCacheCapabel=True).write(tmp_path)
    assert callouts(extenders.section(from_disk(damaged), ENGLISH)) == []


def test_findings_are_callouts_as_bad_as_they_are() -> None:
    notices = [{"code": "ghost-node", "text": "it kept a ghost"}]
    low = [{"code": "empty-text", "text": "it gave no reason"}]
    section = extenders.section(of(called(1, notices=notices), called(1, notices=low)), ENGLISH)
    told = callouts(section)
    assert [level for level, _ in told] == ["bad", "info"]
    assert told[0][1].startswith("critical: ")
    assert "it kept a ghost" in told[0][1]
    assert "(synthetic[default] extender #1)" in told[0][1]


def test_the_same_finding_of_several_runs_is_one_callout_and_all_are_in_the_table() -> None:
    notices = [{"code": "ghost-node", "text": "it kept a ghost"}]
    section = extenders.section(of(*(called(1, notices=notices) for _ in range(3))), ENGLISH)
    ((_, text),) = callouts(section)
    assert "in 3 runs in all" in text
    assert [row["repeat"] for row in rows(section, "findings")] == [1, 2, 3]


def test_the_short_form_has_the_worst_findings_first() -> None:
    low, worst = {"code": "empty-text", "text": "no reason"}, {"code": "ghost-node", "text": "a ghost"}
    section = extenders.section(of(called(1, notices=[low]), called(1, notices=[worst])), ENGLISH)
    assert section is not None
    assert [block.level for block in section.short if isinstance(block, Callout)] == ["bad", "info"]
    assert [level for level, _ in callouts(section)] == ["info", "bad"]
    many = [[{"code": f"new-{number}", "text": "odd"}] for number in range(FINDINGS_SHORT_MAX + 2)]
    section = extenders.section(of(*(called(1, notices=notices) for notices in many)), ENGLISH)
    assert section is not None
    assert section.short[FINDINGS_SHORT_MAX:] == (Text("2 more findings are in the chapter on extenders."),)


def test_the_curve_gives_every_percentile_as_a_time_that_was_seen() -> None:
    points = curve([1.0, 2.0, 3.0, 4.0])
    assert points == [(1.0, 1.0), (4 / 3, 2.0), (2.0, 3.0), (4.0, 4.0), (8.0, 4.0)]
    many = curve([float(number) for number in range(10_000)])
    assert len(many) < 200
    assert many[0] == (1.0, 0.0)
    assert many[-1] == (20_000.0, 9999.0)


def test_the_picture_has_a_line_per_extender_and_kind() -> None:
    run = called(*range(1, 21))
    picture = pictures(extenders.section(of(run), ENGLISH))["extender-latency"]
    assert {one["series"] for one in values(picture)} == {"ext filter"}
    assert max(one["ms"] for one in values(picture)) == pytest.approx(20)
    assert "20 calls, p50 10.00 ms, p99 20.00 ms, longest 20.00 ms" in picture.about


def test_lines_of_repeats_are_not_mixed_up_and_bounded() -> None:
    times = range(1, CALLS_MIN + 1)
    section = extenders.section(of(*(called(*times) for _ in range(SERIES_MAX + 2))), ENGLISH)
    picture = pictures(section)["extender-latency"]
    assert len({one["series"] for one in values(picture)}) == SERIES_MAX
    assert any(f"first {SERIES_MAX} of {SERIES_MAX + 2}" in text.text for text in blocks(section, Text))


def test_few_calls_are_not_drawn() -> None:
    assert pictures(extenders.section(of(called(*range(1, CALLS_MIN))), ENGLISH)) == {}


def test_the_picture_of_very_many_calls_stays_small() -> None:
    picture = pictures(extenders.section(of(called(*(1 + number % 100 for number in range(3000)))), ENGLISH))
    assert size(picture["extender-latency"]) < 40_000


def test_every_call_is_in_the_transcript() -> None:
    builder = RecordBuilder().node("n").extender().pod("a", "n")
    builder.call("filter", "a", 1.2, attempt=2, nodes_in=5, nodes_out=1, reasons={"full": 3, "old": 1})
    builder.call("prioritize", "a", 1.4, ending="cut", status=None, end_t=None, error="EOF")
    section = extenders.section(of(judged(builder)), ENGLISH)
    first, second = rows(section, "transcript")
    assert (first["pod"], first["attempt"], first["call"], first["nodes_in"]) == ("default/a", 2, "filter", 5)
    assert first["refused"] == "3 x full; 1 x old"
    assert first["call_ms"] == pytest.approx(100)
    assert (second["ending"], second["call_ms"], second["error"]) == ("cut by the extender", None, "EOF")
    assert table(section, "transcript").marks == {1: "bad"}


def test_single_nodes_are_told_with_scores_and_the_choice(tmp_path: Path) -> None:
    kept = {"NodeNames": ["n1", "n2"], "FailedNodes": {"n3": "full", "n4": "full"}}
    scores = [{"Host": "n1", "Score": 3}, {"Host": "n2", "Score": 9}]
    record = spoken(
        tmp_path,
        {"kind": "filter", "pod": "a", "response": kept},
        {"kind": "prioritize", "pod": "a", "response": scores, "request": {"NodeNames": ["n1", "n2"]}},
    )
    told = rows(extenders.section(from_disk(record.path), ENGLISH), "transcript-nodes")
    assert [(row["call"], row["node"], row["said"], row["score"], row["text"], row["chosen"]) for row in told] == [
        ("filter", "n3", "rejected", None, "full", ""),
        ("filter", "n4", "rejected", None, "full", ""),
        ("filter", "n1", "kept", None, "", "yes"),
        ("filter", "n2", "kept", None, "", ""),
        ("prioritize", "n2", "scored", 9, "", ""),
        ("prioritize", "n1", "scored", 3, "", "yes"),
    ]


def test_the_first_pods_and_those_with_failures_are_chosen() -> None:
    builder = RecordBuilder().extender()
    for number in range(2 * PODS_MAX + 10):
        error = "no" if number >= PODS_MAX + 5 else None
        builder.pod(f"p{number}").call("filter", f"p{number}", 1.0 + number / 100, error=error)
    uids, every = chosen(builder.build().calls)
    assert every == 2 * PODS_MAX + 10
    assert uids[:PODS_MAX] == [f"uid-p{number}" for number in range(PODS_MAX)]
    assert uids[PODS_MAX:] == [f"uid-p{number}" for number in range(PODS_MAX + 5, 2 * PODS_MAX + 5)]


def test_a_choice_of_pods_is_said(tmp_path: Path) -> None:
    calls = [{"kind": "filter", "pod": f"p{n}", "response": {"NodeNames": NAMES}} for n in range(PODS_MAX + 3)]
    section = extenders.section(from_disk(spoken(tmp_path, *calls).path), ENGLISH)
    assert any(f"{PODS_MAX} of {PODS_MAX + 3} pods" in text for _, text in callouts(section))
    assert len({row["pod"] for row in rows(section, "transcript-nodes")}) == PODS_MAX
