"""Runs with real extenders and taps behind a fake scheduler; the calls it does not make are made by hand."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.cluster.embedded.releases import release
from harness.errors import ClusterError, SchedulerDied, StepError
from harness.expect.judge import judge
from harness.extender.cassette import file as cassette
from harness.record.read import read
from harness.run.execute import RunRequest, execute
from harness.scenario.extenders import ExtenderSpec
from harness.scenario.model import Scenario
from harness.testing import FakeCluster
from harness.variant.base import Installed, Setup
from harness.variant.extender import ExtenderVariant
from tests.processes import await_gone
from tests.unit.extender.asking import answer, ask
from tests.unit.run.given import scenario

pytestmark = pytest.mark.usefixtures("built_tap")

PODS = {"op": "createPods", "count": 2}
NODES = [{"count": 2}]


class Mortal(FakeCluster):
    """A cluster whose scheduler can die."""

    death: str | None = None

    def check(self) -> None:
        super().check()
        if self.death:
            raise SchedulerDied(self.death)


class Bench:
    """A cluster with an extender behind its scheduler; `at` tells what happens before a step."""

    def __init__(self, folder: Path, cluster: Mortal, installed: Installed) -> None:
        self.runs = folder / "runs"
        self.cluster = cluster
        self.installed = installed
        self.at: dict[int, Any] = {}

    @property
    def extender(self) -> Any:
        assert self.installed.traffic
        return self.installed.traffic.extenders[0]

    def run(self, *steps: Any, seed: int = 0, **more: Any) -> Path:
        made = scenario(*(steps or (PODS,)), nodes=NODES, **more)
        return self.run_made(made, seed)

    def run_made(self, made: Scenario, seed: int = 0) -> Path:
        numbers = iter(range(1, 100))

        def report(_: str) -> None:
            self.at.get(next(numbers), lambda: None)()

        return execute(RunRequest(made, seed, self.runs, "fake"), self.cluster, self.installed, report)

    def kill_extender(self) -> None:
        pid = self.extender.running.processes()[0].pid
        psutil.Process(pid).kill()
        await_gone([pid])


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    cluster = Mortal(folder)
    setup = Setup((ExtenderSpec(subject="ref:pass-through", name="mine"),))
    with ExtenderVariant().install(cluster, setup) as installed:
        yield Bench(tmp_path, cluster, installed)


def test_the_traffic_of_a_run_is_part_of_its_record(bench: Bench) -> None:
    bench.at[2] = lambda: answer(bench.extender)
    record = read(bench.run(seed=3))
    assert record.meta.warnings == ()
    (call,) = record.calls
    assert (call.extender, call.kind, call.status) == ("mine", "filter", 200)
    assert 0 < call.t < (record.meta.observed_seconds or 0)
    (told,) = record.extenders
    assert (told.name, told.subject, told.tapped) == ("mine", "ref:pass-through", True)
    taped = cassette.read(record.path)
    assert (taped.header["scenario"], taped.header["kubernetes"]) == ("made", release(None).version)
    assert [one.kind for one in taped.calls] == ["filter"]
    logs = {path.name for path in (record.path / "logs").iterdir()}
    assert {"extender-mine.log", "tap-mine.log"} <= logs
    assert all(verdict.ok for verdict in judge(record))


def test_steps_about_extenders_are_carried_out_and_noted(bench: Bench) -> None:
    seen = []
    bench.at[2] = bench.at[4] = lambda: seen.append(ask(bench.extender).status)
    fault = {"op": "fault", "kind": "status", "status": 503}
    path = bench.run(fault, PODS, {"op": "clearFaults"}, {"op": "settle"})
    assert seen == [503, 200]
    steps = [json.loads(line) for line in (path / "steps.jsonl").read_text().splitlines()]
    details = {step["op"]: step["detail"] for step in steps if step["phase"] == "end"}
    assert details["fault"] == {"extenders": ["mine"], "kind": "status"}
    assert details["clearFaults"] == {"extenders": ["mine"]}
    assert [call.fault for call in read(path).calls] == ["status 503", None]


def test_calls_that_have_come_are_awaited(bench: Bench) -> None:
    bench.at[2] = lambda: answer(bench.extender)
    record = read(bench.run(PODS, {"op": "await", "calls": 1, "verb": "filter"}))
    assert record.meta.settled


def test_calls_that_never_come_stop_the_run_and_are_named(bench: Bench) -> None:
    record = read(bench.run({"op": "await", "calls": 5, "timeoutSeconds": 0.1}, PODS))
    assert not record.meta.settled
    assert record.meta.unsettled == ("0 calls of any kind seen, 5 awaited",)
    assert record.meta.warnings == ("stopped at step 1 (await): it did not settle",)
    assert record.pods == ()


def test_what_the_installation_said_is_a_warning_of_every_run(bench: Bench) -> None:
    bench.installed = replace(bench.installed, notes=("extender mine: something is odd",))
    assert read(bench.run()).meta.warnings == ("extender mine: something is odd",)
    bench.cluster.reset()
    lonely = {"op": "settle", "timeoutSeconds": 0.1}
    waits = {"op": "createPods", "count": 1, "spec": {"schedulerName": "nobody"}}
    first, *rest = read(bench.run(waits, lonely)).meta.warnings
    assert first == "extender mine: something is odd"
    assert rest == [
        "pods will ask for nobody, but the schedulers here serve default-scheduler",
        "stopped at step 2 (settle): it did not settle",
    ]


def test_an_extender_that_dies_is_a_warning_and_the_run_goes_on(bench: Bench) -> None:
    bench.at[2] = bench.kill_extender
    record = read(bench.run())
    (warning,) = record.meta.warnings
    assert warning.startswith("extender mine ended during the run: ")
    assert record.meta.status == "finished"


def test_an_extender_that_died_before_a_step_stopped_it_is_told(bench: Bench) -> None:
    bench.at[2] = bench.kill_extender
    record = read(bench.run(PODS, {"op": "settle"}, {"op": "stopExtender"}, {"op": "settle"}))
    (warning,) = record.meta.warnings
    assert warning.startswith("extender mine ended during the run: ")


def test_a_scheduler_that_dies_is_a_verdict_and_no_error(bench: Bench) -> None:
    def die() -> None:
        answer(bench.extender)
        bench.cluster.death = "kube-scheduler exited with code 2: panic"

    bench.at[2] = die
    record = read(bench.run(PODS, {"op": "settle"}, PODS))
    assert record.meta.status == "finished"
    assert record.meta.error is None
    assert record.meta.deaths == ("kube-scheduler exited with code 2: panic",)
    assert not record.meta.settled
    assert record.meta.observed_seconds is not None
    assert len(record.pods) == 2, "what comes after a death is not carried out"
    assert [verdict.kind for verdict in judge(record) if not verdict.ok] == ["schedulerAlive"]
    assert [call.kind for call in record.calls] == ["filter"], "what led there is what one wants to see"


def test_a_scheduler_that_dies_while_only_watching_is_a_verdict_too(bench: Bench) -> None:
    def die() -> None:
        bench.cluster.death = "kube-scheduler exited with code 2"

    expect = [{"kind": "staysPending", "pods": ["pod-1"], "seconds": 30}]
    bench.at[1] = die
    record = read(bench.run(PODS, expect=expect))
    assert record.meta.deaths == ("kube-scheduler exited with code 2",)


def test_any_other_part_that_dies_is_an_error_and_the_traffic_is_kept(bench: Bench) -> None:
    def lose() -> None:
        answer(bench.extender)
        bench.cluster.lose("etcd exited with code 1")

    bench.at[2] = lose
    with pytest.raises(ClusterError, match="lost a part: etcd") as caught:
        bench.run()
    assert not isinstance(caught.value, SchedulerDied)
    (path,) = bench.runs.iterdir()
    record = read(path)
    assert (record.meta.status, record.meta.deaths) == ("failed", ())
    assert len(record.calls) == 1


def test_without_extenders_such_steps_are_refused_with_their_place(bench: Bench) -> None:
    bench.installed = replace(bench.installed, traffic=None)
    with pytest.raises(StepError, match=r"made\.yaml: step 1 \(clearFaults\): no extender is installed"):
        bench.run({"op": "clearFaults"})
    (path,) = bench.runs.iterdir()
    assert not (path / "extenders.json").exists()


def test_no_key_of_the_users_is_in_a_record_without_a_tap(tmp_path: Path) -> None:
    secret = "c2VjcmV0IGtleSBvZiBhIHVzZXI="
    (tmp_path / "c").mkdir()
    cluster = Mortal(tmp_path / "c")
    entry = {"tlsConfig": {"keyData": secret}}
    setup = Setup((ExtenderSpec.model_validate({"subject": "ref:pass-through", "entry": entry}),), tap=False)
    with ExtenderVariant().install(cluster, setup) as installed:
        path = Bench(tmp_path, cluster, installed).run()
    assert [
        file.name for file in path.rglob("*") if file.is_file() and secret in file.read_text(errors="replace")
    ] == []
