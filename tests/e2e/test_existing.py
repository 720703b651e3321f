"""Somebody's own cluster: scenarios run on it as anywhere else, and it is afterwards as it was before."""

import json
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import process
from harness.clock import wait_until
from harness.cluster import kubeconfig
from harness.errors import CommandError
from harness.kube import Kube, names
from harness.record.model import Record
from harness.record.read import read
from tests.e2e.conftest import HARNESS, LASTING, Start, await_end
from tests.processes import PATIENCE_SECONDS, await_gone, parts_of

pytestmark = [pytest.mark.embedded, pytest.mark.xdist_group("existing")]

# What controllers keep writing: leases and events, and of nodes and namespaces' accounts their versions.
RESTLESS = {"Lease", "Event", "Node", "ComponentStatus"}
CORDON = """\
name: cordoned
summary: No pod goes to a node that was cordoned.
nodes: [{count: 3}]
steps:
- {op: updateNodes, names: [node-1], cordon: true, labels: {tier: changed}, addTaints: [{key: k, effect: NoSchedule}]}
- {op: createPods, count: 4, name: "pod-{index}", requests: {cpu: 100m}}
expect: [{kind: onlyOn, nodes: [node-2, node-3]}]
"""


@dataclass(frozen=True)
class Theirs:
    """A cluster that somebody has, with something of theirs on it."""

    kubeconfig: Path
    kube: Kube
    owner: int

    def run(self, *arguments: str, out: Path) -> Record:
        """Run a scenario on it, and return the only record."""
        process.run([*HARNESS, "run", *arguments, *self.options(), "--out", str(out)])
        (path,) = out.iterdir()
        return read(path)

    def options(self) -> list[str]:
        return ["--cluster", "existing", "--kubeconfig", str(self.kubeconfig)]

    def inventory(self) -> set[Any]:
        """Return everything that it holds, each with its version; of nodes what a person sets."""
        found: set[Any] = set()
        for resource in self.kube.resources().values():
            if "list" in resource.verbs and resource.kind not in RESTLESS:
                for item in self.kube.items(resource.path()):
                    head = item["metadata"]
                    found.add((resource.kind, head.get("namespace"), head["name"], head["resourceVersion"]))
        for node in self.kube.items("/api/v1/nodes"):
            spec = {key: node["spec"].get(key) for key in ("taints", "unschedulable")}
            found.add(
                ("Node", node["metadata"]["name"], json.dumps([node["metadata"]["labels"], spec], sort_keys=True))
            )
        return found


def _up(state: Path, nodes: int) -> Theirs:
    env = {"HARNESS_STATE": str(state)}
    facts = json.loads(process.run([*HARNESS, "up", "--nodes", str(nodes), "--json"], env=env))
    return Theirs(Path(facts["kubeconfig"]), Kube.connect(Path(facts["kubeconfig"])), facts["owner"])


@pytest.fixture(scope="module")
def theirs() -> Iterator[Theirs]:
    """Somebody's cluster with three nodes; they have a pod and a namespace of their own."""
    state = Path(tempfile.mkdtemp(prefix="h"))
    try:
        cluster = _up(state, 3)
        cluster.kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
        cluster.kube.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs"}}, "team")
        wait_until(
            lambda: len(cluster.kube.items("/api/v1/namespaces/team/serviceaccounts")) == 1,
            what="the account of their namespace",
            timeout_seconds=PATIENCE_SECONDS,
        )
        yield cluster
        cluster.kube.close()
    finally:
        process.run([*HARNESS, "down", "--all"], env={"HARNESS_STATE": str(state)})
        shutil.rmtree(state, ignore_errors=True)


VARIANTS = {
    "default": (),
    "extender": ("--extender", "ref:pass-through"),
    "second-scheduler": ("--allow-cluster-wide",),
    "controller": (),
}


@pytest.mark.parametrize("chosen", VARIANTS)
def test_a_scenario_runs_and_leaves_the_cluster_as_it_was(
    chosen: str, theirs: Theirs, tmp_path: Path, state: Path
) -> None:
    before = theirs.inventory()
    record = theirs.run("twenty-pause", "--variant", chosen, *VARIANTS[chosen], out=tmp_path / "runs")
    assert theirs.inventory() == before
    assert list((state / "clusters").iterdir()) == []
    assert (record.meta.cluster, record.meta.extra["context"]) == ("existing", "harness")
    assert {pod.namespace for pod in record.pods} == {"default"}
    assert len(record.pods) == 20
    if chosen == "extender":
        assert {call.pod.partition("/")[0] for call in record.calls if call.pod} == {"default"}
        assert len(record.calls) == 40
    _tells_nothing(record.path, theirs)


