"""A load that pods make: a master and two workers, against an extender in the same cluster."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.clock import wait_until
from harness.cluster.kind.cluster import ClusterOnKind
from harness.cluster.kind.image import program_image
from harness.cluster.kind.pods import NAMESPACE
from harness.cluster.kind.tools import docker
from harness.extender.subject.parse import Subject, parse
from harness.extender.subject.program import program_of
from harness.kube import names
from harness.load.campaign import Options
from harness.load.generate import MASTER_PORT
from harness.load.measure import LAG_MS_MAX, LAG_SHARE_MAX
from harness.load.pods import PROGRAM, carry_out_in_pods
from harness.load.saturation import CPU_SHARE_MAX
from harness.load.schedule import Plan
from harness.record.load import LoadRecord, LoadResult
from harness.run.session import Session

STRANGER = Path(__file__).parents[1] / "subjects" / "stranger"
PODS, SERVICES = f"/api/v1/namespaces/{NAMESPACE}/pods", f"/api/v1/namespaces/{NAMESPACE}/services"
RATE, SECONDS = 200.0, 2.0
OPTIONS = Options(nodes=(10,), rates=(RATE,), seconds=SECONDS, warmup_seconds=0.0)
PATIENCE_SECONDS = 120.0
PARTS = 3


@pytest.fixture
def cluster(sched_session: Session) -> ClusterOnKind:
    assert isinstance(sched_session.cluster, ClusterOnKind)
    return sched_session.cluster


@pytest.fixture
def subject(cluster: ClusterOnKind, tmp_path: Path) -> Subject:
    image = program_image(program_of(STRANGER), tmp_path)
    cluster.load(image)
    path = tmp_path / "subject.yaml"
    entry = "entry: {filterVerb: filter, nodeCacheCapable: true}"
    path.write_text(f'subject: "image:{image.reference}"\nenv: {{HOST: 0.0.0.0}}\n{entry}\n')
    return parse(str(path))


class Watching:
    """Looks at the cluster each time that something is reported."""

    def __init__(self, cluster: ClusterOnKind) -> None:
        self.pods: dict[str, Any] = {}
        self.services: set[str] = set()
        self.listening = ""
        self._cluster = cluster

    def look(self, told: str) -> None:
        if "pods load" in told:
            wait_until(
                lambda: programs(self._cluster).count(PROGRAM) >= PARTS,
                what="the programs of all pods",
                timeout_seconds=PATIENCE_SECONDS,
            )
        self.pods |= {pod["metadata"]["name"]: pod for pod in self._cluster.kube.items(PODS)}
        self.services |= set(names(self._cluster.kube.items(SERVICES)))
        self.listening += docker("exec", self._cluster.leader, "cat", "/proc/net/tcp", "/proc/net/tcp6")


def test_pods_share_a_load_and_its_record_comes_home(cluster: ClusterOnKind, subject: Subject, tmp_path: Path) -> None:
    system, services = of_the_system(cluster), names(cluster.kube.items(SERVICES))
    seen = Watching(cluster)
    record = carry_out_in_pods(cluster, subject, OPTIONS, 2, tmp_path / "out", report=seen.look)
    (one,) = record.results
    assert (one.subject, one.ended, one.errors, record.meta["status"]) == (subject.text, "complete", 0, "complete")
    check_samples(record, one)
    check_limit(record, one)

    mine = {name: pod for name, pod in seen.pods.items() if name.startswith("task-")}
    assert sorted(name.split("-", 2)[2] for name in mine) == ["master", "worker-1", "worker-2"]
    (master,) = [pod for name, pod in mine.items() if name.endswith("-master")]
    assert record.meta["inputs"]["scale"]["host"] == master["status"]["podIP"]
    assert not any(pod["spec"].get("hostNetwork") for pod in mine.values())
    assert seen.services - set(services) == {"extender-load"}
    assert f":{MASTER_PORT:04X} " not in seen.listening

    wait_until(lambda: not of_the_load(cluster), what="pods of the load gone", timeout_seconds=PATIENCE_SECONDS)
    assert of_the_system(cluster) == system
    assert names(cluster.kube.items(SERVICES)) == services
    wait_until(lambda: PROGRAM not in programs(cluster), what="processes gone", timeout_seconds=PATIENCE_SECONDS)


def of_the_load(cluster: ClusterOnKind) -> list[str]:
    """Return the pods of a load, also while they end."""
    return [name for name in names(cluster.kube.items(PODS)) if name.startswith(("task-", "extender-load-"))]


def of_the_system(cluster: ClusterOnKind) -> list[str]:
    """Return the pods that nothing makes come or go: one that a test before left may end at any moment."""
    lasting = {"Node", "DaemonSet"}
    owned = [(pod, pod["metadata"].get("ownerReferences") or [{}]) for pod in cluster.kube.items(PODS)]
    return names([pod for pod, owners in owned if owners[0].get("kind") in lasting])


def programs(cluster: ClusterOnKind) -> str:
    """Return the command lines of everything that runs on the control plane's node, in its pods too."""
    return docker("exec", cluster.leader, "sh", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '")


def check_samples(record: LoadRecord, one: LoadResult) -> None:
    """Hold the raw samples against the schedule, of which each worker had every other request."""
    workers = record.meta["measurements"][0]["workers"]
    assert [worker["index"] for worker in workers] == [0, 1]
    assert len({worker["order"] for worker in workers}) == 1
    assert all(worker["opened"] for worker in workers)
    columns = record.samples(one)
    assert np.array_equal(columns["intended"].round(6), Plan("constant", (RATE,), SECONDS).offsets().round(6))
    assert one.requests == len(columns["intended"]) == RATE * SECONDS
    latency = (columns["done"] - columns["intended"]) * 1000
    for percent, value in ((50, one.p50_ms), (90, one.p90_ms), (95, one.p95_ms), (99, one.p99_ms)):
        assert np.percentile(latency, percent, method="inverted_cdf") == pytest.approx(value)


def check_limit(record: LoadRecord, one: LoadResult) -> None:
    """Decide anew whether the generator was the limit: on a machine as busy as this one it may be."""
    columns = record.samples(one)
    lag = np.percentile((columns["send"] - columns["intended"]) * 1000, 99, method="inverted_cdf")
    late = lag > max(LAG_MS_MAX, LAG_SHARE_MAX * (one.p50_ms or 0.0))
    assert one.generator_limited == bool(late or one.generator_cpu > CPU_SHARE_MAX or one.unsent)
