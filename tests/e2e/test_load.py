"""Loads of extenders that look into a cluster."""

import json
from pathlib import Path

import pytest

from harness.cli.main import main
from harness.cluster.embedded.cluster import EmbeddedCluster
from harness.scenario.nodes import NodeSpec

pytestmark = pytest.mark.embedded


def _load(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, list[dict[str, int]]]]:
    with pytest.raises(SystemExit) as left:
        main(["load", "ref:spread", "--verb", "prioritize", "--duration", "0.5", "--json", *arguments])
    return int(left.value.code or 0), json.loads(capsys.readouterr().out)


def _add_nodes(cluster: EmbeddedCluster, count: int) -> None:
    names = [f"node-{number}" for number in range(1, count + 1)]
    cluster.add_nodes([NodeSpec(name, "4", "8Gi", 110, {}, (), {}) for name in names])


def test_the_nodes_of_a_cluster_are_sent_and_the_extender_may_look_into_it(
    cluster: EmbeddedCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _add_nodes(cluster, 4)
    code, told = _load(capsys, "--nodes-of", cluster.name, "--out", str(tmp_path))
    [result] = told["results"]
    assert (code, result["nodes"], result["errors"]) == (0, 4, 0)
    assert result["requests"] > 0


def test_a_kubeconfig_gives_its_nodes_and_is_not_passed_on(
    cluster: EmbeddedCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _add_nodes(cluster, 1)
    code, told = _load(capsys, "--nodes-of", str(cluster.kubeconfig), "--out", str(tmp_path))
    [result] = told["results"]
    assert (code, result["nodes"]) == (1, 1)
    assert result["errors"] == result["requests"] > 0