def _tells_nothing(record: Path, theirs: Theirs) -> None:
    """Check that nothing in a record says where the cluster is, or how things are called there."""
    server = yaml.safe_load(theirs.kubeconfig.read_text())["clusters"][0]["cluster"]["server"].removeprefix("https://")
    for path in record.rglob("*"):
        if path.is_file() and path.suffix != ".zst":
            text = path.read_text()
            assert server not in text, path
            assert not re.search(r"\bh-[0-9a-f]{8}\b", text), path


def test_what_is_in_no_namespace_needs_a_word(theirs: Theirs, tmp_path: Path, state: Path) -> None:
    before = theirs.inventory()
    with pytest.raises(CommandError, match="ClusterRoleBinding my-scheduler-as-kube-scheduler") as caught:
        theirs.run("twenty-pause", "--variant", "second-scheduler", out=tmp_path / "runs")
    assert caught.value.command_exit_code == 2
    assert "--allow-cluster-wide" in caught.value.output
    scenario = tmp_path / "cordoned.yaml"
    scenario.write_text(CORDON)
    with pytest.raises(CommandError, match="Node node-1: changing it needs --allow-cluster-wide"):
        theirs.run(str(scenario), out=tmp_path / "more")
    assert theirs.inventory() == before
    theirs.run(str(scenario), "--allow-cluster-wide", out=tmp_path / "allowed")
    assert theirs.inventory() == before


def test_missing_rights_are_named_before_anything_is_done(theirs: Theirs, tmp_path: Path, state: Path) -> None:
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "poor"}}
    theirs.kube.create(account, "team")
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    path = "/api/v1/namespaces/team/serviceaccounts/poor"
    token = theirs.kube.request("POST", f"{path}/token", body=body)["status"]["token"]
    poor = kubeconfig.with_token(theirs.kubeconfig, tmp_path / "poor", token)
    before = theirs.inventory()
    with pytest.raises(CommandError, match='context "harness": you may not ') as caught:
        process.run([*HARNESS, "run", "twenty-pause", "--cluster", "existing", "--kubeconfig", str(poor)])
    assert caught.value.command_exit_code == 2
    for missing in ("create namespaces", "list nodes", "watch pods", "kind: ClusterRole"):
        assert missing in caught.value.output
    assert token not in caught.value.output
    assert theirs.inventory() == before
    theirs.kube.delete(path)


def test_what_looks_like_production_is_refused_unless_it_is_meant(theirs: Theirs, tmp_path: Path, state: Path) -> None:
    document = yaml.safe_load(theirs.kubeconfig.read_text())
    document["contexts"][0]["name"] = document["current-context"] = "eu-prod"
    file = kubeconfig.save(tmp_path / "config", document)
    command = [*HARNESS, "run", "twenty-pause", "--cluster", "existing", "--out", str(tmp_path / "runs")]
    env = {"KUBECONFIG": str(file)}
    with pytest.raises(CommandError, match='context "eu-prod" looks like production: its name has "prod"') as caught:
        process.run(command, env=env)
    assert caught.value.command_exit_code == 2
    process.run([*command, "--yes"], env=env)


def _own(theirs: Theirs) -> list[str]:
    return names(theirs.kube.items("/api/v1/namespaces", selector="scheduler-harness.io/run"))


def _lasting(theirs: Theirs, start: Start, folder: Path, *options: str) -> process.Child:
    folder.mkdir(exist_ok=True)
    scenario, runs = folder / "lasting.yaml", folder / "runs"
    scenario.write_text(LASTING)
    child = start("run", scenario, "--out", runs, *theirs.options(), *options)

    def is_pending() -> bool:
        assert not child.ended.is_set(), child.tail()
        return any(b"Unschedulable" in path.read_bytes() for path in runs.glob("*/pods.jsonl"))

    wait_until(is_pending, what="a pending pod in the record", timeout_seconds=2 * PATIENCE_SECONDS)
    return child


