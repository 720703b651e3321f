"""Starts extenders as people do, as processes, and asks them as kube-scheduler does."""

import contextlib
import http.client
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from harness.extender import requests
from harness.process import Child, spawn
from tests.processes import PATIENCE_SECONDS, await_text


@dataclass(frozen=True)
class Served:
    """A running extender."""

    child: Child
    port: int

    @property
    def log(self) -> str:
        return self.child.log.read_text()

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)

    def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        with contextlib.closing(self.connection()) as connection:
            connection.request(method, path, body)
            reply = connection.getresponse()
            return reply.status, reply.read()

    def post(self, path: str, arguments: Mapping[str, Any]) -> Any:
        """Post, and return the decoded reply; it must be a good one."""
        status, body = self.ask("POST", path, requests.encoded(arguments))
        assert status == 200, body
        return orjson.loads(body)


@contextlib.contextmanager
def serving(folder: Path, target: str, *options: str, env: Mapping[str, str] | None = None) -> Iterator[Served]:
    """Serve a target on a port of the system's choice until the context ends."""
    log = folder / f"extender-{len(list(folder.glob('extender-*')))}.log"
    command = [sys.executable, "-m", "harness.extender.serving", target, "--port", "0", *options]
    child = spawn("extender", command, log=log, env={"HARNESS_LIFELINE": "stdin", **(env or {})})
    try:
        port = re.search(r"127\.0\.0\.1:(\d+)", await_text(log))
        assert port, log.read_text()
        yield Served(child, int(port[1]))
    finally:
        child.stop()
