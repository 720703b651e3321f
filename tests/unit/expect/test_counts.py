from harness.expect.judge import judge
from tests.unit.expect.records import NO_CPU, RecordBuilder


def test_counts_that_fit_hold() -> None:
    expect = {
        "kind": "count",
        "selector": "app=web",
        "running": 2,
        "pending": {"max": 1},
        "total": 3,
        "bound": {"min": 2},
    }
    made = RecordBuilder(expect).node("n").pod("a", "n").pod("b", "n").pod("c", message=NO_CPU)
    made.pod("other", "n", labels={"app": "db"}).pod("gone", "n", deleted_t=3.0)
    verdict = judge(made.build())[0]
    assert (verdict.kind, verdict.index, verdict.status, verdict.ok) == ("count", 0, "held", True)
    assert verdict.title == "count of pods app=web"
    assert verdict.seen == "2 running, 1 pending, 3 total, 2 bound"


def test_a_wrong_count_is_rejected_with_the_reason_of_those_that_wait() -> None:
    made = RecordBuilder({"kind": "count", "running": 2}).node("n").pod("a", "n").pod("b", message=NO_CPU)
    verdict = judge(made.event("b", "FailedScheduling", NO_CPU, count=3).build())[0]
    assert verdict.status == "rejected"
    assert (verdict.expected, verdict.seen) == ("exactly 2 running", "1 running")
    assert verdict.evidence == (
        "2 pods matched, 1 bound",
        (
            "b waiting for up to 9.00 s: Unschedulable: of 1 nodes: NodeResourcesFit 1 Insufficient cpu; "
            "preemption: 0/1 nodes are available: 1 No preemption victims found."
        ),
        "b: event FailedScheduling x3 at 2.00 s",
    )


def test_finished_pods_have_states_of_their_own() -> None:
    expect = {"kind": "count", "succeeded": 1, "failed": 1, "running": 0}
    made = RecordBuilder(expect).node("n").pod("a", "n", phase="Succeeded").pod("b", "n", phase="Failed")
    assert judge(made.build())[0].ok


def test_bound_pods_that_do_not_run_are_named_and_not_pending() -> None:
    made = RecordBuilder({"kind": "count", "pending": 0, "running": 1}).node("n")
    made.pod("a", "n", phase="Pending", waits="ErrImagePull: no such image").pod("b", "n")
    made.pod_changes("b", 5.0, terminating=True)
    verdict = judge(made.build())[0]
    assert (verdict.ok, verdict.seen) == (False, "0 running, 0 pending")
    assert verdict.evidence[1:] == (
        "bound but not running yet: a on n (ErrImagePull: no such image)",
        "terminating: b",
    )


def test_a_silent_scheduler_is_named() -> None:
    made = RecordBuilder({"kind": "count", "running": 2}).node("n").pod("a", "n").pod("b", scheduler="second")
    assert "is a scheduler named second running?" in judge(made.build())[0].evidence[1]


def test_pods_of_the_control_plane_do_not_count_unless_named() -> None:
    made = RecordBuilder({"kind": "count", "total": 0}, {"kind": "count", "total": 1, "namespace": "kube-system"})
    verdicts = judge(made.node("n").pod("etcd", "n", namespace="kube-system").build())
    assert [verdict.status for verdict in verdicts[:2]] == ["held", "held"]
