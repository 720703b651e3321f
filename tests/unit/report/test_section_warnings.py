from pathlib import Path

from harness.report.sections import warnings
from tests.unit.expect.records import RecordBuilder
from tests.unit.report.given import judged
from tests.unit.report.reading import ENGLISH, from_disk, of, rows


def test_without_warnings_there_is_nothing_to_say() -> None:
    assert warnings.section(of(), ENGLISH) is None
    assert warnings.section(of(judged(RecordBuilder().node("n"))), ENGLISH) is None


def test_the_same_warning_of_several_runs_is_one_row() -> None:
    runs = [judged(RecordBuilder(), warnings=("odd",)) for _ in range(3)]
    runs.append(judged(RecordBuilder(variant="extender"), warnings=("odd", "other"), unsettled=("it moves",)))
    told = rows(warnings.section(of(*runs), ENGLISH), "warnings")
    assert [(row["warning"], row["records"]) for row in told] == [("odd", 4), ("other", 1), ("it moves", 1)]
    assert "synthetic[default] default #2" in str(told[0]["where"])


def test_deaths_and_errors_are_warnings() -> None:
    run = judged(RecordBuilder(), deaths=("s died",), node_deaths=("n died",), error="no more", status="failed")
    told = [row["warning"] for row in rows(warnings.section(of(run), ENGLISH), "warnings")]
    assert told == ["s died", "n died", "no more"]


def test_what_is_wrong_with_records_is_told_with_the_record() -> None:
    run = judged(RecordBuilder())
    broken = ("synthetic: pods.jsonl:7: cut", "elsewhere: run.json: broken", "no record at all")
    told = rows(warnings.section(of(run, broken=broken), ENGLISH), "warnings")
    assert [(row["warning"], row["where"]) for row in told] == [
        ("pods.jsonl:7: cut", "synthetic[default] default"),
        ("run.json: broken", "elsewhere"),
        ("no record at all", "-"),
    ]


def test_a_warning_of_the_record_is_not_told_twice(tmp_path: Path) -> None:
    path = RecordBuilder().node("n").pod("a", "n").write(tmp_path)
    with (path / "pods.jsonl").open("a") as stream:
        stream.write('{"t": 1')
    sources = from_disk(path)
    (sentence,) = sources.runs[0].record.warnings
    again = of(*sources.runs, broken=(f"{path.name}: {sentence}",))
    (row,) = rows(warnings.section(again, ENGLISH), "warnings")
    assert (row["warning"], row["records"]) == (sentence, 1)


def test_damaged_metrics_and_extenders_are_told(tmp_path: Path) -> None:
    path = RecordBuilder().node("n").extender(nodeCacheCapabel=True).write(tmp_path)
    (path / "metrics-after.txt").write_text("{{{")
    told = [str(row["warning"]) for row in rows(warnings.section(from_disk(path), ENGLISH), "warnings")]
    assert any(text.startswith("metrics-after.txt:1: ") for text in told)
    assert any("nodeCacheCapabel" in text for text in told)
