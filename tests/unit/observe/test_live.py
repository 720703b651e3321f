import threading

import pytest

from harness.observe.live import Line, Live
from harness.testing import FakeClock
from tests.processes import PATIENCE_SECONDS
from tests.unit.observe.given import REFUSED, node, owned, pod, workload


@pytest.fixture
def live() -> Live:
    """A view of a cluster with one node."""
    live = Live(["default-scheduler"])
    live.node(node())
    return live


@pytest.mark.parametrize(
    "line",
    [
        pod(phase="Running", node="n"),
        pod(phase="Succeeded", node="n"),
        pod(phase="Failed", node="n"),
        pod(scheduled=REFUSED),
        pod(scheduled={"status": "False", "reason": None, "message": None}),
        pod(node="n", waits="ImagePullBackOff: no such image"),
        pod(node="never-existed"),
    ],
    ids=["running", "succeeded", "failed", "refused", "refused-without-reason", "definite-wait", "ghost-node"],
)
def test_at_rest_is(live: Live, line: Line) -> None:
    live.pod(line)
    assert not live.moves()
    assert live.movements() == []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (
            pod(scheduler="nobody"),
            'pod p: no scheduler has looked at it: it asks for schedulerName "nobody", running is: default-scheduler',
        ),
        (pod(node="n"), "pod p: is bound to n and not running yet"),
        (pod(terminating=True), "pod p: is being deleted"),
        (pod(terminating=True, phase="Running", node="n"), "pod p: is being deleted"),
        (pod(terminating=True, scheduled=REFUSED), "pod p: is being deleted"),
        (pod(scheduled={"status": "True", "reason": None, "message": None}), "pod p: its scheduler default-sche"),
    ],
    ids=["unseen", "bound", "deleted-pending", "deleted-running", "deleted-refused", "scheduled-not-bound"],
)
def test_moving_is(live: Live, line: Line, why: str) -> None:
    live.pod(line)
    assert live.moves()
    (movement,) = live.movements()
    assert movement.startswith(why)


def test_a_pod_goes_through_its_life(live: Live) -> None:
    for line, moves in (
        (pod(), True),
        (pod(scheduled=REFUSED), False),
        (pod(node="n"), True),
        (pod(node="n", phase="Running"), False),
        (pod(node="n", phase="Running", terminating=True), True),
        (pod(event="DELETED"), False),
    ):
        live.pod(line)
        assert live.moves() is moves, line
    assert live.pods() == []


def test_a_pod_whose_node_is_removed_moves_no_more(live: Live) -> None:
    live.pod(pod(node="n"))
    assert live.moves()
    live.node(node(event="DELETED"))
    assert not live.moves()


def test_a_pod_that_is_seen_before_its_node_moves_once_that_is_seen(live: Live) -> None:
    """Nodes and pods arrive over separate watches, in any order."""
    live.pod(pod(node="late"))
    live.node(node("late"))
    assert live.movements() == ["pod p: is bound to late and not running yet"]


def test_everything_that_moves_is_told(live: Live) -> None:
    live.pod(pod("a"))
    live.pod(pod("b", node="n"))
    live.pod(pod("c", node="n", phase="Running"))
    live.workload(workload("Deployment"))
    assert [line.split(":")[0] for line in live.movements()] == ["pod a", "pod b", "Deployment w"]


def test_a_replica_set_rests_when_it_has_its_pods_alive(live: Live) -> None:
    live.workload(workload("ReplicaSet", current=2))
    assert live.movements() == ["ReplicaSet w: has 0 of 2 pods"]
    live.pod(owned("a", "w"))
    live.pod(owned("b", "w"))
    assert not live.moves()


@pytest.mark.parametrize("more", [{"terminating": True}, {"phase": "Failed"}, {"event": "DELETED"}])
def test_a_pod_that_is_ending_does_not_count_for_its_owner(live: Live, more: Line) -> None:
    live.workload(workload("ReplicaSet", desired=1))
    live.pod(owned("a", "w"))
    assert not live.moves()
    live.pod(owned("a", "w", **more))
    assert "ReplicaSet w: has 0 of 1 pods" in live.movements()


