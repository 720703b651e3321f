"""How variants are installed on kind: by the static manifest, as Deployments, from images."""

import yaml

from harness.cluster.kind import staticpod
from harness.cluster.kind.cluster import ClusterOnKind
from harness.cluster.kind.control import STOCK_POD
from harness.cluster.kind.tools import docker
from harness.run.session import Session

PODS = "/api/v1/namespaces/kube-system/pods"


def leader_of(session: Session) -> str:
    assert isinstance(session.cluster, ClusterOnKind)
    return session.cluster.leader


def command_of(manifest: str) -> list[str]:
    command: list[str] = yaml.safe_load(manifest)["spec"]["containers"][0]["command"]
    return command


def test_the_manifest_is_edited_and_put_back(sched_session: Session) -> None:
    leader = leader_of(sched_session)
    sched_session.install("extender")
    edited = docker("exec", leader, "cat", staticpod.MANIFEST)
    assert any(word.startswith("--config=/harness/") for word in command_of(edited))
    live = sched_session.cluster.kube.request("GET", f"{PODS}/{STOCK_POD}")["spec"]["containers"][0]["command"]
    assert live == command_of(edited)
    sched_session.uninstall()
    # As a run ends whose cluster is kept.
    assert isinstance(sched_session.cluster, ClusterOnKind)
    sched_session.cluster.give_back()
    restored = docker("exec", leader, "cat", staticpod.MANIFEST)
    assert not any(word.startswith("--config") for word in command_of(restored))
    assert "--leader-elect=true" in command_of(restored)
    sched_session.cluster.reset()


def test_the_tap_listens_at_the_gateway_only(sched_session: Session) -> None:
    installed = sched_session.install("extender")
    assert installed.traffic is not None
    (extender,) = installed.traffic.extenders
    address = sched_session.cluster.address
    assert not address.startswith("127.")
    assert extender.seen_by_scheduler.url_prefix.startswith(f"http://{address}:")
    assert extender.running.url.startswith("http://127.0.0.1:")


def test_a_second_scheduler_is_a_deployment_under_its_own_identity(sched_session: Session) -> None:
    sched_session.install("second-scheduler")
    pods = {pod["metadata"]["name"]: pod for pod in sched_session.cluster.kube.items(PODS)}
    (mine,) = [pod for name, pod in pods.items() if name.startswith("my-scheduler-")]
    assert mine["spec"]["serviceAccountName"] == "my-scheduler"
    assert STOCK_POD in pods
    sched_session.uninstall()
    deployments = sched_session.cluster.kube.items("/apis/apps/v1/namespaces/kube-system/deployments")
    assert [item["metadata"]["name"] for item in deployments if item["metadata"]["name"] == "my-scheduler"] == []
