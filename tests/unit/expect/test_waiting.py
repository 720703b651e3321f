from typing import Any

from harness.expect.judge import judge
from harness.expect.waiting import images
from harness.expect.why import tell
from tests.unit.expect.records import RecordBuilder

CAUSE = (
    'ErrImagePull: image nginx:1: failed to do request: Head "https://registry-1.docker.io/v2/": dial tcp: no such host'
)
BACK_OFF = 'ImagePullBackOff: image nginx:1: Back-off pulling image "nginx:1"'
WHAT = "image nginx:1 from docker.io: the registry's name is unknown here"


class OnKind(RecordBuilder):
    """Makes records of a kind cluster."""

    unsettled: tuple[str, ...] = ()

    def meta(self) -> dict[str, Any]:
        return {**super().meta(), "cluster": "kind", "unsettled": self.unsettled}


def told(made: RecordBuilder) -> tuple[str, ...]:
    record = made.build()
    return images(record, record.pods)


def stuck(number: int, *expect: dict[str, object]) -> OnKind:
    """Return pods whose image could not be pulled; at the end each only backs off."""
    made = OnKind(*expect)
    made.node("n")
    for index in range(number):
        made.pod(f"web-{index}", "n", phase="Pending")
        made.pod_changes(f"web-{index}", 3.0, waits=CAUSE).pod_changes(f"web-{index}", 4.0, waits=BACK_OFF)
    return made


def test_a_rejected_count_tells_the_image_once_for_all_pods() -> None:
    made = stuck(20, {"kind": "count", "running": 21}).pod("fine", "n")
    verdict = judge(made.build())[0]
    assert not verdict.ok
    lines = [line for line in verdict.evidence if WHAT in line]
    assert len(lines) == 1
    who = "20 pods (web-0, web-1, web-10 and 17 more)"
    assert lines[0].startswith(f"{who} wait for {WHAT}. Ways out: preload it: kind load docker-image nginx:1 ")
    assert WHAT in verdict.sentence()
    rest = next(line for line in verdict.evidence if line.startswith("bound but not running yet: "))
    assert "web-0 on n (waits for image nginx:1), " in rest
    assert "no such host" not in rest


def test_only_the_counted_pods_images_are_told() -> None:
    made = stuck(1, {"kind": "count", "selector": "app=db", "running": 1}).pod("db", "n", labels={"app": "db"})
    assert not any("image" in line for line in judge(made.build())[0].evidence)


def test_a_run_that_did_not_settle_tells_the_image_first() -> None:
    made = stuck(2)
    made.settled, made.unsettled = False, ("Deployment web: has 1 of 2 pods",)
    verdict = next(one for one in judge(made.build()) if one.kind == "settled")
    assert (verdict.ok, verdict.seen) == (False, "1")
    assert verdict.evidence[0].startswith(f"2 pods (web-0, web-1) wait for {WHAT}")


def test_missing_pods_tell_the_image_and_held_invariants_do_not() -> None:
    assert not any(one.evidence for one in judge(stuck(2).build()) if one.index is None)
    made = stuck(2).workload("ReplicaSet", "web", desired=3)
    verdict = next(one for one in judge(made.build()) if one.kind == "missingPod")
    assert (verdict.ok, verdict.seen) == (False, "1 case")
    assert verdict.evidence[0].startswith(f"2 pods (web-0, web-1) wait for {WHAT}")


def test_different_images_have_sentences_of_their_own() -> None:
    made = stuck(2).pod("db", "n", phase="Pending", waits="ErrImageNeverPull: image db:1: pull policy of Never")
    lines = told(made)
    assert [line.split(". Way")[0] for line in lines] == [
        f"2 pods (web-0, web-1) wait for {WHAT}",
        "1 pod (db) waits for image db:1 from docker.io: is not on the node, and imagePullPolicy is Never",
    ]


def test_an_event_has_the_cause_that_the_pod_does_not_show() -> None:
    made = RecordBuilder().node("n").pod("web", "n", phase="Pending", waits=BACK_OFF)
    made.event("web", "Failed", 'Failed to pull image "nginx:1": dial tcp: lookup docker.io: no such host')
    assert WHAT in told(made)[0]


def test_what_came_in_the_end_is_not_missing() -> None:
    made = RecordBuilder().node("n").pod("web", "n", phase="Pending")
    made.event("web", "Failed", 'Failed to pull image "nginx:1": i/o timeout', t=2.0)
    assert "timeout" in told(made)[0]
    made.event("web", "Pulled", 'Successfully pulled image "nginx:1"', t=3.0)
    assert told(made) == ()
    made.pod_changes("web", 4.0, waits="CrashLoopBackOff: back-off")
    assert told(made) == ()
    made.pod_changes("web", 4.0, phase="Running", waits=None)
    assert told(made) == ()


def test_an_older_trouble_is_not_why_a_pod_waits_now() -> None:
    made = stuck(1)
    assert len(told(made)) == 1
    made.pod_changes("web-0", 5.0, waits="CrashLoopBackOff: back-off")
    assert told(made) == ()


def test_an_image_on_its_way_is_told_with_its_time() -> None:
    made = RecordBuilder().node("n").pod("web", "n", phase="Pending")
    made.event("web", "Pulling", 'Pulling image "nginx:1"', t=2.0)
    assert told(made) == ("1 pod (web) waits while image nginx:1 is pulled, since 2.00 s",)
    made.event("web", "Pulled", "done", t=3.0)
    assert told(made) == ()


def test_the_story_of_a_pod_without_its_image() -> None:
    story = tell(stuck(1).build(), "web-0")
    assert story.reasons[0] == f"it does not start for want of {WHAT}"
    assert story.moves[0] == "preload it: kind load docker-image nginx:1 --name CLUSTER"
    assert len(story.moves) == 3
    assert story.text().count("the registry's name is unknown here") == 1


def test_the_story_of_a_pod_that_does_not_start_for_another_reason() -> None:
    made = RecordBuilder().node("n").pod("web", "n", phase="Pending", waits="CrashLoopBackOff: back-off 10s")
    story = tell(made.build(), "web")
    assert story.reasons[0] == "it does not start: CrashLoopBackOff: back-off 10s"
    assert story.moves == ()
