from pathlib import Path
from typing import Any

import pytest

from harness.expect.finding import Finding
from harness.expect.findings import findings
from harness.record.read import read
from tests.unit.expect.records import NO_CPU, RecordBuilder

REFUSED = 'Post "http://127.0.0.1:4444/ext/filter": dial tcp 127.0.0.1:4444: connect: connection refused'
CONFIG = """apiVersion: kubescheduler.config.k8s.io/v1
profiles:
- {schedulerName: mine}
extenders:
- {urlPrefix: "http://127.0.0.1:4444/ext/"}
- {urlPrefix: "http://127.0.0.1:5555/other"}
"""


def made(**entry: Any) -> RecordBuilder:
    return RecordBuilder().extender(**entry).node("n")


def only(builder: RecordBuilder) -> Finding:
    (finding,) = findings(builder.build())
    return finding


NO_VERBS = {"filterVerb": "", "prioritizeVerb": ""}
GPU = {"managedResources": [{"name": "example.com/gpu"}]}


@pytest.mark.parametrize(
    ("builder", "cause"),
    [
        (made(**NO_VERBS).pod("a", "n"), "its entry has no verb"),
        (
            made().pod("a", scheduler="mine"),
            "ask for schedulerName mine, and the profiles of this scheduler are default",
        ),
        (made(**GPU).pod("a", "n"), "its managedResources (example.com/gpu) exclude every pod"),
        (made().pod("a"), "no scheduler has said anything about the pods"),
        (made().pod("a", message=NO_CPU), "no node passed the scheduler's own filters"),
        (made(**GPU).pod("a", message=NO_CPU, requests={"example.com/gpu": 1}), "no node passed"),
        (made().pod("a", "n"), "bound pods without asking it, so its urlPrefix leads elsewhere"),
        (made(filterVerb="").pod("a", "n"), "only prioritizes, and no pod had two nodes"),
        (made(filterVerb="", bindVerb="bind").pod("a", "n"), "bound pods without asking it"),
        (made(**NO_VERBS, preemptVerb="p").pod("a", message=NO_CPU), "only preempts"),
    ],
)
def test_an_extender_that_is_never_called_has_a_likely_cause(builder: RecordBuilder, cause: str) -> None:
    finding = only(builder)
    assert (finding.code, finding.count, finding.severity) == ("never-called", 1, "high")
    assert finding.text.startswith("extender ext was never called although 1 pod needed a node: ")
    assert cause in finding.text


def test_nothing_is_missed_when_no_pod_needed_a_node_or_nobody_could_see_calls() -> None:
    assert not findings(made().build())
    assert not findings(made(tapped=False).pod("a", "n").build())
    assert not findings(made().pod("dns", "n", namespace="kube-system").build())
    assert not findings(made().pod("gated", message="waiting", reason="SchedulingGated").build())
    placed = made()
    placed.lines["pods"].append(made().pod("a", "n").lines["pods"][-1] | {"event": "ADDED"})
    assert not findings(placed.build())


def test_profiles_are_those_of_the_configuration(tmp_path: Path) -> None:
    path = made().pod("a", message=NO_CPU, scheduler="mine").write(tmp_path)
    (path / "scheduler-config.yaml").write_text(CONFIG)
    (finding,) = findings(read(path))
    assert "no node passed" in finding.text


def test_an_extender_that_refuses_connections_is_unreachable_rather_than_never_called() -> None:
    finding = only(made().pod("a", message=REFUSED, reason="SchedulerError"))
    assert finding.code == "extender-unreachable"
    assert "could not be reached (dial tcp 127.0.0.1:4444: connect: connection refused); start it" in finding.text
    assert finding.evidence == ("a at 1.10 s: dial tcp 127.0.0.1:4444: connect: connection refused",)


def test_calls_that_the_tap_could_not_pass_on_are_unreachable() -> None:
    builder = made(prioritizeVerb="").pod("a", "n").call("filter", "a", status=None, ending="unreachable")
    assert only(builder).code == "extender-unreachable"


def test_only_the_extender_of_that_address_is_unreachable(tmp_path: Path) -> None:
    builder = made(prioritizeVerb="").extender("other", prioritizeVerb="").pod("a", "n", message=REFUSED)
    builder.call("filter", "a", 2.0, nodes_in=1, nodes_out=1)
    builder.call("filter", "a", 2.1, nodes_in=1, nodes_out=1, extender="other")
    path = builder.write(tmp_path)
    (path / "scheduler-config.yaml").write_text(CONFIG)
    assert [(one.code, one.extender) for one in findings(read(path))] == [("extender-unreachable", "ext")]


def test_of_an_ignorable_extender_only_the_log_tells(tmp_path: Path) -> None:
    path = made(ignorable=True).pod("a", "n").write(tmp_path)
    (path / "logs").mkdir()
    quoted = REFUSED.replace('"', '\\"')
    (path / "logs" / "kube-scheduler.log").write_text(
        f'I1 "Skipping extender as it returned error and has ignorable flag set" extender="x" err="{quoted}"\n'
    )
    (finding,) = findings(read(path))
    assert finding.code == "extender-unreachable"
    assert finding.evidence[0].startswith("kube-scheduler.log: dial tcp")


@pytest.mark.parametrize("step", [{"op": "stopExtender"}, {"op": "fault", "kind": "refuse", "extender": "ext"}])
def test_what_the_scenario_itself_shut_is_no_finding(step: dict[str, Any]) -> None:
    builder = made().pod("a", message=REFUSED).step(0.5, **step)
    assert not findings(builder.build())
    assert [one.code for one in findings(builder.build(), provoked=True)] == ["extender-unreachable"]


def test_a_record_whose_configuration_cannot_be_read_is_still_looked_at(tmp_path: Path) -> None:
    path = made().pod("a", message=NO_CPU).write(tmp_path)
    (path / "scheduler-config.yaml").write_text("{broken: [")
    assert [one.code for one in findings(read(path))] == ["never-called"]
