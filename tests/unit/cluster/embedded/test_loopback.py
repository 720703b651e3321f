import http.server
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.certificates import Authority
from harness.cluster.embedded.loopback import LoopbackPages
from harness.errors import ClusterError


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        found = self.path == "/healthz"
        self.send_response(200 if found else 403)
        self.end_headers()
        self.wfile.write(b"ok" if found else b"not yours")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
        """Say nothing."""


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: refused handshakes are what some tests are about."""


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "pki")


@pytest.fixture
def port(authority: Authority) -> Iterator[int]:
    """A server that wants to know who asks, as kube-apiserver does."""
    identity = authority.server("server")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity.certificate, identity.key)
    context.load_verify_locations(authority.certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    with Server(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_a_page_is_read(authority: Authority, port: int) -> None:
    pages = LoopbackPages(port, authority.certificate, authority.client("admin"))
    assert pages.get("/healthz") == "ok"
    assert pages.is_ok("/healthz")


def test_another_answer_than_200_is_told(authority: Authority, port: int) -> None:
    pages = LoopbackPages(port, authority.certificate, authority.client("admin"))
    with pytest.raises(ClusterError, match=f"https://127.0.0.1:{port}/metrics: 403 not yours"):
        pages.get("/metrics")
    assert not pages.is_ok("/metrics")


def test_a_server_of_another_authority_is_not_believed(authority: Authority, port: int, tmp_path: Path) -> None:
    stranger = Authority(tmp_path / "stranger")
    pages = LoopbackPages(port, stranger.certificate, stranger.client("admin"))
    with pytest.raises(ClusterError, match="CERTIFICATE_VERIFY_FAILED"):
        pages.get("/healthz")


def test_nobody_listening_is_told_with_the_address(authority: Authority) -> None:
    with Server(("127.0.0.1", 0), Handler) as server:
        port = server.server_address[1]
    pages = LoopbackPages(port, authority.certificate, authority.client("admin"))
    with pytest.raises(ClusterError, match=f"127.0.0.1:{port}/healthz: .*refused"):
        pages.get("/healthz")
