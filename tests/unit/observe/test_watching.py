import json
from pathlib import Path
from typing import Any

import pytest

from harness.clock import SYSTEM, wait_until
from harness.errors import ApiError
from harness.kube import Object
from harness.observe.watching import observing
from harness.record.write import RecordWriter
from harness.testing import FakeCluster, FakeKube
from harness.testing.kube import resources
from tests.processes import PATIENCE_SECONDS


@pytest.fixture
def record(tmp_path: Path) -> RecordWriter:
    return RecordWriter.create(tmp_path, "run", {})


def lines(record: RecordWriter, stream: str) -> list[dict[str, Any]]:
    path = record.path / f"{stream}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def make(kube: FakeKube, kind: str, name: str, version: str = "v1", **more: Any) -> Object:
    item = {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": {}}
    return kube.create(item | more)


def test_what_is_there_is_seen_and_what_comes_is_written_before_it_counts(tmp_path: Path, record: RecordWriter) -> None:
    kube = FakeKube()
    make(kube, "Node", "n")
    with observing(FakeCluster(tmp_path, kube=kube), record, SYSTEM.now(), ["default-scheduler"]) as observation:
        assert list(observation.live.nodes()) == ["n"]
        make(kube, "Pod", "p")
        make(kube, "ReplicaSet", "rs", "apps/v1")
        make(kube, "Event", "e", involvedObject={"kind": "Pod"})
        wait_until(lambda: len(observation.live.movements()) == 2, what="both", timeout_seconds=PATIENCE_SECONDS)
        wait_until(lambda: lines(record, "events"), what="the event", timeout_seconds=PATIENCE_SECONDS)
        observation.check()
    assert [line["name"] for line in lines(record, "nodes")] == ["n"]
    assert [line["name"] for line in lines(record, "pods")] == ["p"]
    (workload,) = lines(record, "workloads")
    assert (workload["kind"], workload["name"]) == ("ReplicaSet", "rs")
    assert all(line["t"] >= 0 for line in lines(record, "pods"))
    record.close()


def test_a_lost_watch_is_told(tmp_path: Path, record: RecordWriter) -> None:
    kube = FakeKube()
    with observing(FakeCluster(tmp_path, kube=kube), record, SYSTEM.now(), []) as observation:
        record.close()
        make(kube, "Pod", "p")

        def lost() -> bool:
            return any(follower.error for follower in observation.followers)

        wait_until(lost, what="the loss", timeout_seconds=PATIENCE_SECONDS)
        with pytest.raises(Exception, match=r"pods\.jsonl: a line came after the record was finished"):
            observation.check()


def test_a_server_that_lacks_a_kind_is_told_and_nothing_is_left_open(tmp_path: Path, record: RecordWriter) -> None:
    kube = FakeKube(resource for resource in resources() if resource.kind != "Job")
    cluster = FakeCluster(tmp_path, kube=kube)
    with pytest.raises(ApiError, match="/apis/batch/v1/jobs"), observing(cluster, record, SYSTEM.now(), []):
        pass
    record.close()


class Furnished(FakeCluster):
    """A cluster that is made of objects itself."""

    def is_own(self, item: Object) -> bool:
        metadata: dict[str, Any] = item["metadata"]
        return bool(metadata.get("namespace") == "kube-system" or metadata["name"] == "control-plane")


def test_what_the_cluster_is_made_of_is_neither_seen_nor_written(tmp_path: Path, record: RecordWriter) -> None:
    kube = FakeKube()
    make(kube, "Node", "n")
    make(kube, "Node", "control-plane")
    with observing(Furnished(tmp_path, kube=kube), record, SYSTEM.now(), []) as observation:
        make(kube, "Pod", "coredns", metadata={"name": "coredns", "namespace": "kube-system"})
        make(kube, "Pod", "p")
        wait_until(lambda: lines(record, "pods"), what="the pod", timeout_seconds=PATIENCE_SECONDS)
        assert list(observation.live.nodes()) == ["n"]
        assert [pod["name"] for pod in observation.live.pods()] == ["p"]
    record.close()
    assert [line["name"] for line in lines(record, "nodes")] == ["n"]
    assert [line["name"] for line in lines(record, "pods")] == ["p"]
