"""Every scenario in this folder, on every variant it is declared for."""

from harness.pytest_plugin.judged import JudgedRun


def test_scenario(scenario_run: JudgedRun) -> None:
    """What the scenario expects has to hold."""
    scenario_run.assert_held()
