import base64
import http.server
import json
import socketserver
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from harness.cluster.embedded import etcd
from harness.errors import ClusterError


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


class Gateway(http.server.BaseHTTPRequestHandler):
    """Stands where etcd's JSON gateway would."""

    asked: ClassVar[list[tuple[str, dict[str, Any]]]] = []
    answer: ClassVar[tuple[int, Any]] = (200, {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.path, body))
        status, answer = self.answer
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def address_string(self) -> str:
        return "a socket"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
        """Say nothing."""


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(Gateway, "asked", [])
    with tempfile.TemporaryDirectory(prefix="h") as folder:
        path = Path(folder) / "etcd.sock"
        with socketserver.UnixStreamServer(str(path), Gateway) as server:
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            yield path
            server.shutdown()
            thread.join()


def test_keys_are_asked_for_by_prefix_in_one_request(gateway: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = ["/registry/pods/default/a", "/registry/minions/n"]
    monkeypatch.setattr(Gateway, "answer", (200, {"kvs": [{"key": encoded(key)} for key in found]}))
    assert etcd.keys(gateway, "/registry/") == found
    ((path, body),) = Gateway.asked
    assert path == "/v3/kv/range"
    assert body == {"key": encoded("/registry/"), "range_end": encoded("/registry0"), "keys_only": True}


def test_an_empty_store_has_no_keys(gateway: Path) -> None:
    assert etcd.keys(gateway, "/registry/") == []


def test_forgetting_is_by_prefix_too(gateway: Path) -> None:
    etcd.forget(gateway, "/registry/leases/kube-system/apiserver-")
    ((path, body),) = Gateway.asked
    assert path == "/v3/kv/deleterange"
    assert body["range_end"] == encoded("/registry/leases/kube-system/apiserver.")


def test_a_refusal_is_told(gateway: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Gateway, "answer", (503, {"error": "no leader"}))
    with pytest.raises(ClusterError, match=r"etcd: /v3/kv/range: 503 .*no leader"):
        etcd.keys(gateway, "/")


def test_nobody_there_is_told_with_the_place(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=rf"etcd does not answer at {tmp_path}/etcd\.sock"):
        etcd.keys(tmp_path / "etcd.sock", "/")
