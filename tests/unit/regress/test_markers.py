"""What the plugin's markers are for, with the harness's own reference as the subject."""

from collections.abc import Callable

import pytest

from harness.pytest_plugin.measuring import JudgedLoad, JudgedRegression


@pytest.mark.regression
def test_a_reference_is_not_slower_than_itself(regress: Callable[..., JudgedRegression]) -> None:
    compared = regress("ref:pass-through", "ref:pass-through", verb="filter", nodes=3, budget_seconds=0.5)
    assert compared.verdict != "REGRESSION"
    assert compared.comparisons[0].failure is None


@pytest.mark.load
def test_a_reference_answers_under_load(load_test: Callable[..., JudgedLoad]) -> None:
    (result,) = load_test("ref:pass-through", verb="filter", nodes=3, rate=20, seconds=1, warmup_seconds=0.2)
    assert (result.errors, result.verb, result.model) == (0, "filter", "open")
