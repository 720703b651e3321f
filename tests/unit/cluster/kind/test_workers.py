from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from harness.cluster.kind import workers
from harness.cluster.kind.workers import WorkerPool
from harness.errors import ClusterError, CommandError, NodeDied, StepError
from harness.kube import Object
from harness.scenario.nodes import Taint
from tests.unit.cluster.kind.given import CAPACITY, KUBELET_CONFIG, KUBELET_FLAGS, KindKube, Programs, spec

WORKERS = ("h-worker", "h-worker2")
IDENTITY = "/var/lib/kubelet/pki/kubelet-client-current.pem"


class World:
    """A pool of two workers, whose kubelets are shells that run what they are told in a folder of the test."""

    def __init__(self, programs: Programs, folder: Path) -> None:
        self.programs = programs
        self.kube = KindKube(*WORKERS)
        self.shared = folder / "shared"
        self.shared.mkdir()
        self.files = folder / "node-files"
        self.died: Exception | None = None
        self.pool = WorkerPool(self.kube, self.shared, self.check)
        # Instead of taking the files, it keeps what it finds.
        keep = (
            f'shift 6; mkdir -p "{self.files}"; name="${{1##*/}}"; '
            f'for file in identity.pem config.yaml flags.env; do cp -p "{self.shared}/$name/$file" '
            f'"{self.files}/$name-$file"; done'
        )
        programs.put(
            "docker",
            {
                '*"cat /var/lib/kubelet/config.yaml"': f"printf '{KUBELET_CONFIG}'",
                '*"cat /var/lib/kubelet/kubeadm-flags.env"': f"printf '{KUBELET_FLAGS}'",
                '*"systemctl stop kubelet"': "true",
                '*"sh -euc"*': keep,
                "*journalctl*": "echo failed to run Kubelet: misconfiguration",
            },
        )

    def check(self) -> None:
        if self.died:
            raise self.died

    def taken_over(self, containers: Sequence[str] = WORKERS) -> WorkerPool:
        self.pool.take_over(containers)
        return self.pool

    def node(self, name: str) -> Object:
        found: Object = self.kube.request("GET", f"/api/v1/nodes/{name}")
        return found

    def stopped(self) -> list[str]:
        """Return the containers whose kubelets were stopped, in order of their names."""
        return sorted(call[1] for call in self.programs.calls("docker") if call[2:] == ["systemctl", "stop", "kubelet"])


@pytest.fixture
def world(programs: Programs, tmp_path: Path) -> World:
    return World(programs, tmp_path)


def test_taken_over_all_workers_are_parked(world: World) -> None:
    pool = world.taken_over()
    assert pool.size == 2
    assert pool.containers() == {"h-worker": "h-worker", "h-worker2": "h-worker2"}
    assert world.kube.names("nodes") == {"control-plane"}
    assert world.stopped() == ["h-worker", "h-worker2"]


def test_a_cluster_without_workers_has_an_empty_pool(world: World) -> None:
    pool = world.taken_over(())
    assert (pool.size, pool.containers()) == (0, {})
    assert pool.register([]) == []
    with pytest.raises(StepError, match="1 nodes declared, this cluster has 0 workers"):
        pool.register([spec()])


def test_a_declared_node_is_a_worker_under_its_name(world: World) -> None:
    pool = world.taken_over()
    taint = Taint(key="dedicated", effect="NoSchedule")
    assert pool.register([spec("node-1", labels={"zone": "a"}, taints=(taint,))]) == []
    assert pool.containers() == {"h-worker": "node-1", "h-worker2": "h-worker2"}
    node = world.node("node-1")
    assert node["metadata"]["labels"] == {"zone": "a"}
    assert node["spec"]["taints"] == [{"key": "dedicated", "effect": "NoSchedule"}]
    assert node["spec"]["providerID"] == "kind://docker/h/h-worker"
    assert world.kube.names("nodes") == {"control-plane", "node-1"}


