"""The seeds' scenarios and the 20-replica comparison, with pods that really run."""

import pytest

from harness.pytest_plugin.judged import JudgedRun


@pytest.mark.scenarios("../../scenarios/seeds")
def test_seed(scenario_run: JudgedRun) -> None:
    scenario_run.assert_held()
    assert scenario_run.record.meta.cluster == "kind"


@pytest.mark.scenarios("../../scenarios/lab")
def test_twenty_pause(scenario_run: JudgedRun) -> None:
    scenario_run.assert_held()
