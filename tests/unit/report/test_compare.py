from harness.report.compare import comparison_text
from harness.report.summary import RunSummary
from tests.unit.expect.records import RecordBuilder
from tests.unit.report.given import judged, mixed


def waiting(*milliseconds: int, variant: str = "default", running: int | None = None) -> RunSummary:
    """A run whose pods waited so long for their binding."""
    expect = {"kind": "count", "running": len(milliseconds) if running is None else running}
    builder = RecordBuilder(expect, variant=variant).node("n", cpu=100_000, pods=1000)
    for number, wait in enumerate(milliseconds):
        builder.pod(f"p{number}", "n", created_t=1.0, bound_t=1.0 + wait / 1000)
    return judged(builder)


def rows(*runs: RunSummary) -> list[list[str]]:
    header, line, *rest = comparison_text(runs).splitlines()
    expected = "scenario variant held run pend tries p50 p90 p99 pods/s ext % cpu ms"
    assert header.split() == expected.split()
    assert set(line) <= {"-", " "}
    return [row.split() for row in rest if row.startswith("synthetic")]


def test_percentiles_are_those_of_all_pods() -> None:
    (row,) = rows(waiting(*range(0, 1001, 10)))
    assert row[:9] == ["synthetic[default]", "default", "1/1", "101", "0", "-", "500", "900", "990"]


def test_repeats_stand_together_and_variants_apart() -> None:
    first, second = rows(waiting(10, 10), waiting(100), waiting(30, 30, 30))[:1] + rows(waiting(100, variant="other"))
    assert first[1:5] == ["default", "3/3", "1-3", "0"]
    assert second[1:3] == ["other", "1/1"]
    assert [row[1] for row in rows(waiting(1), waiting(1, variant="other"), waiting(1))] == ["default", "other"]


def test_how_often_it_held_is_told() -> None:
    (row,) = rows(waiting(1), waiting(1, running=7))
    assert row[2] == "1/2"


def test_nothing_bound_has_no_times() -> None:
    (row,) = rows(waiting(running=0))
    assert row[6:] == ["-"] * 6


def test_comparing_a_run_with_itself_finds_no_difference() -> None:
    once, twice = rows(mixed()), rows(mixed(), mixed())
    assert once[0][3:] == twice[0][3:]
