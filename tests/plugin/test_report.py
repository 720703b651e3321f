"""`--report`: one report of everything that a session recorded."""

import json
from pathlib import Path

import pytest

from tests.plugin.conftest import RunPytest, write


@pytest.mark.parametrize("workers", ["0", "2"])
def test_the_runs_of_every_worker_are_in_the_report(run_pytest: RunPytest, folder: Path, workers: str) -> None:
    write(folder, "one")
    write(folder, "two", running=9)
    result = run_pytest("-n", workers, "--report", "made")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*scheduler harness report*", "1 of 2 runs did not hold*", "made/report.html"])
    ids = {path.name for path in (folder / "reports" / "runs").iterdir()}
    assert all(run_id in (folder / "made" / "report.md").read_text() for run_id in ids)
    assert len(ids) == 2


def test_loads_are_in_it_too(run_pytest: RunPytest, folder: Path) -> None:
    (folder / "test_it.py").write_text(
        "def test_load(load_test):\n"
        "    load_test('ref:pass-through', verb='filter', nodes=3, rate=50, seconds=1, warmup_seconds=0.2)\n"
    )
    run_pytest("--report", "made").assert_outcomes(passed=1)
    (record,) = (folder / "reports" / "runs").iterdir()
    assert record.name in (folder / "made" / "summary.md").read_text()


def test_a_session_without_records_says_so(run_pytest: RunPytest, folder: Path) -> None:
    (folder / "test_it.py").write_text("def test_nothing():\n    pass\n")
    result = run_pytest("--report", "made")
    result.stdout.fnmatch_lines(["no test made a record: there is no report"])
    assert not (folder / "made").exists()


def test_a_report_that_cannot_be_written_fails_the_session(run_pytest: RunPytest, folder: Path) -> None:
    write(folder, "one")
    (folder / "made").touch()
    result = run_pytest("--report", "made")
    result.stdout.fnmatch_lines(["*made: the report cannot be written*"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_without_the_option_nothing_is_written(run_pytest: RunPytest, folder: Path) -> None:
    write(folder, "one")
    result = run_pytest()
    assert "scheduler harness report" not in result.stdout.str()
    assert {path.name for path in (folder / "reports").iterdir()} == {"runs"}
    (record,) = (folder / "reports" / "runs").iterdir()
    assert json.loads((record / "verdicts.json").read_text())
