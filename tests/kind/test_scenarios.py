"""The seeds' scenarios and the 20-replica comparison, with pods that really run."""

from pathlib import Path

import pytest

from harness.expect.judge import judge
from harness.pytest_plugin.judged import JudgedRun
from harness.record.read import read
from harness.run.session import Session
from harness.scenario.load import load

SCENARIOS = Path(__file__).parents[2] / "scenarios"
# Each on the one variant that it is about: on every one they would take a quarter of an hour.
MORE = {
    "taints/control-plane-repels": "default",
    "taints/control-plane-tolerated": "default",
    "plugin/every-point": "framework-plugin",
    "rebuilt/changed-weight": "rebuilt-scheduler",
}


@pytest.mark.scenarios("../../scenarios/seeds")
def test_seed(scenario_run: JudgedRun) -> None:
    scenario_run.assert_held()
    assert scenario_run.record.meta.cluster == "kind"


@pytest.mark.scenarios("../../scenarios/lab")
def test_twenty_pause(scenario_run: JudgedRun) -> None:
    scenario_run.assert_held()


@pytest.mark.parametrize("name", MORE)
def test_what_the_lab_texts_show_besides(sched_session: Session, name: str) -> None:
    record = read(sched_session.run(load(SCENARIOS / f"{name}.yaml").at(None), MORE[name]))
    assert [verdict.sentence() for verdict in judge(record) if not verdict.ok] == []
