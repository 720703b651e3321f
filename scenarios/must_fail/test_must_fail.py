"""Proves that every expectation can reject: each file here is named after the one kind that its record contradicts.

Two invariants have no file: no cluster lets a pod be bound twice (`doubleBinding`), and no step ends a node as an
accident would (`nodesAlive`). Unit tests prove both.
"""

from harness.pytest_plugin.judged import JudgedRun


def test_is_rejected(scenario_run: JudgedRun) -> None:
    """Exactly the kind that the file is named after rejects, and no other."""
    stem = scenario_run.record.scenario.path.stem
    first, *rest = stem.split("-")
    assert scenario_run.rejected() == [first + "".join(word.capitalize() for word in rest)]
