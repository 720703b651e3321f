"""A record that reads well and is not whole: never a pass."""

import shutil
from pathlib import Path

import pytest

from harness.record.write import save_verdicts
from harness.report.assemble import assemble
from harness.report.sources import gather
from harness.report.words import Words
from tests.unit.expect.records import RecordBuilder

SAMPLE = Path(__file__).parents[3] / "reports" / "sample" / "record"


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, tmp_path / "20261116-120000-sample-0001"))


def outcome_of(record: Path) -> tuple[str, list[str]]:
    sources = gather([record])
    document = assemble(sources, Words("en"))
    return document.outcome, [sentence.partition(": ")[2] for sentence in sources.broken]


def test_a_whole_record_is_not_doubted(sample: Path) -> None:
    assert outcome_of(sample) == ("passed", [])


@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("pods.jsonl", "pods.jsonl: pods were created, and none is there"),
        ("nodes.jsonl", "nodes.jsonl: 3 of 3 nodes that were declared are not there"),
        ("steps.jsonl", "steps.jsonl: 1 of 1 steps that were carried out are not there"),
    ],
)
def test_a_stream_that_is_gone(sample: Path, file: str, told: str, empty: bool) -> None:
    (sample / file).unlink()
    if empty:
        (sample / file).touch()
    assert outcome_of(sample) == ("unclear", [told])


def test_streams_and_a_page_that_are_gone(sample: Path) -> None:
    for file in ("pods.jsonl", "nodes.jsonl", "metrics-after.txt"):
        (sample / file).unlink()
    outcome, told = outcome_of(sample)
    assert outcome == "unclear"
    assert [sentence.partition(":")[0] for sentence in told] == ["nodes.jsonl", "pods.jsonl", "metrics-after.txt"]


def test_a_page_that_cannot_be_read(sample: Path) -> None:
    (sample / "metrics-after.txt").write_text("# scheduler: x\n{{{ no metrics\n")
    outcome, told = outcome_of(sample)
    assert outcome == "unclear"
    assert told[0].startswith("metrics-after.txt:")


def test_a_stream_that_is_cut_between_two_lines(sample: Path) -> None:
    lines = (sample / "pods.jsonl").read_bytes().splitlines(keepends=True)
    (sample / "pods.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    outcome, told = outcome_of(sample)
    assert outcome == "unclear"
    assert [sentence.partition(":")[0] for sentence in told] == ["verdicts.json"]
    assert "are not what the record gives now" in told[0]


def test_scenarios_without_pods_and_nodes_have_none(tmp_path: Path) -> None:
    assert outcome_of(RecordBuilder().write(tmp_path)) == ("passed", [])


def test_pods_that_only_workloads_tell_of(tmp_path: Path) -> None:
    record = RecordBuilder().workload("Deployment", "web", 2, current=2).write(tmp_path)
    assert outcome_of(record) == ("unclear", ["pods.jsonl: pods were created, and none is there"])


def test_runs_that_broke_off_need_not_be_whole(tmp_path: Path) -> None:
    made = RecordBuilder()
    made.status, made.settled = "failed", False
    record = made.workload("Deployment", "web", 2, current=2).write(tmp_path)
    assert outcome_of(record)[1] == []


def test_verdicts_that_were_changed(tmp_path: Path) -> None:
    record = RecordBuilder({"kind": "count", "running": 1}).node("a").pod("web", "a").write(tmp_path)
    judged = gather([record]).runs[0].verdicts
    save_verdicts(record, [verdict.to_json() for verdict in judged])
    assert outcome_of(record) == ("passed", [])
    save_verdicts(record, [judged[0].to_json() | {"seen": "7 running"}, *(one.to_json() for one in judged[1:])])
    assert outcome_of(record)[0] == "unclear"


def test_what_is_compared_with_other_runs_is_not_judged_alone(tmp_path: Path) -> None:
    expected = {"kind": "sameAs", "relativeTo": "extender"}
    record = RecordBuilder(expected).node("a").pod("web", "a").write(tmp_path)
    judged = gather([record]).runs[0].verdicts
    assert judged[0].status == "not-judged"
    saved = judged[0].to_json() | {"status": "held", "seen": "0 of 1 pod elsewhere"}
    save_verdicts(record, [saved, *(one.to_json() for one in judged[1:])])
    assert outcome_of(record) == ("passed", [])
