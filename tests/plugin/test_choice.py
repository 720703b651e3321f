"""The cluster that pytest's options choose."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.conftest import QUICK, write

# Asked while the tests are collected: no cluster is needed to know which one would be wanted.
TELLS = """
import dataclasses, json, pathlib
import pytest

@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session):
    from harness.pytest_plugin.choice import cluster_spec
    worker = getattr(session.config, "workerinput", {}).get("workerid", "")
    pathlib.Path(f"spec{worker}.json").write_text(json.dumps(dataclasses.asdict(cluster_spec(session)), default=str))
"""


def spec(pytester: pytest.Pytester, *arguments: str) -> dict[str, Any]:
    pytester.makeconftest(TELLS)
    result = pytester.runpytest_subprocess(*QUICK, "-W", "error", "--collect-only", "-q", *arguments, timeout=300)
    assert result.ret in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    read: dict[str, Any] = json.loads((pytester.path / "spec.json").read_text())
    return read


def test_without_options_nothing_is_chosen_but_room_for_the_largest_scenario(
    pytester: pytest.Pytester, folder: Path
) -> None:
    write(folder, "two")
    write(folder, "more", more="sizes:\n- {name: small}\n")
    (folder / "five.yaml").write_text((folder / "two.yaml").read_text().replace("count: 2", "count: 5"))
    got = spec(pytester, "--sched-variant", "default")
    assert got["nodes"] == 5
    assert (got["name"], got["kubernetes"], got["binaries"], got["kubeconfig"]) == (None, None, None, None)
    assert not any(got["existing"].values())
    assert (got["kind"]["workers"], got["kind"]["config"], got["kind"]["keep"]) == (None, None, False)


def test_tests_that_run_no_scenario_ask_for_no_nodes(pytester: pytest.Pytester, folder: Path) -> None:
    (folder / "test_it.py").write_text("def test_own():\n    pass\n")
    assert spec(pytester)["nodes"] == 0


def test_every_option_counts_also_those_of_pytest_kind(pytester: pytest.Pytester, folder: Path) -> None:
    write(folder, "one")
    kind = ("--cluster-name", "mine", "--keep-cluster", "--kind-image", "node:1", "--kind-bin", "/bin/kind")
    ours = ("--sched-workers", "4", "--kind-config", "more.yaml", "--sched-kubernetes", "1.34")
    there = ("--kubeconfig", "/some/config", "--context", "there", "--allow-cluster-wide", "--kwok-nodes", "--yes")
    got = spec(pytester, *kind, *ours, *there, "--sched-controlplane-bin", "/built")
    assert got["kind"] == {
        "image": "node:1",
        "program": "/bin/kind",
        "config": "more.yaml",
        "workers": 4,
        "keep": True,
    }
    assert got["existing"] == {
        "context": "there",
        "allow_cluster_wide": True,
        "kwok_nodes": True,
        "confirmed": True,
    }
    assert (got["name"], got["kubeconfig"], got["binaries"]) == ("mine", "/some/config", "/built")


def test_pytest_kind_may_be_switched_off(pytester: pytest.Pytester, folder: Path) -> None:
    write(folder, "one")
    got = spec(pytester, "-p", "no:pytest-kind", "--sched-workers", "2")
    assert got["kind"]["workers"] == 2
    assert (got["name"], got["kind"]["image"], got["kubeconfig"]) == (None, None, None)


@pytest.mark.parametrize(
    ("cluster", "files"),
    [("kind", {"some/config-gw0", "some/config-gw1"}), ("existing", {"some/config"}), ("embedded", {"some/config"})],
)
def test_workers_share_neither_a_name_nor_a_file_that_is_written(
    cluster: str, files: set[str], pytester: pytest.Pytester, folder: Path
) -> None:
    (folder / "test_it.py").write_text("def test_own():\n    pass\n")
    pytester.makeconftest(TELLS)
    chosen = ("--sched-cluster", cluster, "--cluster-name", "mine", "--kubeconfig", "some/config")
    result = pytester.runpytest_subprocess(*QUICK, "-W", "error", "-n", "2", *chosen, timeout=300)
    result.assert_outcomes(passed=1)
    told = [json.loads((folder / f"spec{worker}.json").read_text()) for worker in ("gw0", "gw1")]
    assert [one["name"] for one in told] == ["mine-gw0", "mine-gw1"]
    assert {one["kubeconfig"] for one in told} == files


def test_workers_are_not_told_names_that_nobody_gave(pytester: pytest.Pytester, folder: Path) -> None:
    (folder / "test_it.py").write_text("def test_own():\n    pass\n")
    pytester.makeconftest(TELLS)
    result = pytester.runpytest_subprocess(*QUICK, "-W", "error", "-n", "1", "--sched-cluster", "kind", timeout=300)
    result.assert_outcomes(passed=1)
    told = json.loads((folder / "specgw0.json").read_text())
    assert (told["name"], told["kubeconfig"]) == (None, None)
