from typing import Any

import pytest

from harness.expect.base import Verdict
from harness.expect.judge import judge
from tests.unit.expect.records import NO_CPU, RecordBuilder


def verdict(builder: RecordBuilder, kind: str) -> Verdict:
    return next(one for one in judge(builder.build()) if one.kind == kind)


def test_a_full_node_is_no_overcommit() -> None:
    made = RecordBuilder().node("n", cpu=200, pods=2).pod("a", "n").pod("b", "n")
    assert verdict(made, "overcommit").status == "held"


@pytest.mark.parametrize(
    ("node", "requests", "told"),
    [
        ({"cpu": 150}, {"cpu": 100}, "n: 200m of 150m cpu taken at 2.50 s, when b was bound beside a"),
        ({"pods": 1}, {}, "n: 2 of 1 pods taken at 2.50 s, when b was bound beside a"),
        ({"memory": 2**20}, {"memory": 2**20}, "n: 2Mi of 1Mi memory taken at 2.50 s, when b was bound beside a"),
        (
            {"nvidia.com/gpu": 1},
            {"nvidia.com/gpu": 1},
            "n: 2 of 1 nvidia.com/gpu taken at 2.50 s, when b was bound beside a",
        ),
    ],
)
def test_overcommit_names_the_moment_and_the_pods(node: dict[str, Any], requests: dict[str, int], told: str) -> None:
    made = (
        RecordBuilder()
        .node("n", **node)
        .pod("a", "n", requests=requests)
        .pod("b", "n", requests=requests, created_t=2.0)
    )
    found = verdict(made, "overcommit")
    assert (found.status, found.seen, found.evidence) == ("rejected", "1", (told,))


def test_a_resource_the_node_does_not_have_is_overcommitted() -> None:
    assert not verdict(RecordBuilder().node("n").pod("a", "n", requests={"x.io/y": 1}), "overcommit").ok


@pytest.mark.parametrize("leaving", [{"deleted_t": 1.9}, {"phase": "Succeeded"}, {"phase": "Failed"}])
def test_pods_that_are_gone_or_finished_hold_nothing(leaving: dict[str, Any]) -> None:
    made = RecordBuilder().node("n", cpu=100).pod("a", "n", **leaving).pod("b", "n", created_t=2.0)
    assert verdict(made, "overcommit").ok


def test_a_node_that_shrinks_under_its_pods_is_nobodys_wrong_decision_but_a_later_binding_is() -> None:
    made = RecordBuilder().node("n").pod("a", "n").node_changes("n", 4.0, allocatable={"cpu": 50, "pods": 9})
    assert verdict(made, "overcommit").ok
    assert not verdict(made.pod("b", "n", created_t=6.0), "overcommit").ok


def test_a_node_that_grew_a_moment_ago_has_the_room() -> None:
    made = RecordBuilder().node("n", cpu=50).pod("a", "n").node_changes("n", 1.6, allocatable={"cpu": 100, "pods": 9})
    assert verdict(made, "overcommit").ok


def test_a_pod_seen_on_two_nodes_is_bound_twice() -> None:
    made = RecordBuilder().node("n1").node("n2").pod("a", "n1")
    assert verdict(made, "doubleBinding").ok
    found = verdict(made.pod_changes("a", 3.0, node="n2"), "doubleBinding")
    assert (found.status, found.evidence) == ("rejected", ("a → n1 at 1.50 s, then n2 at 3.00 s",))


def test_a_node_nobody_has_seen_is_a_ghost() -> None:
    assert verdict(RecordBuilder().node("n").pod("a", "n"), "ghostNode").ok
    found = verdict(RecordBuilder().pod("a", "n"), "ghostNode")
    assert (found.status, found.evidence) == ("rejected", ("a → n at 1.50 s: no such node was ever seen",))


@pytest.mark.parametrize(
    ("t", "removed_t", "told"),
    [(5.0, None, "it came only at 5.00 s"), (-9.0, 0.0, "it was removed at 0.00 s")],
)
def test_a_node_that_was_not_there_yet_or_any_more_is_a_ghost(t: float, removed_t: float | None, told: str) -> None:
    found = verdict(RecordBuilder().node("n", t=t, removed_t=removed_t).pod("a", "n"), "ghostNode")
    assert (found.status, found.evidence) == ("rejected", (f"a → n at 1.50 s: {told}",))


def test_nodes_and_pods_arrive_over_two_watches_so_a_moment_does_not_count() -> None:
    assert verdict(RecordBuilder().node("n", t=1.9).pod("a", "n"), "ghostNode").ok
    assert verdict(RecordBuilder().node("n", removed_t=1.2).pod("a", "n"), "ghostNode").ok


@pytest.mark.parametrize(("end_t", "status"), [(30.0, "held"), (90.0, "rejected")])
def test_a_pod_may_outlive_its_node_only_until_garbage_collection(end_t: float, status: str) -> None:
    made = RecordBuilder(end_t=end_t).node("n", removed_t=5.0).pod("a", "n")
    assert verdict(made, "ghostNode").status == status
    assert verdict(made.pod_changes("a", 6.0, phase="Failed"), "ghostNode").ok


OWNED: dict[str, Any] = {"owner": {"kind": "ReplicaSet", "name": "web", "uid": "uid-web"}}


def test_a_workload_with_all_its_pods_misses_none() -> None:
    made = (
        RecordBuilder()
        .node("n")
        .workload("ReplicaSet", "web", 2)
        .pod("a", "n", **OWNED)
        .pod("b", message=NO_CPU, **OWNED)
    )
    assert verdict(made, "missingPod").ok


