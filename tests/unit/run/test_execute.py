import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.cluster.base import ClusterSpec
from harness.errors import ClusterError, NoSuchPage, RunError, StepError
from harness.expect.judge import judge
from harness.record.read import read
from harness.run.execute import RunRequest, execute
from harness.scenario.model import Scenario
from harness.testing import FakeCluster, FakeProvider, FakeScheduler
from harness.variant.base import Installed
from harness.variant.default import DefaultVariant
from tests.unit.run.given import scenario

PODS = {"op": "createPods", "count": 3}
NODES = [{"count": 2}]


class Bench:
    """A fake cluster with the default variant installed."""

    def __init__(self, folder: Path, cluster: FakeCluster, installed: Installed) -> None:
        self.runs = folder / "runs"
        self.cluster = cluster
        self.installed = installed
        self.told: list[str] = []

    def run(self, made: Scenario, seed: int = 0, cluster: Any = None) -> Path:
        request = RunRequest(made, seed, self.runs, "fake", ["harness", "run"], 1.5)
        return execute(request, cluster or self.cluster, self.installed, self.told.append)

    def only_record(self) -> Path:
        (path,) = self.runs.iterdir()
        return path

    def meta(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.only_record() / "run.json").read_text())
        return found

    def steps(self) -> list[tuple[str, str]]:
        lines = (self.only_record() / "steps.jsonl").read_text().splitlines()
        return [(step["op"], step["phase"]) for step in map(json.loads, lines)]


@pytest.fixture
def bench(tmp_path: Path) -> Any:
    with (
        FakeProvider(tmp_path / "clusters").cluster(ClusterSpec()) as cluster,
        DefaultVariant().install(cluster) as installed,
    ):
        yield Bench(tmp_path, cluster, installed)


def test_a_run_leaves_a_complete_record_that_is_judged(bench: Bench) -> None:
    expect: list[dict[str, Any]] = [{"kind": "count", "running": 3}, {"kind": "distribution", "counts": [2, 1]}]
    record = read(bench.run(scenario(PODS, nodes=NODES, expect=expect), seed=7))
    assert all(verdict.ok for verdict in judge(record))
    assert record.meta.status == "finished"
    assert record.meta.settled
    assert record.meta.seed == 7
    assert record.meta.command == ("harness", "run")
    assert record.meta.ready_seconds == 1.5
    assert {"kubernetes", "harness", "python"} <= record.meta.versions.keys()
    assert {"id", "cores", "memory_bytes"} <= record.meta.machine.keys()
    files = {path.relative_to(record.path).as_posix() for path in record.path.rglob("*") if path.is_file()}
    assert files >= {
        "run.json",
        "inputs/scenario.json",
        "inputs/scenario.yaml",
        "scheduler-config.yaml",
        "metrics-before.txt",
        "metrics-after.txt",
        "steps.jsonl",
        "pods.jsonl",
        "nodes.jsonl",
    }
    assert bench.told == ["made[default]: step 1, createPods", "made[default]: step 2, settle"]


def test_a_last_settle_is_implied_and_not_repeated(bench: Bench) -> None:
    bench.run(scenario(PODS, {"op": "settle"}, nodes=NODES))
    assert bench.steps() == [("createPods", "start"), ("createPods", "end"), ("settle", "start"), ("settle", "end")]


def test_a_step_that_is_refused_ends_the_run_with_its_place_and_keeps_the_record(bench: Bench) -> None:
    made = scenario(PODS, {"op": "scale", "name": "nobody", "replicas": 1}, {"op": "settle"}, nodes=NODES)
    with pytest.raises(StepError, match=r"made\.yaml: step 2 \(scale\): .*404") as caught:
        bench.run(made)
    assert caught.value.__notes__ == [f"What was seen until then: {bench.only_record()}"]
    assert bench.steps()[-1] == ("scale", "error")
    assert bench.meta()["status"] == "failed"
    assert "nobody" in bench.meta()["error"]
    assert not bench.meta()["settled"]
    assert len(read(bench.only_record()).pods) == 3


