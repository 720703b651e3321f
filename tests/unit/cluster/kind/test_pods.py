import threading
from collections.abc import Callable, Iterator, Mapping

import pytest

from harness.cluster.kind.pods import OwnPods, restarts, runs, trouble
from harness.errors import ApiError, ClusterError, NodeDied
from harness.kube import Object
from harness.streaming import Stream
from harness.testing import FakeKube, FakeStream
from tests.processes import PATIENCE_SECONDS
from tests.unit.cluster.kind.given import change, pod

RUNNING: Object = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}


class Broken(FakeKube):
    """A server whose watches break off."""

    def watch(self, path: str, resource_version: str) -> Stream:
        status = {"code": 500, "message": "etcd is away"}
        return FakeStream([{"type": "ERROR", "object": status}])


@pytest.fixture
def kube() -> FakeKube:
    return FakeKube()


@pytest.fixture
def pods(kube: FakeKube) -> Iterator[OwnPods]:
    with OwnPods(kube, lambda: None) as found:
        yield found


def are(*names: str) -> Callable[[Mapping[str, Object]], bool]:
    return lambda seen: set(seen) == set(names)


def test_what_is_there_already_is_known_from_the_beginning(kube: FakeKube) -> None:
    kube.create(pod("scheduler"))
    kube.create({**pod("other"), "metadata": {"name": "other", "namespace": "default"}})
    with OwnPods(kube, lambda: None) as pods:
        assert set(pods.now()) == {"scheduler"}


def test_a_wait_ends_as_soon_as_the_pods_are_as_wanted(kube: FakeKube, pods: OwnPods) -> None:
    pods.wait(are(), "no pod", PATIENCE_SECONDS)
    waiting = threading.Thread(target=lambda: pods.wait(are("one", "two"), "two pods", PATIENCE_SECONDS), daemon=True)
    waiting.start()
    kube.create(pod("one"))
    kube.create(pod("two"))
    waiting.join(PATIENCE_SECONDS)
    assert not waiting.is_alive()


def test_changes_and_endings_are_seen(kube: FakeKube, pods: OwnPods) -> None:
    kube.create(pod("one"))
    kube.create(pod("two"))
    change(kube, pod("one", RUNNING))
    pods.wait(lambda seen: "one" in seen and runs(seen["one"], "kube-scheduler"), "it runs", PATIENCE_SECONDS)
    kube.delete("/api/v1/namespaces/kube-system/pods/one")
    pods.wait(are("two"), "its end", PATIENCE_SECONDS)
    assert set(pods.now()) == {"two"}


def test_at_the_deadline_it_is_told_what_there_is_instead(kube: FakeKube, pods: OwnPods) -> None:
    kube.create(pod("fine", RUNNING))
    kube.create(pod("ended", {"terminated": {"exitCode": 2, "reason": "Error"}}))
    pods.wait(are("fine", "ended"), "both", PATIENCE_SECONDS)
    with pytest.raises(ClusterError, match=r"^a scheduler: not seen within 0 s; there are: ") as caught:
        pods.wait(lambda _: False, "a scheduler", 0)
    assert "fine Running" in str(caught.value)
    assert "ended ended with code 2 (Error)" in str(caught.value)


def test_a_lost_part_ends_the_wait(kube: FakeKube) -> None:
    def check() -> None:
        raise NodeDied("node node-1 is gone")

    with OwnPods(kube, check) as pods, pytest.raises(NodeDied, match="node-1"):
        pods.wait(lambda _: False, "nothing", PATIENCE_SECONDS)


def test_what_is_met_already_is_not_spoilt_by_a_loss(kube: FakeKube) -> None:
    def check() -> None:
        raise NodeDied("node node-1 is gone")

    with OwnPods(kube, check) as pods:
        pods.wait(are(), "no pod", PATIENCE_SECONDS)


def test_a_watch_that_breaks_off_ends_the_wait() -> None:
    with OwnPods(Broken(), lambda: None) as pods, pytest.raises(ApiError, match="500 etcd is away"):
        pods.wait(lambda _: False, "nothing", PATIENCE_SECONDS)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({}, None),
        (RUNNING, None),
        ({"waiting": {"reason": "ContainerCreating"}}, None),
        ({"waiting": {"reason": "PodInitializing"}}, None),
        ({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}}, "CrashLoopBackOff: back-off 10s"),
        ({"waiting": {"reason": "CreateContainerConfigError"}}, "CreateContainerConfigError: "),
        ({"terminated": {"exitCode": 1, "reason": "Error"}}, "ended with code 1 (Error)"),
        ({"terminated": {"exitCode": 0, "reason": "Completed"}}, "ended with code 0 (Completed)"),
    ],
)
def test_what_keeps_a_pod_from_running_is_said(state: Object, said: str | None) -> None:
    assert trouble(pod("one", state)) == said


def test_an_image_that_does_not_come_is_told_with_the_ways_out() -> None:
    said = trouble(pod("one", {"waiting": {"reason": "ErrImagePull", "message": "i/o timeout"}}))
    assert said is not None
    assert said.startswith("image i from docker.io: the registry does not answer (timeout). Ways out: preload it: ")


def test_the_first_container_in_trouble_counts() -> None:
    both = pod("one", RUNNING)
    both["status"]["containerStatuses"].append(
        {"name": "beside", "restartCount": 3, "state": {"terminated": {"exitCode": 9}}}
    )
    assert trouble(both) == "ended with code 9 (None)"
    assert restarts(both) == 3
    assert runs(both, "kube-scheduler")
    assert not runs(both, "beside")
    assert not runs(both, "another")


@pytest.mark.parametrize("status", [{}, {"containerStatuses": None}, {"containerStatuses": []}])
def test_a_pod_that_has_not_begun_has_no_trouble_yet(status: Object) -> None:
    young = {**pod("one"), "status": status}
    assert (trouble(young), restarts(young), runs(young, "kube-scheduler")) == (None, 0, False)


def test_restarts_of_all_containers_count() -> None:
    both = pod("one", RUNNING, restarts=2)
    both["status"]["containerStatuses"].append({"name": "beside", "restartCount": 3, "state": {}})
    assert restarts(both) == 5
