import json

import pytest

from harness.errors import RecordError
from harness.expect.why import find_pod, tell, why
from tests.unit.expect.records import NO_CPU, RecordBuilder


def test_the_story_of_a_pod_that_waits() -> None:
    made = (
        RecordBuilder(end_t=61.0)
        .node("n1", cpu=500)
        .pod("small", "n1")
        .pod("big", message=NO_CPU, requests={"cpu": 2000})
    )
    made.event("big", "FailedScheduling", NO_CPU, t=1.2, count=4)
    assert why(made.build(), "big") == (
        "default/big waits for a node, 60.000 s after it was created.\n"
        "\n"
        "What happened:\n"
        "  1.000 s  created for default-scheduler, priority 0, asking for 2000m cpu\n"
        "  1.100 s  not scheduled after 0.100 s: Unschedulable: of 1 nodes: NodeResourcesFit 1 Insufficient cpu\n"
        "\n"
        "Why:\n"
        "  none of 1 node was accepted (Unschedulable):\n"
        "  NodeResourcesFit: 1 Insufficient cpu\n"
        "  preemption did not help: 0/1 nodes are available: 1 No preemption victims found.\n"
        "\n"
        "Events:\n"
        f"  event FailedScheduling x4 at 1.20 s: {NO_CPU}\n"
        "\n"
        "What could help:\n"
        "  ask for less than 2000m cpu, or add nodes; the most that is free is 400m on n1"
    )


def test_the_story_of_a_pod_that_runs() -> None:
    made = RecordBuilder().node("n1").node("n2").pod("first", "n1").pod("web", "n2", created_t=2.0)
    story = tell(made.build(), "web")
    assert story.headline == "default/web is Running on n2, bound 0.500 s after it was created."
    assert story.timeline[1:] == ("2.500 s  bound to n2, 0.500 s after creation", "2.750 s  running")
    assert story.reasons[:3] == (
        "2 nodes existed when it was bound to n2; what was taken before it:",
        "n2: 0 pods, 0m of 4000m cpu",
        "n1: 1 pod, 100m of 4000m cpu",
    )
    assert story.moves == ()
    assert json.loads(json.dumps(story.to_json()))["pod"] == "default/web"


def test_preemption_is_told_from_both_sides() -> None:
    made = (
        RecordBuilder().node("n").pod("low", "n", deleted_t=4.0).pod("high", created_t=3.0, nominated="n", priority=9)
    )
    made.event("low", "Preempted", "Preempted by pod uid-high on node n", t=3.5)
    record = made.build()
    assert tell(record, "low").headline == "default/low was deleted at 4.000 s from n."
    assert tell(record, "low").preemption == ("it was the victim of default/high (priority 9) at 3.500 s",)
    assert tell(record, "high").preemption == (
        "default/low had to leave n for it at 3.500 s",
        "it waits for its victims on n to go",
    )


def test_a_pod_with_a_node_from_the_start_was_chosen_by_no_scheduler() -> None:
    story = tell(RecordBuilder().node("n").pod("a", node=None, phase="Running").pod_changes("a", 1.0).build(), "a")
    assert story.reasons != ()
    made = RecordBuilder().node("n").pod("a")
    made.lines["pods"][0]["node"] = "n"
    assert "its creator set it" in tell(made.build(), "a").reasons[0]


@pytest.mark.parametrize(
    ("message", "reason", "move"),
    [
        (
            "0/1 nodes are available: 1 node(s) had untolerated taint(s).",
            "Unschedulable",
            "remove a taint: k=v:NoSchedule",
        ),
        ("0/1 nodes are available: 1 node(s) were unschedulable.", "Unschedulable", "cordon: false): n"),
        ("0/1 nodes are available: 1 Too many pods.", "Unschedulable", "raise `pods`"),
        (
            "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
            "Unschedulable",
            "nodeSelector",
        ),
        ("0/1 nodes are available: 1 no luck.", "Unschedulable", "ask the extender"),
        ("no nodes available to schedule pods", "Unschedulable", "the cluster has no node"),
        ("connection refused", "SchedulerError", "look at logs/"),
        ("something new", "Unschedulable", "nothing known helps"),
    ],
)
def test_a_move_fits_the_reason(message: str, reason: str, move: str) -> None:
    made = RecordBuilder().node("n").pod("a", message=message, reason=reason)
    made.node_changes("n", 0.5, taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}], unschedulable=True)
    assert move in " ".join(tell(made.build(), "a").moves)


def test_a_silent_scheduler_is_the_move() -> None:
    story = tell(RecordBuilder().pod("a", scheduler="second").build(), "a")
    assert "one named second runs" in story.moves[0]
    assert "the one named second" in story.reasons[0]


def test_a_pod_is_found_by_name_full_name_or_beginning() -> None:
    record = RecordBuilder().pod("web-1").pod("web-2").pod("web-22").pod("db", namespace="other").build()
    for name, found in (
        ("web-1", "web-1"),
        ("default/web-1", "web-1"),
        ("d", "db"),
        ("other/", "db"),
        ("web-2", "web-2"),
    ):
        assert find_pod(record, name).name == found


def test_an_ambiguous_or_unknown_name_lists_what_there_is() -> None:
    record = RecordBuilder().pod("web-1").pod("web-2").build()
    with pytest.raises(
        RecordError, match="2 pods are meant by 'web', one expected; give one of default/web-1, default/web-2"
    ):
        find_pod(record, "web")
    with pytest.raises(RecordError, match="no pod 'wbe-1' among 2; the nearest: web-1"):
        find_pod(record, "wbe-1")
    with pytest.raises(RecordError, match="there is no pod at all"):
        find_pod(RecordBuilder().build(), "a")


def test_the_last_pod_of_a_name_is_meant() -> None:
    made = (
        RecordBuilder()
        .node("n")
        .pod("web-0", "n", uid="old", deleted_t=3.0)
        .pod("web-0", "n", uid="new", created_t=4.0)
    )
    assert find_pod(made.build(), "web-0").uid == "new"