def test_its_kubelet_is_started_anew_with_the_files_of_that_node(world: World) -> None:
    world.taken_over().register([spec("node-1", pods=9)])
    (call,) = [call for call in world.programs.calls("docker") if "-euc" in call]
    assert (call[:4], call[5:]) == (["exec", "h-worker", "sh", "-euc"], ["sh", "/harness/h-worker"])
    script = call[4]
    stop, start = script.index("systemctl stop kubelet"), script.index("systemctl start kubelet")
    assert stop < script.index(f'install -m 600 "$1/identity.pem" {IDENTITY}') < start
    assert yaml.safe_load((world.files / "h-worker-config.yaml").read_text())["maxPods"] == 9
    assert "--hostname-override=node-1" in (world.files / "h-worker-flags.env").read_text()


def test_its_key_is_private_and_does_not_stay_where_it_was_handed_over(world: World) -> None:
    world.taken_over().register([spec("node-1")])
    handed = world.files / "h-worker-identity.pem"
    assert handed.read_text().startswith("certificate for harness-")
    assert "BEGIN PRIVATE KEY" in handed.read_text()
    assert handed.stat().st_mode & 0o777 == 0o600
    assert (world.shared / "h-worker").stat().st_mode & 0o777 == 0o700
    assert [path.name for path in (world.shared / "h-worker").glob("*.pem")] == []
    assert world.kube.names("certificatesigningrequests") == set()


def test_a_name_is_signed_for_once(world: World) -> None:
    pool = world.taken_over()
    for _ in range(3):
        pool.register([spec("node-1")])
        pool.park()
    made = [path for method, path in world.kube.requests if method == "POST" and "signing" in path]
    assert len(made) == 1


def test_extended_resources_are_declared_once_the_node_is_ready(world: World) -> None:
    world.taken_over().register([spec("node-1", extended={"example.com/gpu": "2"}), spec("node-2")])
    status = world.node("node-1")["status"]
    assert (status["capacity"], status["allocatable"]["example.com/gpu"]) == ({"example.com/gpu": "2"}, "2")
    assert status["allocatable"]["cpu"] == CAPACITY["cpu"]
    assert "capacity" not in world.node("node-2")["status"]


def test_what_is_not_as_declared_is_told(world: World) -> None:
    told = world.taken_over().register([spec("node-1", cpu="64"), spec("node-2", cpu="64")])
    assert told == ["node-1, node-2: 64 cpu declared, 8 is what this machine has"]


def test_more_nodes_than_workers_are_refused_with_the_ways_out(world: World) -> None:
    pool = world.taken_over()
    pool.register([spec("node-1")])
    with pytest.raises(StepError, match="3 nodes declared, this cluster has 2 workers; ask for more with --workers"):
        pool.register([spec("node-2"), spec("node-3")])
    assert pool.containers() == {"h-worker": "node-1", "h-worker2": "h-worker2"}
    assert pool.register([spec("node-2")]) == []


def test_parked_a_node_is_gone_with_its_pods_and_nothing_else(world: World) -> None:
    pool = world.taken_over()
    pool.register([spec("node-1")])
    for name, node in (("on-it", "node-1"), ("elsewhere", "control-plane"), ("nowhere", None)):
        metadata = {"name": name, "namespace": "default"}
        world.kube.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"nodeName": node}})
    pool.park()
    assert world.kube.names("nodes") == {"control-plane"}
    assert world.kube.names("pods") == {"elsewhere", "nowhere"}
    assert pool.containers() == {"h-worker": "h-worker", "h-worker2": "h-worker2"}
    assert world.stopped() == ["h-worker", "h-worker", "h-worker2"]
    pool.park()
    assert len(world.stopped()) == 3


def test_a_step_that_removed_the_node_already_does_no_harm(world: World) -> None:
    pool = world.taken_over()
    pool.register([spec("node-1")])
    world.kube.delete("/api/v1/nodes/node-1")
    pool.park()
    assert pool.register([spec("node-1"), spec("node-2")]) == []