def test_a_replica_set_with_a_pod_too_many_moves(live: Live) -> None:
    live.workload(workload("ReplicaSet", desired=1))
    live.pod(owned("a", "w"))
    live.pod(owned("b", "w"))
    assert live.movements() == ["ReplicaSet w: has 2 of 1 pods"]


def test_a_pod_seen_twice_counts_once(live: Live) -> None:
    live.workload(workload("ReplicaSet", desired=1))
    for _ in range(3):
        live.pod(owned("a", "w"))
    assert not live.moves()


@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet"])
def test_other_workloads_tell_themselves_how_many_they_have(live: Live, kind: str) -> None:
    live.workload(workload(kind, current=1))
    assert live.movements() == [f"{kind} w: has 1 of 2 pods"]
    live.workload(workload(kind, current=2))
    assert not live.moves()


@pytest.mark.parametrize("more", [{"failing": True}, {"finished": True}, {"desired": None}, {"desired": 0}])
def test_a_workload_that_can_get_no_more_pods_rests(live: Live, more: Line) -> None:
    live.workload(workload("ReplicaSet", **more))
    assert not live.moves()


def test_a_workload_that_its_controller_has_not_seen_moves(live: Live) -> None:
    live.workload(workload("ReplicaSet", desired=0, observed=False))
    assert live.movements() == ["ReplicaSet w: its controller has not seen its newest form yet"]


def test_a_stateful_set_waits_for_a_refused_pod_and_a_replica_set_does_not(live: Live) -> None:
    for kind, moves in (("StatefulSet", False), ("ReplicaSet", True)):
        live.workload(workload(kind))
        live.pod(owned("w-0", "w", phase="Pending", node=None, scheduled=REFUSED))
        assert live.moves() is moves
    live.workload(workload("StatefulSet"))
    live.pod(owned("w-0", "w"))
    assert live.movements() == ["StatefulSet w: has 1 of 2 pods"]


def test_a_deleted_workload_wants_nothing(live: Live) -> None:
    live.workload(workload("ReplicaSet"))
    live.workload(workload("ReplicaSet", event="DELETED"))
    assert not live.moves()


def test_pods_that_a_scheduler_failed_on_are_counted(live: Live) -> None:
    failed = {"status": "False", "reason": "SchedulerError", "message": "boom"}
    live.pod(pod("a", scheduled=failed))
    live.pod(pod("b", scheduled=REFUSED))
    live.pod(pod("c"))
    assert live.refused_with_error() == 1


@pytest.mark.parametrize(
    ("line", "stirs"),
    [
        (pod(scheduled=REFUSED), True),
        (pod(scheduled=REFUSED, terminating=True), False),
        (pod(node="n", phase="Running"), False),
        (pod(), False),
        (pod(event="DELETED", scheduled=REFUSED), False),
    ],
)
def test_a_refused_pod_may_stir_until_it_is_bound_or_gone(live: Live, line: Line, stirs: bool) -> None:
    live.pod(pod(scheduled=REFUSED))
    assert live.may_stir()
    live.pod(line)
    assert live.may_stir() is stirs


def test_a_daemon_set_may_stir(live: Live) -> None:
    live.workload(workload("Deployment"))
    assert not live.may_stir()
    live.workload(workload("DaemonSet"))
    assert live.may_stir()


def test_nodes_and_pods_are_told_as_they_are_now(live: Live) -> None:
    live.node(node("second", labels={"zone": "b"}))
    live.node(node("n", event="DELETED"))
    live.pod(pod("a"))
    assert list(live.nodes()) == ["second"]
    assert [line["name"] for line in live.pods()] == ["a"]


def test_quiet_time_counts_from_the_last_change_or_touch() -> None:
    clock = FakeClock()
    live = Live(clock=clock)
    clock.pause(3)
    assert live.quiet_seconds() == 3
    live.pod(pod())
    clock.pause(1)
    assert live.quiet_seconds() == 1
    live.touch()
    assert live.quiet_seconds() == 0


def test_a_wait_ends_with_the_next_change(live: Live) -> None:
    woken = threading.Event()

    def wait() -> None:
        live.wait_for_change(PATIENCE_SECONDS)
        woken.set()

    thread = threading.Thread(target=wait)
    thread.start()
    # A change before the thread waits would be missed by it, so changes go on until it is woken.
    while not woken.wait(0.01):
        live.node(node())
    thread.join()
