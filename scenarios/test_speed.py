"""How fast extenders answer: those of --extender, or the reference. Needs no cluster."""

from collections.abc import Callable

import pytest

from harness.pytest_plugin.measuring import JudgedLoad, JudgedRegression

REFERENCE = "ref:pass-through"


@pytest.fixture
def subjects(pytestconfig: pytest.Config) -> list[str]:
    """The extenders that are measured."""
    return pytestconfig.getoption("--extender") or [REFERENCE]


@pytest.mark.load
@pytest.mark.parametrize("nodes", [10, 100, 1000])
@pytest.mark.parametrize("model", [{"schedulers": 1}, {"rate": 20}], ids=["closed", "open"])
def test_load(load_test: Callable[..., JudgedLoad], subjects: list[str], nodes: int, model: dict[str, int]) -> None:
    """No call fails, none queues up, and 99 of 100 take half of httpTimeout at most."""
    for subject in subjects:
        # Whoever binds needs the pod in a cluster, and here is none.
        loaded = load_test(
            subject, verb="cycle", entry={"bindVerb": ""}, nodes=nodes, seconds=1, warmup_seconds=0.3, **model
        )
        loaded.assert_in_time()


@pytest.mark.regression
def test_regression(regress: Callable[..., JudgedRegression], subjects: list[str], pytestconfig: pytest.Config) -> None:
    """No extender is slower than that of --sched-base."""
    base = pytestconfig.getoption("--sched-base")
    if base is None:
        pytest.skip("there is nothing to compare with; name it: --sched-base go:DIR@REVISION")
    for subject in subjects:
        regress(base, subject).assert_not_slower()
