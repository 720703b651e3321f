"""What a user of the plugin sees of loads and comparisons. Neither needs a cluster."""

import shutil
from pathlib import Path

from tests.plugin.conftest import RunPytest

SHIPPED = Path(__file__).parents[2] / "scenarios" / "test_speed.py"
REGRESS = """
import pytest


@pytest.mark.regression
def test_not_slower(regress):
    compared = regress("ref:pass-through"{candidate}, verb="filter", nodes=3, budget_seconds=0.3, tolerance=1.0)
    assert compared.comparisons[0].metric("cpu p50") is not None
    compared.assert_not_slower()
"""
SLOW = """
import time


class Slow:
    def filter(self, pod, nodes):
        time.sleep(0.04)
        return nodes
"""
FAILING = """
class Failing:
    def filter(self, pod, nodes):
        return nodes
"""
LOAD = """
import pytest


@pytest.mark.load
def test_answers(load_test):
    (result,) = load_test("ref:pass-through", verb="filter", nodes=3, rate=50, seconds=1, warmup_seconds=0.2)
    assert result.errors == 0
    assert result.p99_ms > 0
"""


def test_a_comparison_is_a_test(run_pytest: RunPytest, folder: Path) -> None:
    (folder / "test_speed.py").write_text(REGRESS.format(candidate=', "ref:pass-through"'))
    outcomes = run_pytest("-m", "regression", "test_speed.py").parseoutcomes()
    # What could not be decided is skipped with its reason; it never fails.
    assert outcomes in ({"passed": 1}, {"skipped": 1})
    assert list((folder / "reports" / "runs").glob("*-regress-*/regress.json"))


def test_a_slower_extender_of_ones_own_is_a_failed_test(run_pytest: RunPytest, folder: Path) -> None:
    (folder / "slow.py").write_text(SLOW)
    # On a busy machine the base takes as long as the pause, and what takes four times its budget is cut off.
    patient = REGRESS.replace("budget_seconds=0.3, tolerance=1.0", "budget_seconds=4.0, tolerance=0.1")
    (folder / "test_speed.py").write_text(patient.format(candidate=""))
    slow = ("--extender", "py:slow:Slow", "-m", "regression", "test_speed.py")
    result = run_pytest(*slow)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*REGRESSION: py:slow:Slow against ref:pass-through*"])


def test_a_comparison_without_a_candidate_says_what_is_missing(run_pytest: RunPytest, folder: Path) -> None:
    (folder / "test_speed.py").write_text(REGRESS.format(candidate=""))
    result = run_pytest("test_speed.py")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*no subject is named; give one with --extender*"])


def test_what_ships_measures_the_extender_that_is_brought(run_pytest: RunPytest, folder: Path) -> None:
    (folder / "failing.py").write_text(FAILING)
    shutil.copy(SHIPPED, folder)
    chosen = ("-m", "load or regression", "-k", "closed-10 or regression", SHIPPED.name)
    brought = ("--extender", "py:failing:Failing", "--sched-entry", "filterVerb=mine")
    result = run_pytest(*brought, *chosen)
    result.assert_outcomes(failed=3, skipped=1)
    result.stdout.fnmatch_lines(["*py:failing:Failing: filter with 10 nodes: * requests failed (status: *"])


def test_a_load_is_a_test(run_pytest: RunPytest, folder: Path) -> None:
    (folder / "test_load.py").write_text(LOAD)
    run_pytest("-m", "load", "test_load.py").assert_outcomes(passed=1)
    assert list((folder / "reports" / "runs").glob("*/load.json"))
