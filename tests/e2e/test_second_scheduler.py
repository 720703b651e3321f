"""A second scheduler under its manifest's identity: what is missing is named, and any program can be the scheduler."""

import sys
from pathlib import Path

import pytest

from harness.cluster.base import ClusterSpec
from harness.cluster.embedded.build import binaries_for
from harness.errors import VariantError
from harness.expect.judge import judge
from harness.record.read import read
from harness.run.brought import Brought
from harness.run.session import Session
from harness.scenario.load import load
from harness.variant.second_scheduler import SHIPPED

pytestmark = [pytest.mark.embedded, pytest.mark.second_scheduler]

STRANGER = Path(__file__).parents[1] / "subjects" / "scheduler_py" / "scheduler.py"
LAB = Path(__file__).parents[2] / "scenarios" / "lab" / "twenty-pause.yaml"


FEW = """\
name: few
summary: Four pods run.
nodes: [{count: 2}]
steps: [{op: createPods, count: 4}]
expect: [{kind: count, running: 4, total: 4}]
"""


def run_with(session: Session, brought: Brought, scenario: Path = LAB) -> Path:
    before = session.brought
    session.brought = brought
    try:
        return session.run(load(scenario).at(None), "second-scheduler")
    finally:
        session.brought = before


def spoilt(folder: Path, old: str, new: str) -> Path:
    text = SHIPPED.read_text()
    assert old in text
    path = folder / "manifest.yaml"
    path.write_text(text.replace(old, new))
    return path


@pytest.mark.parametrize("role", ["system:volume-scheduler", "system:kube-scheduler"])
def test_a_role_that_is_not_bound_is_named(sched_session: Session, tmp_path: Path, role: str) -> None:
    manifest = spoilt(tmp_path, f'name: "{role}"', 'name: "system:node-problem-detector"')
    with pytest.raises(VariantError, match=f"ClusterRole {role} is not bound to it") as caught:
        run_with(sched_session, Brought(manifest=manifest))
    assert "ServiceAccount kube-system/my-scheduler" in str(caught.value)


def test_two_schedulers_of_one_name_are_refused(sched_session: Session, tmp_path: Path) -> None:
    manifest = spoilt(tmp_path, "schedulerName: my-scheduler", "schedulerName: default-scheduler")
    with pytest.raises(VariantError, match="both would take the same pods"):
        run_with(sched_session, Brought(manifest=manifest))


def test_a_configuration_that_the_scheduler_refuses_is_told_in_its_words(
    sched_session: Session, tmp_path: Path
) -> None:
    wrong = "schedulerName: my-scheduler\n      percentageOfNodesToScore: 150"
    manifest = spoilt(tmp_path, "schedulerName: my-scheduler", wrong)
    with pytest.raises(VariantError, match=r"percentageOfNodesToScore.*not in valid range"):
        run_with(sched_session, Brought(manifest=manifest))


def test_nothing_of_a_refused_manifest_stays(sched_session: Session, tmp_path: Path) -> None:
    manifest = spoilt(tmp_path, 'name: "system:volume-scheduler"', 'name: "system:node-problem-detector"')
    with pytest.raises(VariantError):
        run_with(sched_session, Brought(manifest=manifest))
    bindings = sched_session.cluster.kube.items("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings")
    assert not [one for one in bindings if one["metadata"]["name"].startswith("my-scheduler")]


def test_a_command_can_be_the_scheduler(sched_session: Session) -> None:
    program = binaries_for(ClusterSpec()).program
    record = read(run_with(sched_session, Brought(scheduler=f"cmd:{program} kube-scheduler")))
    assert all(verdict.ok for verdict in judge(record))
    assert {pod.scheduler for pod in record.pods} == {"my-scheduler"}


def test_a_command_that_answers_nobody_is_told(sched_session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.cluster.beside.STRANGER_SECONDS", 1.0)
    with pytest.raises(
        VariantError,
        match=r"^second-scheduler does not start: .*answering http\(s\)://127\.0\.0\.1:\d+/readyz or /healthz",
    ):
        run_with(sched_session, Brought(scheduler="cmd:sleep 600 {port}"))


def test_a_command_may_make_its_own_certificate(sched_session: Session) -> None:
    program = binaries_for(ClusterSpec()).program
    line = f"cmd:{program} kube-scheduler --config={{config}} --secure-port={{port}}"
    record = read(run_with(sched_session, Brought(scheduler=line)))
    assert all(verdict.ok for verdict in judge(record))


@pytest.mark.parametrize("port", ["{port}", ""], ids=["plain health page", "no page at all"])
def test_a_program_of_another_kind_runs_under_the_identity_of_the_manifest(
    sched_session: Session, tmp_path: Path, port: str
) -> None:
    few = tmp_path / "few.yaml"
    few.write_text(FEW)
    line = f"cmd:{sys.executable} {STRANGER} {{kubeconfig}} my-scheduler {port}".strip()
    record = read(run_with(sched_session, Brought(scheduler=line), few))
    assert all(verdict.ok for verdict in judge(record))
    log = (record.path / "logs" / "second-scheduler.log").read_text()
    assert "I am system:serviceaccount:kube-system:my-scheduler" in log
    stock, mine = record.meta.schedulers
    assert [stock[key] for key in ("verbosity", "qps", "burst", "leaderElect", "traced")] == [2, -1, 0, False, False]
    assert stock["command"][1:3] == ["kube-scheduler", "--config=kube-scheduler.yaml"]
    assert mine["command"][1:4] == [str(STRANGER), "my-scheduler.kubeconfig", "my-scheduler"]
    told = [text for text in record.meta.warnings if "its first binding is proof" in text]
    assert bool(told) == (not port)
