"""Attempts, speed, share of extenders and CPU time, in the table of several runs."""

from pathlib import Path

import pytest

from harness.record.metrics import AFTER, BEFORE
from harness.record.read import read
from harness.report.calls import ATTEMPT_SECONDS, ATTEMPTS
from harness.report.compare import HEADERS, LEGEND, comparison_text
from harness.report.summary import RunSummary
from tests.unit.expect.records import RecordBuilder
from tests.unit.report.given import judged
from tests.unit.report.test_compare import rows

TRIES, SPEED, SHARE, CPU = 5, 9, 10, 11


def page(attempts: int, seconds: float = 0.0) -> str:
    return f"# scheduler: s\n{ATTEMPTS} {attempts}\n{ATTEMPT_SECONDS} {seconds}\n"


def bound(pods: int, seconds: float) -> RecordBuilder:
    """A run of so many pods that were all bound so long after their creation."""
    builder = RecordBuilder().node("n", cpu=100_000, pods=1000)
    for number in range(pods):
        builder.pod(f"p{number}", "n", created_t=1.0, bound_t=1.0 + seconds)
    return builder


def measured(folder: Path, builder: RecordBuilder, before: str, after: str) -> RunSummary:
    """Return a run whose schedulers told their metrics."""
    path = builder.write(folder)
    (path / BEFORE).write_text(before)
    (path / AFTER).write_text(after)
    return RunSummary(read(path), ())


def cell(column: int, *runs: RunSummary) -> str:
    (row,) = rows(*runs)
    return row[column]


def test_the_columns_are_where_these_tests_look_for_them() -> None:
    named = [HEADERS[column] for column in (TRIES, SPEED, SHARE, CPU)]
    assert named == ["tries", "pods/s", "ext %", "cpu ms"]


def test_tries_are_what_the_schedulers_counted_during_the_run(tmp_path: Path) -> None:
    assert cell(TRIES, measured(tmp_path, bound(2, 1.0), page(10), page(17))) == "7"


def test_tries_of_repeats_are_a_span(tmp_path: Path) -> None:
    counts = (9, 2, 4)
    runs = [measured(tmp_path / str(count), bound(2, 1.0), page(0), page(count)) for count in counts]
    assert cell(TRIES, *runs) == "2-9"


def test_a_scheduler_that_tells_nothing_did_not_try_0_times(tmp_path: Path) -> None:
    silent = measured(tmp_path / "silent", bound(20, 1.0), "", "")
    assert (cell(TRIES, silent), silent.attempts, silent.to_json()["attempts"]) == ("-", None, None)
    assert cell(TRIES, silent, measured(tmp_path / "told", bound(2, 1.0), page(0), page(2))) == "-"


def test_tries_of_an_idle_scheduler_are_none_and_known(tmp_path: Path) -> None:
    assert cell(TRIES, measured(tmp_path, bound(0, 1.0), page(3), page(3))) == "0"


def test_speed_is_the_middle_of_repeats() -> None:
    assert cell(SPEED, judged(bound(20, 2.0))) == "10"
    assert cell(SPEED, *(judged(bound(20, seconds)) for seconds in (1.0, 2.0, 20.0))) == "10"


def test_the_share_of_extenders_is_in_percent(tmp_path: Path) -> None:
    builder = bound(1, 1.0).extender().call("filter", "p0", 1.0, seconds=0.5)
    assert cell(SHARE, measured(tmp_path, builder, page(0, 1.0), page(1, 3.0))) == "25"


def test_cpu_time_is_that_of_all_parts_per_bound_pod() -> None:
    run = judged(bound(4, 1.0).pod("waits"), cpu_seconds={"kube-scheduler": 0.2, "tap mine": 0.04})
    assert cell(CPU, run) == "60"


def test_cpu_time_is_the_middle_of_repeats() -> None:
    runs = [judged(bound(1, 1.0), cpu_seconds={"s": seconds}) for seconds in (0.01, 0.02, 0.9)]
    assert cell(CPU, *runs) == "20"


@pytest.mark.parametrize("column", [TRIES, SPEED, SHARE, CPU])
def test_what_is_not_known_is_a_dash(column: int) -> None:
    assert cell(column, judged(RecordBuilder().node("n").pod("waits"))) == "-"


def test_cpu_time_without_a_bound_pod_is_nobodys() -> None:
    assert cell(CPU, judged(RecordBuilder().node("n").pod("waits"), cpu_seconds={"s": 1.0})) == "-"


def test_one_run_that_tells_is_enough_for_all() -> None:
    runs = [judged(bound(2, 1.0)), judged(bound(2, 1.0), cpu_seconds={"s": 0.5})]
    assert cell(CPU, *runs) == "250"


def test_variants_have_figures_of_their_own() -> None:
    slow, fast = bound(10, 5.0), bound(10, 0.5)
    fast.variant = "other"
    first, second = rows(judged(slow), judged(fast))
    assert (first[SPEED], second[SPEED]) == ("2", "20")


def test_the_legend_explains_the_columns() -> None:
    text = comparison_text([judged(bound(1, 1.0))])
    assert text.endswith(LEGEND)
    for name in ("tries", "ext %", "cpu ms"):
        assert f"{name}:" in LEGEND


def test_a_run_that_could_not_be_made_counts_as_one_that_did_not_hold() -> None:
    made = judged(bound(1, 1.0))
    called = f"{made.record.meta.scenario}[{made.record.meta.size}]"
    held = comparison_text([made]).splitlines()[2].split()[2]
    assert held == f"{held.partition('/')[0]}/1"
    row = comparison_text([made], [(called, made.record.meta.variant)]).splitlines()[2].split()
    assert row[2] == f"{held.partition('/')[0]}/2"
