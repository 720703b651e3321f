from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cluster.furnish import furnished
from harness.cluster.kind.pods import OwnPods
from harness.cluster.kind.tasks import PODS, Room, Tasks, tasks
from harness.cluster.reset import Baseline
from harness.errors import ClusterError
from harness.kube import Object
from harness.testing import FakeKube
from tests.unit.cluster.kind.given import Programs

USER = 1234


class Kubelet(FakeKube):
    """An API server whose pods are what is said of them by name."""

    def __init__(self) -> None:
        super().__init__()
        self.becomes: dict[str, Object] = {}
        self.listeners.append(self._play)

    def text(self, path: str) -> str:
        return f"first line\nlog of {path.split('/')[-2].rsplit('-', 1)[1]}"

    def _play(self, event: str, item: Object) -> None:
        name = item["metadata"]["name"]
        status = self.becomes.get(name.rsplit("-", 1)[1])
        if event == "ADDED" and item["kind"] == "Pod" and status is not None:
            self.patch(f"{PODS}/{name}", {"status": status})


def ended(code: int) -> Object:
    state = {"terminated": {"exitCode": code, "reason": "Completed" if code == 0 else "Error"}}
    return {"podIP": "10.244.0.7", "containerStatuses": [{"name": "task", "image": "i", "state": state}]}


@pytest.fixture
def kube() -> Kubelet:
    return Kubelet()


@pytest.fixture
def made(kube: Kubelet, programs: Programs, tmp_path: Path) -> Iterator[Tasks]:
    programs.put("docker", {'"exec leader stat --format=%u /harness"': f"echo {USER}"})
    baseline = Baseline(kube, kube.inventory)
    with OwnPods(kube, lambda: None) as pods:
        room = Room(kube, pods, lambda objects: furnished(kube, baseline, objects), "leader", tmp_path)
        with tasks(room, "image:1", 77.4) as found:
            yield found
    assert kube.items(PODS) == []
    assert not found.folder.exists()


def test_a_pod_is_bounded_and_is_nobody_in_the_cluster(kube: Kubelet, made: Tasks) -> None:
    made.start("master", {"A": "$(POD_IP)"})
    (pod,) = kube.items(PODS)
    spec = pod["spec"]
    (container,) = spec["containers"]
    assert spec["activeDeadlineSeconds"] == 77
    assert spec["restartPolicy"] == "Never"
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsUser"] == USER
    assert "hostNetwork" not in spec
    assert "ports" not in container
    # What a variable refers to has to stand before it.
    assert [one["name"] for one in container["env"]] == ["POD_IP", "A"]
    assert spec["volumes"][0]["hostPath"]["path"] == f"/harness/{made.folder.name}"


def test_address_and_end_are_told(kube: Kubelet, made: Tasks) -> None:
    kube.becomes = {"master": ended(0), "worker": ended(3)}
    made.start("master", {})
    assert made.address("master") == "10.244.0.7"
    assert made.wait("master") == 0
    made.start("worker", {})
    assert made.wait("worker") == 3


def test_another_task_that_fails_ends_the_wait_with_what_it_printed(kube: Kubelet, made: Tasks) -> None:
    kube.becomes = {"worker": ended(3)}
    made.start("master", {})
    made.start("worker", {})
    with pytest.raises(ClusterError, match=r"-worker: ended with code 3 \(Error\)\nfirst line\nlog of worker"):
        made.wait("master")


def test_one_that_ended_well_before_the_others_is_fine(kube: Kubelet, made: Tasks) -> None:
    kube.becomes = {"worker": ended(0)}
    made.start("worker", {})
    made.wait("worker")
    kube.becomes = {"master": ended(0)}
    made.start("master", {})
    assert made.wait("master") == 0


def test_one_whose_image_is_not_there_is_told_at_once(kube: Kubelet, made: Tasks) -> None:
    waiting = {"waiting": {"reason": "ErrImageNeverPull", "message": "not present"}}
    kube.becomes = {"master": {"containerStatuses": [{"name": "task", "image": "i", "state": waiting}]}}
    made.start("master", {})
    with pytest.raises(ClusterError, match="is not on the node"):
        made.address("master")


def test_one_that_is_stopped_is_gone(kube: Kubelet, made: Tasks) -> None:
    made.start("master", {})
    made.stop("master")
    assert kube.items(PODS) == []
