from pathlib import Path

import pytest

from harness.record.metrics import AFTER, BEFORE
from harness.report.sections import metrics
from harness.report.sources import Sources
from tests.unit.expect.records import RecordBuilder
from tests.unit.report.reading import ENGLISH, callouts, from_disk, of, rows

TRIES = "scheduler_schedule_attempts_total"
LASTED = "scheduler_scheduling_attempt_duration_seconds"


def told(folder: Path, before: str, after: str) -> Sources:
    path = RecordBuilder().node("n").write(folder)
    (path / BEFORE).write_text(f"# scheduler: s\n{before}")
    (path / AFTER).write_text(f"# scheduler: s\n{after}")
    return from_disk(path)


def histogram(fast: int, medium: int, every: int, seconds: float) -> str:
    ends = (("0.001", fast), ("0.016", medium), ("+Inf", every))
    lines = [f'{LASTED}_bucket{{result="scheduled",le="{end}"}} {count}' for end, count in ends]
    labels = '{result="scheduled"}'
    return "\n".join([*lines, f"{LASTED}_sum{labels} {seconds}", f"{LASTED}_count{labels} {every}"]) + "\n"


def test_without_metrics_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert metrics.section(of(), ENGLISH) is None
    assert metrics.section(from_disk(RecordBuilder().node("n").write(tmp_path)), ENGLISH) is None


def test_counters_are_told_before_after_and_between(tmp_path: Path) -> None:
    sources = told(
        tmp_path,
        f'{TRIES}{{result="scheduled"}} 3\n',
        f'{TRIES}{{result="scheduled"}} 10\n{TRIES}{{result="error"}} 2\n',
    )
    first, second = rows(metrics.section(sources, ENGLISH), "metrics")
    assert (first["labels"], first["before"], first["after"], first["difference"]) == ("result=error", 0, 2, 2)
    assert (second["labels"], second["before"], second["after"], second["difference"]) == ("result=scheduled", 3, 10, 7)
    assert (first["scheduler"], first["metric"]) == ("s", TRIES)


def test_counters_that_did_not_change_are_left_out_and_states_are_not(tmp_path: Path) -> None:
    page = f'{TRIES} 3\nscheduler_cache_size{{type="nodes"}} 4\nscheduler_cache_size{{type="pods"}} 0\n'
    (row,) = rows(metrics.section(told(tmp_path, page, page), ENGLISH), "metrics")
    assert (row["labels"], row["after"], row["difference"]) == ("type=nodes", 4, 0)


def test_durations_are_those_of_the_run_alone(tmp_path: Path) -> None:
    sources = told(tmp_path, histogram(100, 100, 100, 1.0), histogram(110, 200, 200, 2.5))
    (row,) = rows(metrics.section(sources, ENGLISH), "metrics-durations")
    assert row["count"] == 100
    assert [row["total_ms"], row["mean_ms"]] == pytest.approx([1500, 15])
    assert [row["p50_at_most_ms"], row["p99_at_most_ms"]] == pytest.approx([16, 16])


def test_what_lies_beyond_the_last_bucket_has_no_limit(tmp_path: Path) -> None:
    (row,) = rows(metrics.section(told(tmp_path, "", histogram(60, 60, 100, 9.0)), ENGLISH), "metrics-durations")
    assert (row["p50_at_most_ms"], row["p99_at_most_ms"]) == (1.0, None)


def test_a_scheduler_that_began_anew_is_told(tmp_path: Path) -> None:
    ((level, text),) = callouts(metrics.section(told(tmp_path, f"{TRIES} 9\n", f"{TRIES} 2\n"), ENGLISH))
    assert level == "warning"
    assert "synthetic[default] default" in text


def test_damaged_pages_are_left_out(tmp_path: Path) -> None:
    assert metrics.section(told(tmp_path, "{", "}"), ENGLISH) is None
