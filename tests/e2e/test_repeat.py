"""The same scenario with the same seed is judged the same."""

from collections.abc import Callable

import pytest

from harness.pytest_plugin.judged import JudgedRun

pytestmark = pytest.mark.embedded


@pytest.mark.parametrize("scenario", ["twenty-pause", "churn"])
def test_two_runs_agree(run_scenario: Callable[..., JudgedRun], scenario: str) -> None:
    first, second = (run_scenario(scenario, seed=11) for _ in range(2))
    for run in (first, second):
        run.assert_held()
    assert first.counts() == second.counts()
    if scenario != "churn":
        # There a replacement is placed before or after its predecessor is seen to be gone: two fair spreads may differ.
        assert sorted(first.per_node().values()) == sorted(second.per_node().values())
    assert [(one.kind, one.status) for one in first.verdicts] == [(one.kind, one.status) for one in second.verdicts]
    assert first.record.path != second.record.path
