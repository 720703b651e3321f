"""An embedded cluster is as closed as a real one: TLS, RBAC, tokens, and nothing beyond loopback."""

import http.client
import json
import os
import ssl
import stat
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
import yaml

from harness.certificates import Authority
from harness.cluster.base import Cluster, RunsSchedulers
from harness.errors import ApiError, ClusterError
from harness.kube import Kube
from harness.run.session import Session
from tests.e2e.conftest import PARTS
from tests.processes import parts_of

pytestmark = pytest.mark.embedded

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "intruder"},
    "spec": {"containers": [{"name": "pause", "image": "registry.k8s.io/pause:3.10"}]},
}
FORBIDDEN, UNAUTHORIZED = 403, 401


def settings(cluster: Cluster) -> dict[str, Any]:
    document = yaml.safe_load(cluster.kubeconfig.read_text())
    found: dict[str, Any] = {**document["clusters"][0]["cluster"], **document["users"][0]["user"]}
    return found


def ask(cluster: Cluster, path: str, context: ssl.SSLContext, token: str | None = None) -> tuple[int, Any]:
    address = urlsplit(settings(cluster)["server"])
    connection = http.client.HTTPSConnection(str(address.hostname), address.port, context=context, timeout=30)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_the_scheduler_has_the_rights_of_its_role_and_no_more(cluster: Cluster) -> None:
    assert isinstance(cluster, RunsSchedulers)
    scheduler = Kube.connect(cluster.scheduler_kubeconfig)
    try:
        assert scheduler.items("/api/v1/nodes") == []
        for forbidden in (
            lambda: scheduler.create(POD),
            lambda: scheduler.items("/api/v1/secrets"),
            lambda: scheduler.request("DELETE", "/api/v1/namespaces/default"),
        ):
            with pytest.raises(ApiError) as caught:
                forbidden()
            assert caught.value.status == FORBIDDEN
            assert "system:kube-scheduler" in str(caught.value)
    finally:
        scheduler.close()


def test_nobody_is_let_in_without_a_name(cluster: Cluster) -> None:
    trusted = ssl.create_default_context(cafile=settings(cluster)["certificate-authority"])
    status, answer = ask(cluster, "/api/v1/pods", trusted)
    assert status in {UNAUTHORIZED, FORBIDDEN}, answer
    status, _ = ask(cluster, "/api/v1/pods", trusted, token="made-up")
    assert status == UNAUTHORIZED


def test_the_server_is_verified_by_its_own_authority_and_by_no_other(cluster: Cluster, tmp_path: Path) -> None:
    assert not any("insecure" in name for name in settings(cluster))
    with pytest.raises(ssl.SSLCertVerificationError):
        ask(cluster, "/readyz", ssl.create_default_context())
    stranger = Authority(tmp_path / "pki").certificate
    with pytest.raises(ssl.SSLCertVerificationError):
        ask(cluster, "/readyz", ssl.create_default_context(cafile=str(stranger)))


def test_a_service_account_gets_a_token_that_works(cluster: Cluster) -> None:
    path = "/api/v1/namespaces/default/serviceaccounts/default/token"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = cluster.kube.request("POST", path, body=body)["status"]["token"]
    trusted = ssl.create_default_context(cafile=settings(cluster)["certificate-authority"])
    status, answer = ask(cluster, "/api/v1/pods", trusted, token=token)
    assert status == FORBIDDEN
    assert "system:serviceaccount:default:default" in answer["message"]
    status, _ = ask(cluster, "/version", trusted, token=token)
    assert status == http.client.OK


def test_nothing_listens_beyond_loopback(cluster: Cluster, sched_session: Session) -> None:
    sched_session.install("default")
    parts = parts_of(os.getpid(), cluster.name)
    assert parts.keys() == PARTS
    listening = {
        part: {
            (connection.family.name, connection.laddr.ip)
            for connection in psutil.Process(pid).net_connections(kind="inet")
            if connection.status == psutil.CONN_LISTEN
        }
        for part, pid in parts.items()
    }
    assert listening["kube-apiserver"]
    assert listening["kube-scheduler"]
    for part, addresses in listening.items():
        assert addresses <= {("AF_INET", "127.0.0.1")}, part


def test_nobody_else_can_read_the_clusters_files(cluster: Cluster) -> None:
    folder = cluster.kubeconfig.parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in (cluster.kubeconfig, *folder.glob("pki/*.key")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_a_schedulers_pages_are_for_those_who_may_read_them(cluster: Cluster, sched_session: Session) -> None:
    scheduler = sched_session.install("default").schedulers["default-scheduler"]
    assert "scheduler_pending_pods" in scheduler.page("/metrics")
    with pytest.raises(ClusterError, match="404"):
        scheduler.page("/nothing")
