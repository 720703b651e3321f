"""Parallel workers have a cluster each."""

from pathlib import Path

import pytest

from harness.paths import cache_folder

pytestmark = pytest.mark.embedded

# Before pytester moves the home folder: nothing shall be built again.
CACHE = cache_folder()
TESTS = """
import pathlib
import pytest
import yaml
from harness.clock import wait_until

@pytest.mark.parametrize("number", [0, 1])
def test_own_cluster(number, cluster, variant, run_scenario):
    server = yaml.safe_load(cluster.kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
    pathlib.Path(f"server-{number}").write_text(server)
    other = pathlib.Path(f"server-{1 - number}")
    wait_until(other.exists, what="the other worker's cluster", timeout_seconds=60)
    run_scenario("small.yaml").assert_held()
"""
SCENARIO = """\
name: small
summary: Four pods on two nodes.
nodes: [{count: 2}]
steps: [{op: createPods, count: 4}]
expect: [{kind: distribution, counts: [2, 2]}]
"""


def test_two_workers_have_two_clusters_at_once(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(CACHE))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    pytester.makepyfile(test_it=TESTS)
    (pytester.path / "small.yaml").write_text(SCENARIO)
    options = (
        "-p",
        "no:cacheprovider",
        "-p",
        "no:hypothesispytest",
        "-W",
        "error",
        "-n",
        "2",
        "--sched-variant",
        "default",
    )
    result = pytester.runpytest_subprocess(*options, timeout=300)
    result.assert_outcomes(passed=2)
    servers = {(pytester.path / f"server-{number}").read_text() for number in (0, 1)}
    assert len(servers) == 2
    assert len(list((pytester.path / Path("reports/runs")).iterdir())) == 2