def test_a_lost_part_ends_the_run(bench: Bench) -> None:
    bench.cluster.lose("etcd exited with code 1")
    with pytest.raises(ClusterError, match="lost a part: etcd exited with code 1") as caught:
        bench.run(scenario(PODS, nodes=NODES))
    assert any("step 2 (settle)" in note for note in caught.value.__notes__)
    assert bench.meta()["status"] == "failed"


def test_an_interrupted_run_is_marked_as_failed(bench: Bench) -> None:
    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    request = RunRequest(scenario(PODS, nodes=NODES), 0, bench.runs, "fake")
    with pytest.raises(KeyboardInterrupt):
        execute(request, bench.cluster, bench.installed, interrupt)
    assert bench.meta()["status"] == "failed"
    assert bench.meta()["error"] == "interrupted: KeyboardInterrupt"


def test_what_never_settles_stops_the_run_and_is_named(bench: Bench) -> None:
    lonely = {"op": "createPods", "count": 1, "name": "lonely", "spec": {"schedulerName": "nobody"}}
    made = scenario(lonely, {"op": "settle", "timeoutSeconds": 0.1}, PODS, nodes=NODES)
    record = read(bench.run(made))
    assert not record.meta.settled
    assert record.meta.unsettled[0].startswith("pod lonely: no scheduler has looked at it")
    assert record.meta.warnings == (
        "pods will ask for nobody, but the schedulers here serve default-scheduler",
        "stopped at step 2 (settle): it did not settle",
    )
    assert [pod.name for pod in record.pods] == ["lonely"]
    assert [verdict.kind for verdict in judge(record) if not verdict.ok] == ["settled"]


def test_observing_goes_on_for_what_has_to_stay_pending(bench: Bench) -> None:
    expect = [{"kind": "staysPending", "pods": ["pod-1"], "seconds": 0.5}]
    record = read(bench.run(scenario(PODS, expect=expect)))
    assert record.meta.observed_seconds is not None
    assert record.meta.observed_seconds >= 0.5
    assert all(verdict.ok for verdict in judge(record))


def test_nodes_cannot_be_declared_on_a_cluster_that_has_real_ones(bench: Bench) -> None:
    real = SimpleNamespace(name="kind-1", kube=bench.cluster.kube, versions={}, check=lambda: None)
    with pytest.raises(StepError, match='declares nodes, but cluster "kind-1" has real ones'):
        bench.run(scenario(PODS, nodes=NODES), cluster=real)


def test_a_node_that_dies_is_a_verdict_and_no_error(bench: Bench) -> None:
    def lose_a_node(told: str) -> None:
        if "step 3" in told:
            bench.cluster.lose_node("node-2")

    made = scenario(PODS, {"op": "settle"}, {**PODS, "name": "late-{index}"}, {"op": "settle"}, PODS, nodes=NODES)
    request = RunRequest(made, 0, bench.runs, "fake")
    record = read(execute(request, bench.cluster, bench.installed, lose_a_node))
    assert (record.meta.status, record.meta.error, record.meta.settled) == ("finished", None, False)
    assert (record.meta.deaths, record.meta.node_deaths) == ((), ("node node-2 is gone",))
    assert record.meta.observed_seconds is not None
    assert len(record.pods) == 6, "what comes after the death was noticed is not carried out"
    assert [verdict.kind for verdict in judge(record) if not verdict.ok] == ["nodesAlive"]


def test_a_node_that_dies_while_only_watching_is_a_verdict_too(bench: Bench) -> None:
    def lose_a_node(told: str) -> None:
        if "step 2" in told:
            bench.cluster.lose_node("node-1")

    made = scenario(PODS, nodes=NODES, expect=[{"kind": "staysPending", "pods": ["pod-1"], "seconds": 30}])
    record = read(execute(RunRequest(made, 0, bench.runs, "fake"), bench.cluster, bench.installed, lose_a_node))
    assert record.meta.node_deaths == ("node node-1 is gone",)


