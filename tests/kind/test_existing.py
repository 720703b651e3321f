"""A kind cluster that somebody has already: scenarios run on it, and it is afterwards as it was before."""

import sys
from pathlib import Path

import pytest

from harness import process
from harness.cluster.base import PlaysNodes
from harness.cluster.kind.inventory import inventory
from harness.cluster.reset import Key
from harness.expect.judge import judge
from harness.kube import Kube
from harness.record.read import read
from harness.run.session import Session
from harness.scenario.nodes import NodeGroup

SCENARIO = """\
name: theirs
summary: Four pods run on a cluster that somebody has.
nodes: [{count: 2, cpu: 1, memory: 1Gi}]
steps: [{op: createPods, count: 4}]
expect: [{kind: count, running: 4, total: 4}]
"""


def things(kube: Kube) -> set[Key]:
    """What there is, without Events: kubelets write them all the time."""
    return {key for key in inventory(kube) if not key.resource or key.resource.kind != "Event"}


@pytest.mark.parametrize("chosen", ["default", "controller"])
def test_a_scenario_runs_on_somebodys_kind_cluster(sched_session: Session, tmp_path: Path, chosen: str) -> None:
    sched_session.touch()
    sched_session.empty()
    sched_session.install("default")
    sched_session.touch()
    cluster = sched_session.cluster
    assert isinstance(cluster, PlaysNodes)
    cluster.add_nodes(NodeGroup(count=2, cpu="1", memory="1Gi").expand())
    before = things(cluster.kube)
    scenario, out = tmp_path / "theirs.yaml", tmp_path / "runs"
    scenario.write_text(SCENARIO)
    there = ["--cluster", "existing", "--kubeconfig", str(cluster.kubeconfig), "--variant", chosen]
    process.run([sys.executable, "-m", "harness.cli.main", "run", str(scenario), *there, "--out", str(out)])
    assert things(cluster.kube) == before
    (path,) = out.iterdir()
    record = read(path)
    assert record.meta.cluster == "existing"
    assert [verdict.sentence() for verdict in judge(record) if not verdict.ok] == []
