import re
from pathlib import Path

from harness.expect.invariants import INVARIANTS
from harness.expect.judge import registry
from harness.scenario.load import load

FOLDER = Path(__file__).parents[3] / "scenarios" / "must_fail"
# The API server refuses a second binding, and no step ends a node as an accident would.
UNPROVOKABLE = {"doubleBinding", "nodesAlive"}


def test_every_kind_has_a_scenario_that_it_must_reject() -> None:
    kinds = {*registry, *INVARIANTS} - UNPROVOKABLE
    stems = {re.sub(r"[A-Z]", lambda letter: f"-{letter[0].lower()}", kind) for kind in kinds}
    assert {file.stem for file in FOLDER.glob("*.yaml")} == stems


def test_each_of_them_is_a_scenario_that_says_why() -> None:
    for file in FOLDER.glob("*.yaml"):
        scenario = load(file).at(None)
        assert scenario.name == f"must-fail-{file.stem}"
        assert scenario.summary.startswith("Must be rejected because ")
