"""Talks to etcd directly, through its JSON gateway on a Unix socket: for what the API server has no request."""

import base64
import http.client
import json
import socket
from pathlib import Path
from typing import Any

from harness.errors import ClusterError

OK = 200


def keys(etcd_socket: Path, prefix: str) -> list[str]:
    """Return every key that starts with `prefix`, in one request."""
    answer = _post(etcd_socket, "/v3/kv/range", {**_range(prefix), "keys_only": True})
    return [base64.b64decode(entry["key"]).decode() for entry in answer.get("kvs", ())]


def forget(etcd_socket: Path, prefix: str) -> None:
    """Delete every key that starts with `prefix`; only for a cluster whose API server has stopped."""
    _post(etcd_socket, "/v3/kv/deleterange", _range(prefix))


def _range(prefix: str) -> dict[str, Any]:
    end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
    return {name: base64.b64encode(key.encode()).decode() for name, key in (("key", prefix), ("range_end", end))}


def _post(etcd_socket: Path, path: str, body: dict[str, Any]) -> Any:
    connection = http.client.HTTPConnection("localhost")
    try:
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(etcd_socket))
        connection.request("POST", path, body=json.dumps(body))
        response = connection.getresponse()
        text = response.read().decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        raise ClusterError(f"etcd does not answer at {etcd_socket}: {error}") from error
    finally:
        connection.close()
    if response.status != OK:
        raise ClusterError(f"etcd: {path}: {response.status} {text}")
    return json.loads(text)
