"""Extenders behind a real kube-scheduler: their order, what cannot be installed, and what TLS does to them."""

import contextlib
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from harness.certificates import Authority
from harness.clock import wait_until
from harness.cluster.base import Cluster, ClusterSpec, RunsSchedulers
from harness.cluster.embedded.cluster import EmbeddedCluster
from harness.errors import InputError, VariantError
from harness.expect.judge import judge
from harness.extender.requests import node
from harness.record.model import Record
from harness.record.read import read
from harness.run.brought import bring
from harness.run.session import Session
from harness.scenario.load import load
from harness.scenario.nodes import NodeGroup
from harness.variant.config import render
from tests.processes import PATIENCE_SECONDS

pytestmark = [pytest.mark.embedded, pytest.mark.extender]

SCENARIOS = Path(__file__).parents[2] / "scenarios"
STRANGER = Path(__file__).parents[1] / "subjects" / "stranger"


@pytest.fixture
def session(sched_session: Session, tmp_path: Path) -> Session:
    """The worker's own cluster, with nothing that another test brought."""
    return sched_session


def run_with(session: Session, scenario: str, *extenders: str, entries: tuple[str, ...] = ()) -> Record:
    before = session.brought
    session.brought = bring(extenders, entries)
    try:
        return read(session.run(load(SCENARIOS / scenario).at(None), "extender"))
    finally:
        session.brought = before


def test_those_that_may_fail_come_last_and_each_sees_only_what_is_left(session: Session) -> None:
    record = run_with(session, "extender/chain.yaml")
    for pod in record.pods:
        filters = [call for call in record.calls_by_uid[pod.uid] if call.kind == "filter"]
        assert [call.extender for call in filters] == ["picky", "binder", "lenient"]
        assert [call.nodes_in for call in filters] == [3, 1, 1]


def test_two_binders_are_refused_before_the_scheduler_would_do_so(session: Session) -> None:
    with pytest.raises(InputError, match="a second extender that binds, only one is allowed"):
        run_with(session, "lab/twenty-pause.yaml", "ref:index-bind", "ref:index-bind")


def test_a_stranger_is_asked_what_it_can_do_and_runs_the_lab(session: Session) -> None:
    record = run_with(session, "lab/twenty-pause.yaml", f"go:{STRANGER}")
    assert all(verdict.ok for verdict in judge(record))
    assert {call.kind for call in record.calls} == {"filter", "prioritize"}
    assert record.extenders[0].name == "stranger"
    assert "found out by asking it" in record.extenders[0].notes[0]


def test_a_wrong_route_is_told_with_the_one_that_answers(session: Session) -> None:
    record = run_with(
        session,
        "lab/twenty-pause.yaml",
        f"go:{STRANGER}",
        entries=("filterVerb=filter", "prioritizeVerb=priorities", "weight=1", "nodeCacheCapable=true"),
    )
    assert any("/prioritize" in warning and "priorities" in warning for warning in record.meta.warnings)


@pytest.mark.parametrize("subject", ["http://127.0.0.1:9", "https://127.0.0.1:9"])
def test_where_nothing_listens_nothing_is_installed(session: Session, subject: str) -> None:
    with pytest.raises(VariantError, match=r"nothing listens on 127\.0\.0\.1:9"):
        run_with(session, "lab/twenty-pause.yaml", subject)


def test_an_image_needs_a_cluster_that_runs_containers(session: Session) -> None:
    with pytest.raises((VariantError, InputError), match="image"):
        run_with(session, "lab/twenty-pause.yaml", "image:example.com/extender:v1")


class Keeper(BaseHTTPRequestHandler):
    """Keeps every node, by name."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        names = body.partition(b'"NodeNames":')[2].partition(b"]")[0] + b"]"
        answer = b'{"NodeNames":' + names + b"}"
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Be quiet."""


@contextlib.contextmanager
def served_with_tls(authority: Authority) -> Iterator[str]:
    identity = authority.server("extender")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity.certificate, identity.key)
    with ThreadingHTTPServer(("127.0.0.1", 0), Keeper) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_an_extender_behind_tls_is_tapped_as_well(session: Session, tmp_path: Path) -> None:
    authority = Authority(tmp_path / "authority")
    with served_with_tls(authority) as url:
        entries = ("filterVerb=filter", "nodeCacheCapable=true", f"tlsConfig={{caFile: {authority.certificate}}}")
        record = run_with(session, "lab/twenty-pause.yaml", url, entries=entries)
        assert all(verdict.ok for verdict in judge(record))
        assert len([call for call in record.calls if call.status == 200]) == 20
        with pytest.raises(VariantError, match="certificate"):
            run_with(session, "lab/twenty-pause.yaml", url, entries=entries[:2])
        # Otherwise a later test would be given an extender that is gone.
        session.install("default")


def test_kube_scheduler_refuses_a_certificate_that_nobody_vouches_for(tmp_path: Path) -> None:
    """What the scheduler itself says when it is told of an https extender without its authority."""
    from harness.cluster.registry import provider  # noqa: PLC0415 - beside its only use

    authority = Authority(tmp_path / "authority")
    with served_with_tls(authority) as url, provider("embedded").cluster(ClusterSpec()) as cluster:
        assert isinstance(cluster, RunsSchedulers)
        message = _refusal(cluster, url)
    assert "tls: failed to verify certificate: x509: certificate signed by unknown authority" in message
    assert message.startswith(f'Post "{url}/filter": ')


def _refusal(cluster: Cluster, url: str) -> str:
    assert isinstance(cluster, EmbeddedCluster)
    config = render(cluster.scheduler_kubeconfig, [{"urlPrefix": url, "filterVerb": "filter"}])
    pod = {"containers": [{"name": "pause", "image": "registry.k8s.io/pause:3.10"}]}
    with cluster.scheduler(config, "kube-scheduler"):
        cluster.add_nodes(NodeGroup().expand())
        cluster.kube.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": pod})

        def refused() -> str | None:
            found = cluster.kube.request("GET", "/api/v1/namespaces/default/pods/pod")
            conditions = found.get("status", {}).get("conditions", ())
            return next((one["message"] for one in conditions if one.get("reason") == "SchedulerError"), None)

        return wait_until(refused, what="the scheduler's refusal", timeout_seconds=PATIENCE_SECONDS)


def test_requests_of_the_harness_look_like_those_of_the_scheduler(session: Session) -> None:
    """The canonical node has the keys that a real one has, so that a probe tells what a run will tell."""
    record = run_with(session, "lab/twenty-pause.yaml", "ref:pass-through", entries=("nodeCacheCapable=false",))
    from harness.extender.cassette.file import read as read_cassette  # noqa: PLC0415 - beside its only use

    sent = next(call.request for call in read_cassette(record.path).calls if call.kind == "filter")
    real = sent["Nodes"]["items"][0]
    assert set(node("node-1")["metadata"]) <= set(real["metadata"]) | {"managedFields"}
    assert sent["NodeNames"] is None