def test_given_back_each_worker_is_the_node_that_kind_made(world: World) -> None:
    pool = world.taken_over()
    pool.register([spec("node-1", labels={"zone": "a"})])
    pool.give_back()
    assert world.kube.names("nodes") == {"control-plane", "h-worker", "h-worker2"}
    assert pool.containers() == {"h-worker": "h-worker", "h-worker2": "h-worker2"}
    assert (world.files / "h-worker-config.yaml").read_text() == KUBELET_CONFIG
    assert (world.files / "h-worker-flags.env").read_text() == KUBELET_FLAGS
    assert "zone" not in world.node("h-worker")["metadata"]["labels"]


def test_a_pool_can_be_made_of_what_was_given_back(world: World) -> None:
    world.taken_over().give_back()
    second = WorkerPool(world.kube, world.shared, world.check)
    world.kube.patch("/api/v1/nodes/h-worker", {"status": {"capacity": CAPACITY}})
    world.kube.patch("/api/v1/nodes/h-worker2", {"status": {"capacity": CAPACITY}})
    second.take_over(WORKERS)
    assert second.register([spec("node-1")]) == []


def test_a_node_that_does_not_come_is_told_with_the_last_words_of_its_kubelet(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = world.taken_over()
    world.kube.slow = {"node-2"}
    monkeypatch.setattr(workers, "READY_TIMEOUT_SECONDS", workers.CHECK_SECONDS)
    with pytest.raises(ClusterError, match=r"nodes not ready after 0 s: node-2\. Last lines .* in h-worker2:") as e:
        pool.register([spec("node-1"), spec("node-2")])
    assert str(e.value).endswith("failed to run Kubelet: misconfiguration\n")


def test_a_node_that_has_no_room_yet_or_keeps_pods_away_is_not_ready(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = world.taken_over()
    world.kube.slow = {"node-1", "node-2"}
    monkeypatch.setattr(workers, "READY_TIMEOUT_SECONDS", workers.CHECK_SECONDS)
    ready = [{"type": "Ready", "status": "True"}]

    def half(event: str, item: Object) -> None:
        name = item["metadata"]["name"]
        if item["kind"] == "Node" and event == "ADDED" and name in world.kube.slow:
            allocatable = {"pods": "1"} if name == "node-1" else {"cpu": "1"}
            taints = [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}] if name == "node-1" else []
            status = {"conditions": ready, "allocatable": allocatable}
            world.kube.patch(f"/api/v1/nodes/{name}", {"status": status, "spec": {"taints": taints}})

    world.kube.listeners.append(half)
    with pytest.raises(ClusterError, match="not ready after 0 s: node-1, node-2"):
        pool.register([spec("node-1"), spec("node-2")])


def test_a_node_that_was_ready_and_is_not_any_more_is_waited_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = world.taken_over()
    world.kube.slow = {"node-2"}
    monkeypatch.setattr(workers, "READY_TIMEOUT_SECONDS", workers.CHECK_SECONDS)

    def relapse(event: str, item: Object) -> None:
        is_ready = item["metadata"]["name"] == "node-1" and "allocatable" in item.get("status", {})
        if event == "MODIFIED" and is_ready and not item["spec"].get("taints"):
            taints = [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]
            world.kube.patch("/api/v1/nodes/node-1", {"spec": {"taints": taints}})

    world.kube.listeners.append(relapse)
    with pytest.raises(ClusterError, match="not ready after 0 s: node-1, node-2"):
        pool.register([spec("node-1"), spec("node-2")])


def test_a_lost_part_ends_the_wait(world: World) -> None:
    pool = world.taken_over()
    world.kube.slow = {"node-1"}
    world.died = NodeDied("node node-1 is gone")
    with pytest.raises(NodeDied):
        pool.register([spec("node-1")])


def test_a_kubelet_that_cannot_be_started_shows_and_the_pool_can_go_on(world: World) -> None:
    pool = world.taken_over()
    whole = (world.programs.folder / "docker").read_text()
    world.programs.put("docker", {'*"sh -euc"*': "echo no such container >&2; exit 1", "*": "true"})
    with pytest.raises(CommandError, match="no such container"):
        pool.register([spec("node-1")])
    (world.programs.folder / "docker").write_text(whole)
    pool.park()
    assert pool.register([spec("node-1"), spec("node-2")]) == []
    assert [path.name for path in world.shared.glob("*/*.pem")] == []