def test_kill_9_is_cleaned_up_by_the_next_one_who_cleans_and_others_stay(
    theirs: Theirs, tmp_path: Path, start: Start, state: Path
) -> None:
    before = theirs.inventory()
    other = {"name": "h-00000000-default", "labels": {"scheduler-harness.io/run": "00000000"}}
    theirs.kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": other})
    child = _lasting(theirs, start, tmp_path)
    os.kill(child.pid, signal.SIGKILL)
    await_end(child)
    (left,) = [name for name in _own(theirs) if name != other["name"]]
    told = process.run([*HARNESS, "clean"])
    assert f'removed namespace {left} of context "harness"' in told
    assert "removed what was left of c" in told
    assert _own(theirs) == [other["name"]]
    assert process.run([*HARNESS, "clean"]) == "nothing was left behind\n"
    theirs.kube.delete(f"/api/v1/namespaces/{other['name']}")
    wait_until(lambda: not _own(theirs), what="the end of theirs", timeout_seconds=PATIENCE_SECONDS)
    assert theirs.inventory() == before


def test_an_interrupted_run_leaves_nothing(theirs: Theirs, tmp_path: Path, start: Start, state: Path) -> None:
    before = theirs.inventory()
    child = _lasting(theirs, start, tmp_path)
    os.kill(child.pid, signal.SIGINT)
    await_end(child)
    assert theirs.inventory() == before
    assert list((state / "clusters").iterdir()) == []


def test_what_cannot_be_reached_any_more_is_left_for_later(
    theirs: Theirs, tmp_path: Path, start: Start, state: Path
) -> None:
    child = _lasting(theirs, start, tmp_path)
    os.kill(child.pid, signal.SIGKILL)
    await_end(child)
    (folder,) = (state / "clusters").iterdir()
    file = folder / "existing.kubeconfig"
    right = file.read_text()
    file.write_text(re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:9", right))
    assert "could not be removed, and is tried again next time" in process.run([*HARNESS, "clean"])
    assert _own(theirs)
    file.write_text(right)
    assert "removed namespace" in process.run([*HARNESS, "clean"])
    assert not _own(theirs)


def _await_controllers(kube: Kube) -> None:
    """Wait until new namespaces get their ServiceAccount: a cluster is up before its controllers are."""
    kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "controllers-at-work"}})
    accounts = "/api/v1/namespaces/controllers-at-work/serviceaccounts"
    wait_until(lambda: list(kube.items(accounts)), what="a ServiceAccount", timeout_seconds=PATIENCE_SECONDS)


def test_nodes_of_the_harness_are_played_by_its_own_kwok_and_go_after_kill_9_too(
    tmp_path: Path, start: Start, state: Path
) -> None:
    bare = _up(state, 0)
    try:
        _await_controllers(bare.kube)
        # Without the one that plays every node of an embedded cluster, only ours can.
        kwok = parts_of(bare.owner)["kwok"]
        os.kill(kwok, signal.SIGKILL)
        await_gone([kwok])
        with pytest.raises(CommandError, match="adding them needs --allow-cluster-wide too"):
            bare.run("twenty-pause", "--kwok-nodes", out=tmp_path / "none")
        with pytest.raises(CommandError, match="the cluster has 0 that take pods") as caught:
            bare.run("twenty-pause", out=tmp_path / "few")
        assert "--kwok-nodes --allow-cluster-wide" in caught.value.output
        before = bare.inventory()
        record = bare.run(
            "twenty-pause", "--variant", "extender", "--kwok-nodes", "--allow-cluster-wide", out=tmp_path / "runs"
        )
        assert bare.inventory() == before
        assert {node.name for node in record.nodes} == {"node-1", "node-2", "node-3"}
        assert "scheduler-harness.io" not in (record.path / "nodes.jsonl").read_text()
        # Whoever was killed could not take its nodes away: the next run does, and then adds some of the same names.
        child = _lasting(bare, start, tmp_path / "killed", "--kwok-nodes", "--allow-cluster-wide")
        os.kill(child.pid, signal.SIGKILL)
        await_end(child)
        assert bare.inventory() != before
        bare.run("twenty-pause", "--kwok-nodes", "--allow-cluster-wide", out=tmp_path / "next")
        assert bare.inventory() == before
        # A scheduler counts every node of the cluster when it says why a pod waits.
        bare.kube.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "somebody-elses"}})
        record = bare.run("too-big", "--kwok-nodes", "--allow-cluster-wide", out=tmp_path / "beside")
        assert "0/4 nodes are available" in (record.path / "pods.jsonl").read_text()
    finally:
        bare.kube.close()
        process.run([*HARNESS, "down", "--all"])
