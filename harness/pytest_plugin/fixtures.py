"""The fixtures. Each one makes one change and undoes it; the cluster is shared by a worker's whole session."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.errors import HarnessError
from harness.pytest_plugin.collect import Broken

if TYPE_CHECKING:
    from harness.cluster.base import Cluster
    from harness.pytest_plugin.judged import JudgedRun
    from harness.run.session import Session
    from harness.scenario.model import Scenario
    from harness.variant.base import Installed

RUNS: pytest.StashKey[list["JudgedRun"]] = pytest.StashKey()


@contextlib.contextmanager
def told_in_its_own_words() -> Iterator[None]:
    """Let trouble before a test be told without the lines of the harness: they say nothing to whom it happens."""
    try:
        yield
    except HarnessError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


def trouble_of(error: BaseException | None) -> HarnessError | None:
    """Return the error of the harness that a test ended with, also one that was told in its own words."""
    if isinstance(error, pytest.fail.Exception):
        error = error.__context__
    return error if isinstance(error, HarnessError) else None


@pytest.fixture(scope="session")
def sched_session(request: pytest.FixtureRequest) -> "Iterator[Session]":
    """The cluster of this worker and what is installed on it; brought up when first used."""
    from harness.paths import runs_folder  # noqa: PLC0415 - loaded only where a cluster is used
    from harness.pytest_plugin.choice import cluster_spec  # noqa: PLC0415
    from harness.run.brought import Brought, bring  # noqa: PLC0415
    from harness.run.session import Session  # noqa: PLC0415

    option = request.config.getoption
    runs = Path(option("--sched-runs") or request.config.rootpath / runs_folder())
    config = option("--sched-scheduler-config")
    manifest = option("--sched-manifest")
    more = Brought(
        manifest=Path(manifest) if manifest else None,
        scheduler=option("--sched-scheduler"),
        plugins=tuple(option("--sched-plugin")),
        controller=option("--sched-controller"),
    )
    arguments = tuple(request.config.invocation_params.args)
    with contextlib.ExitStack() as stack:
        with told_in_its_own_words():
            mine = bring(
                option("--extender") or (), option("--sched-entry"), Path(config) if config else None, more=more
            )
            spec = cluster_spec(request.session)
            session = stack.enter_context(Session(option("--sched-cluster"), spec, runs, arguments, mine))
        yield session


@pytest.fixture
def cluster(sched_session: "Session") -> "Cluster":
    """An empty cluster; what the test creates on it is gone before the next test."""
    with told_in_its_own_words():
        sched_session.empty()
        sched_session.touch()
        return sched_session.cluster


@pytest.fixture
def variant(request: pytest.FixtureRequest, sched_session: "Session") -> "Installed":
    """The scheduler variant under test, installed and proven active."""
    with told_in_its_own_words():
        return sched_session.install(request.param)


@pytest.fixture
def run_scenario(
    request: pytest.FixtureRequest, sched_session: "Session", variant: "Installed"
) -> "Callable[..., JudgedRun]":
    """A function that runs a scenario (a path, a name or a loaded one) and returns what happened, judged."""
    from harness.pytest_plugin.judged import run_and_judge  # noqa: PLC0415 - see above

    runs = request.node.stash.setdefault(RUNS, [])

    def run(scenario: "str | Path | Scenario", size: str | None = None, seed: int | None = None) -> "JudgedRun":
        __tracebackhide__ = True
        chosen_seed = request.config.getoption("--sched-seed") if seed is None else seed
        if isinstance(scenario, str | Path) and (request.path.parent / scenario).exists():
            scenario = request.path.parent / scenario
        roots = [request.config.rootpath / "scenarios"]
        judged = run_and_judge(sched_session, scenario, variant.variant, size=size, seed=chosen_seed, roots=roots)
        runs.append(judged)
        return judged

    return run


@pytest.fixture
def scenario_run(request: pytest.FixtureRequest, run_scenario: "Callable[..., JudgedRun]") -> "JudgedRun":
    """One scenario of the test's folder, carried out: trouble here is an ERROR, what the test rejects a FAILED."""
    case: Any = request.param
    with told_in_its_own_words():
        if isinstance(case, Broken):
            raise case.error
        return run_scenario(case)
