"""A cluster to explore by hand: up, list, kubeconfig, down."""

import json
import re
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness import process
from harness.errors import CommandError
from harness.kube import Kube, names
from tests.e2e.conftest import HARNESS, PARTS
from tests.processes import await_gone, is_gone, parts_of

pytestmark = pytest.mark.embedded


def harness(*arguments: str) -> str:
    return process.run([*HARNESS, *arguments])


def listed() -> dict[str, Any]:
    (cluster,) = json.loads(harness("list", "--json"))
    return dict(cluster)


def test_a_cluster_stays_until_it_is_told_to_go(state: Path) -> None:
    told = harness("up", "--name", "mine", "--nodes", "2")
    assert "cluster mine is up: Kubernetes 1." in told
    assert '"harness down mine" ends it' in told

    cluster = listed()
    owner = cluster["owner"]
    parts = parts_of(owner)
    assert not is_gone(owner)
    assert parts.keys() == PARTS
    assert (cluster["name"], cluster["state"], cluster["processes"]) == ("mine", "up", len(PARTS))
    resident = sum(psutil.Process(pid).memory_info().rss for pid in parts.values()) / 2**20
    assert cluster["memory_mib"] == pytest.approx(resident, rel=0.5)
    assert f"export KUBECONFIG={cluster['kubeconfig']}" in told
    # Cells are two spaces apart or more, and no cell before the kubeconfig has any within.
    head, _, row = (re.split(r"\s{2,}", line.strip()) for line in harness("list").splitlines())
    assert int(row[head.index("memory MiB")]) == pytest.approx(cluster["memory_mib"], rel=0.5)

    kube = Kube.connect(Path(cluster["kubeconfig"]))
    try:
        assert names(kube.items("/api/v1/nodes")) == ["node-1", "node-2"]
    finally:
        kube.close()

    with pytest.raises(CommandError, match='cluster "mine" runs already') as caught:
        harness("up", "--name", "mine")
    assert caught.value.command_exit_code == 2
    assert harness("clean") == "nothing was left behind\n"

    assert harness("down") == "cluster mine is down\n"
    await_gone([owner, *parts.values()])
    assert list((state / "clusters").iterdir()) == []
    assert harness("list") == "no cluster is up\n"
