from dataclasses import replace

from harness.report.document import Listing, Text
from harness.report.sections import verdict
from harness.report.sections.verdict import REJECTED_SHOWN_MAX
from harness.report.summary import RunSummary
from tests.unit.expect.records import RecordBuilder
from tests.unit.report.given import judged
from tests.unit.report.reading import ENGLISH, blocks, callouts, of, rows, table

TIMING = {"kind": "timing", "measure": "createToBound", "atMost": 2, "relativeTo": "extender"}


def run(*, running: int = 1, variant: str = "default", **meta: object) -> RunSummary:
    builder = RecordBuilder({"kind": "count", "running": running}, variant=variant).node("n").pod("a", "n")
    return judged(builder, **meta)


def test_without_runs_there_is_nothing_to_say() -> None:
    assert verdict.section(of(), ENGLISH) is None
    assert verdict.sentence(of(), ENGLISH)[0] == "unclear"
    assert verdict.checks(of(), ENGLISH) == ()


def test_all_runs_that_held_are_one_sentence() -> None:
    runs = [run(), run(variant="extender")]
    outcome, sentence = verdict.sentence(of(*runs), ENGLISH)
    assert outcome == "passed"
    assert sentence.startswith(f"All 2 runs held: {2 * len(runs[0].verdicts)} ")


def test_a_sentence_names_what_did_not_hold() -> None:
    outcome, sentence = verdict.sentence(of(run(), run(running=3, variant="extender"), run()), ENGLISH)
    assert outcome == "failed"
    assert sentence.startswith("1 of 3 runs did not hold: extender: ")
    assert "3 running expected" in sentence
    assert "1 running seen" in sentence


def test_a_sentence_stays_short_however_many_fail() -> None:
    _, sentence = verdict.sentence(of(*(run(running=3) for _ in range(50))), ENGLISH)
    assert sentence.startswith("50 of 50 runs")
    assert sentence.endswith("and 47 more.")


def test_a_run_that_never_ended_did_not_hold() -> None:
    outcome, sentence = verdict.sentence(of(run(status="running")), ENGLISH)
    assert outcome == "unclear"
    assert "never came to its end" in sentence
    assert verdict.sentence(of(run(status="failed", error="no node came")), ENGLISH) == (
        "failed",
        "The run did not hold: default: the run broke off: no node came.",
    )


def test_a_run_without_verdicts_is_no_run_that_held() -> None:
    bare = RunSummary(run().record, ())
    assert verdict.sentence(of(bare), ENGLISH)[0] == "unclear"
    assert rows(verdict.section(of(bare), ENGLISH), "runs")[0]["result"] == "not judged"


def test_every_run_is_a_row_with_its_result() -> None:
    section = verdict.section(of(run(), run(running=9)), ENGLISH)
    first, second = rows(section, "runs")
    assert (first["result"], first["rejected"], first["repeat"]) == ("PASS", 0, 1)
    assert (second["result"], second["rejected"], second["repeat"]) == ("FAIL", 1, 2)
    assert table(section, "runs").marks == {0: "good", 1: "bad"}


def test_what_was_rejected_stands_with_its_evidence() -> None:
    bad = run(running=9)
    (rejected,) = [one for one in bad.verdicts if not one.ok]
    section = verdict.section(of(run(variant="extender"), bad), ENGLISH)
    ((level, text),) = callouts(section)
    assert level == "bad"
    assert text.startswith("default: ")
    assert f"{rejected.expected} expected, {rejected.seen} seen" in text
    (listing,) = blocks(section, Listing)
    assert set(rejected.evidence) <= set(listing.items)


def test_very_many_rejections_are_bounded_and_said() -> None:
    section = verdict.section(of(*(run(running=9) for _ in range(REJECTED_SHOWN_MAX + 5))), ENGLISH)
    assert len(callouts(section)) == REJECTED_SHOWN_MAX
    assert any(text.text.startswith("5 more") for text in blocks(section, Text))
    told = [row for row in rows(section, "verdicts") if row["verdict"] == "FAIL"]
    assert len(told) == REJECTED_SHOWN_MAX + 5


def test_all_verdicts_are_in_a_table() -> None:
    runs = [run(), run(variant="extender")]
    told = rows(verdict.section(of(*runs), ENGLISH), "verdicts")
    assert len(told) == sum(len(one.verdicts) for one in runs)
    assert {row["variant"] for row in told} == {"default", "extender"}
    assert told[0]["expected"] == runs[0].verdicts[0].expected


def test_every_verdict_is_a_check() -> None:
    good, bad = run(), run(running=9, variant="extender")
    made = verdict.checks(of(good, bad), ENGLISH)
    assert len(made) == len(good.verdicts) + len(bad.verdicts)
    (failed,) = [check for check in made if check.outcome == "failed"]
    assert failed.group == "synthetic[default] extender"
    assert "9 running expected" in failed.message
    assert failed.detail


def test_what_was_not_judged_is_skipped_and_a_crash_is_a_check() -> None:
    builder = RecordBuilder(TIMING).node("n").pod("a", "n")
    made = verdict.checks(of(judged(builder, status="failed", error="boom")), ENGLISH)
    assert made[0].outcome == "failed"
    assert "boom" in made[0].message
    statuses = {"held": "passed", "rejected": "failed", "not-judged": "skipped"}
    verdicts = judged(builder).verdicts
    assert [check.outcome for check in made[1:]] == [statuses[one.status] for one in verdicts]
    assert "skipped" in [check.outcome for check in made[1:]]


def test_a_verdict_that_nobody_knows_is_not_taken_for_a_success() -> None:
    odd = replace(run().verdicts[0], status="??")  # type: ignore[arg-type]
    (check,) = verdict.checks(of(RunSummary(run().record, (odd,))), ENGLISH)
    assert check.outcome == "skipped"
    assert verdict.section(of(RunSummary(run().record, (odd,))), ENGLISH)
