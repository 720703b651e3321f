"""Every fault case rejects a run in which its fault does not happen: none of them would hold anyway."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.expect.judge import judge
from harness.record.read import read
from harness.run.session import Session
from harness.scenario.faults import Fault
from harness.scenario.find import find
from harness.scenario.load import load
from harness.scenario.steps import Await, Settle

pytestmark = [pytest.mark.embedded, pytest.mark.faults]

FAULTS = Path(__file__).parents[2] / "scenarios" / "faults"
# What is waited for without the fault never comes; there is no need to wait for long.
PATIENCE_SECONDS = 1.5


@pytest.mark.parametrize("path", find([str(FAULTS)], [FAULTS]), ids=lambda path: path.stem)
def test_without_its_fault_a_case_is_rejected(path: Path, sched_session: Session) -> None:
    file = load(path)
    scenario = file.at(None)
    steps = [
        step.model_copy(update={"timeout_seconds": PATIENCE_SECONDS}) if isinstance(step, Await | Settle) else step
        for step in scenario.steps
        if not isinstance(step, Fault)
    ]
    if len(steps) == len(scenario.steps):
        # The case is about the number of nodes, and is rejected with another number.
        spoilt = scenario.model_copy(
            update={"nodes": tuple(group.model_copy(update={"count": 3}) for group in scenario.nodes)}
        )
    else:
        spoilt = scenario.model_copy(update={"steps": tuple(steps), "timeout_seconds": PATIENCE_SECONDS})
    record = read(sched_session.run(spoilt, "extender"))
    for size in file.scenarios.values():
        # An extender without a fault is never ignored: what was seen is the same for every size.
        assert [verdict.kind for verdict in judge(replace(record, scenario=size)) if not verdict.ok], size.size