def test_a_workload_without_its_pods_is_named_with_its_warnings() -> None:
    made = RecordBuilder().node("n").workload("ReplicaSet", "web", 3).pod("a", "n", **OWNED)
    made.pod("finished", "n", phase="Failed", **OWNED).pod("gone", "n", deleted_t=4.0, **OWNED)
    made.event("web", "FailedCreate", "Error creating: no account", type="Warning")
    found = verdict(made, "missingPod")
    assert (found.status, found.seen) == ("rejected", "1 case")
    assert found.evidence == (
        "ReplicaSet web: 3 pods wanted, 1 exist",
        "event FailedCreate at 2.00 s: Error creating: no account",
    )


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("Deployment", {}),
        ("ReplicaSet", {"event": "DELETED"}),
        ("ReplicaSet", {"namespace": "kube-system"}),
        ("Job", {"finished": True}),
    ],
)
def test_workloads_that_own_no_pods_are_gone_or_done_miss_none(kind: str, more: dict[str, Any]) -> None:
    assert verdict(RecordBuilder().workload(kind, "web", 3, **more), "missingPod").ok


def test_an_ordered_statefulset_that_waits_for_a_pod_misses_none() -> None:
    made = RecordBuilder().node("n").workload("StatefulSet", "web", 3).pod("web-0", message=NO_CPU, **OWNED)
    assert verdict(made, "missingPod").ok
    assert not verdict(
        RecordBuilder().node("n").workload("StatefulSet", "web", 3).pod("web-0", "n", **OWNED), "missingPod"
    ).ok


def test_a_job_is_not_blamed_for_successes_it_has_not_noted_yet() -> None:
    made = RecordBuilder().node("n").workload("Job", "web", 1, t=1.5).pod("a", "n", phase="Succeeded", **OWNED)
    assert verdict(made, "missingPod").ok
    late = RecordBuilder().node("n").workload("Job", "web", 1, t=9.0).pod("a", "n", phase="Succeeded", **OWNED)
    assert not verdict(late, "missingPod").ok


def test_a_pod_that_a_step_made_and_nobody_saw_is_missing() -> None:
    made = RecordBuilder().node("n").pod("pod-1", "n").step(0.5, op="createPods", count=2)
    found = verdict(made, "missingPod")
    assert found.evidence == ("pod pod-2 was created by step 1 (createPods) and never seen",)
    inline = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}}
    assert not verdict(RecordBuilder().step(0.5, op="create", objects=[inline]), "missingPod").ok


def test_a_bare_pod_that_vanished_without_a_cause_is_missing() -> None:
    found = verdict(RecordBuilder().node("n").pod("a", "n", deleted_t=4.0), "missingPod")
    assert found.evidence == ("pod a vanished at 4.00 s and nothing in the record took it",)


@pytest.mark.parametrize(
    "step",
    [
        {"op": "delete", "kind": "Pod", "name": "a"},
        {"op": "delete", "kind": "Pod", "selector": "app=web"},
        {"op": "delete", "kind": "Namespace", "name": "default"},
        {"op": "delete", "kind": "Node", "name": "n"},
        {"op": "drain", "names": ["n"]},
        {"op": "removeNodes", "selector": "zone=a"},
        {"op": "churn", "count": 1, "rounds": 1},
        {"op": "updateNodes", "names": ["n"], "addTaints": [{"key": "k", "effect": "NoExecute"}]},
    ],
)
def test_a_step_accounts_for_a_vanished_pod(step: dict[str, Any]) -> None:
    made = RecordBuilder().node("n", labels={"zone": "a"}).pod("a", "n", deleted_t=4.0)
    assert verdict(made.step(3.9, **step), "missingPod").ok


@pytest.mark.parametrize(
    "step",
    [
        {"op": "delete", "kind": "Pod", "name": "b"},
        {"op": "delete", "kind": "Pod", "name": "a", "namespace": "other"},
        {"op": "delete", "kind": "Job", "name": "a"},
        {"op": "drain", "names": ["m"]},
        {"op": "churn", "count": 1, "rounds": 1, "selector": "app=db"},
        {"op": "updateNodes", "names": ["n"], "cordon": True},
    ],
)
def test_a_step_about_others_accounts_for_nothing(step: dict[str, Any]) -> None:
    made = RecordBuilder().node("n").pod("a", "n", deleted_t=4.0).step(3.9, **step)
    assert not verdict(made, "missingPod").ok


def test_a_step_accounts_for_nothing_before_it_began() -> None:
    made = RecordBuilder().node("n").pod("a", "n", deleted_t=4.0).step(6.0, op="drain", names=["n"])
    assert not verdict(made, "missingPod").ok


def test_preemption_eviction_and_a_removed_node_account_for_a_vanished_pod() -> None:
    gone = RecordBuilder().node("n").pod("a", "n", deleted_t=4.0)
    assert verdict(gone.event("a", "Preempted", "Preempted by pod uid-b on node n", t=3.9), "missingPod").ok
    promised = RecordBuilder().node("n").pod("a", "n", deleted_t=4.0).pod("b", created_t=3.0, nominated="n", priority=9)
    assert verdict(promised, "missingPod").ok
    removed = RecordBuilder().node("n", removed_t=3.5).pod("a", "n", deleted_t=4.0)
    assert verdict(removed, "missingPod").ok


def test_many_pods_are_judged_in_linear_time() -> None:
    made = RecordBuilder()
    for index in range(50):
        made.node(f"n{index}")
    for index in range(4000):
        made.pod(f"p{index}", f"n{index % 50}", created_t=index / 1000, requests={"cpu": 1})
    assert all(one.ok for one in judge(made.build()))