def test_metrics_that_cannot_be_read_are_a_warning(bench: Bench) -> None:
    def gone(path: str) -> str:
        raise NoSuchPage("no answer")

    scheduler: Any = SimpleNamespace(log=Path("x"), config="{}", page=gone, cpu_seconds=lambda: None)
    bench.installed = Installed("default", {"default-scheduler": scheduler}, bench.installed.config)
    record = read(bench.run(scenario(PODS, nodes=NODES)))
    assert [warning.split(":")[0] for warning in record.meta.warnings] == ["metrics-before.txt", "metrics-after.txt"]


def test_manifests_are_kept_as_they_were_given(bench: Bench) -> None:
    manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: $name}\n"
    step = {"op": "create", "file": "manifests/c.yaml"}
    made = scenario(step, manifests={"manifests/c.yaml": manifest}, parameters={"name": "c"})
    assert (bench.run(made) / "inputs" / "manifests" / "c.yaml").read_text() == manifest


def test_logs_of_the_runs_own_time_are_kept(bench: Bench, tmp_path: Path) -> None:
    log = tmp_path / "part.log"
    log.write_text("before\n")
    cluster = bench.cluster
    cluster.logs = {"part": log}  # type: ignore[attr-defined]

    def work(_: str) -> None:
        with log.open("a") as stream:
            stream.write("during\n")

    path = execute(RunRequest(scenario(PODS, nodes=NODES), 0, bench.runs, "fake"), cluster, bench.installed, work)
    assert (path / "logs" / "part.log").read_text() == "during\nduring\n"


def test_a_borrowed_cluster_is_told_in_the_scenarios_words(bench: Bench, tmp_path: Path) -> None:
    log = tmp_path / "part.log"
    log.touch()
    cluster: Any = bench.cluster
    cluster.logs = {"part": log}
    cluster.context = "lab"
    expected: list[list[str]] = []
    cluster.expect = expected.append
    cluster.told = lambda text: text.replace("h-1-", "")

    def work(_: str) -> None:
        with log.open("a") as stream:
            stream.write("h-1-default/pod at work\n")
        raise RunError("h-1-default/pod is lost")

    request = RunRequest(scenario(PODS, nodes=NODES), 0, bench.runs, "existing")
    with pytest.raises(RunError):
        execute(request, cluster, bench.installed, work)
    assert (bench.meta()["context"], bench.meta()["error"]) == ("lab", "default/pod is lost")
    assert expected == [["node-1", "node-2"]]
    assert (bench.only_record() / "logs" / "part.log").read_text() == "default/pod at work\n"


class Mute(FakeScheduler):
    """A scheduler whose pages are not for us."""

    def page(self, path: str) -> str:
        raise ClusterError(f"{path}: not reached from here")


def test_the_scheduler_that_a_cluster_runs_itself_is_not_asked_for_its_queues(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Mute(bench.cluster.kube, bench.installed.schedulers["default-scheduler"].config, bench.cluster.folder / "own")
    installed = replace(bench.installed, schedulers={"default-scheduler": own})
    made = scenario(PODS, nodes=NODES)
    monkeypatch.setattr(bench.cluster, "own_scheduler", own, raising=False)
    settled = read(execute(RunRequest(made, 0, bench.runs, "fake"), bench.cluster, installed))
    assert settled.meta.settled


def test_pods_that_nobody_will_take_are_told_before_they_wait(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[str] = []
    monkeypatch.setattr("harness.progress.note", noted.append)
    pods = {**PODS, "spec": {"schedulerName": "nobody"}}
    bench.run(scenario(pods, {"op": "settle", "timeoutSeconds": 0.1}, nodes=NODES))
    told = "pods will ask for nobody, but the schedulers here serve default-scheduler"
    assert noted == [f"made: {told}"]
    assert told in bench.meta()["warnings"]
