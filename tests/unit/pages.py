"""A server of pages on loopback, as a scheduler in a pod has one, and the tunnel that leads to it."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from harness.certificates import Authority


@dataclass
class Served:
    """A running server: its pages by path, what it was asked, and who is connected to it now."""

    port: int
    pages: dict[str, tuple[int, str]]
    closes: bool = False
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    connections: list[socket.socket] = field(default_factory=list)

    def drop(self) -> None:
        """End every connection, as a server that is started anew does."""
        for one in self.connections:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


class Forward:
    """The official client's forwarding of a port, as seen from outside, without an API server in between."""

    def __init__(self, port: int) -> None:
        self._raw = socket.create_connection(("127.0.0.1", port))
        self.connected = True
        self.ended = threading.Event()
        self.websocket = self

    def socket(self, port: int) -> Any:
        return SimpleNamespace(_socket=self._raw)

    def close(self) -> None:
        self._raw.close()
        self.connected = False
        self.ended.set()

    def shutdown(self) -> None:
        """Stand for the end of the connection to the API server."""


def server_context(folder: Path) -> ssl.SSLContext:
    """Return what a server speaks TLS with; nobody knows who signed its certificate."""
    identity = Authority(folder).server("pages")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity.certificate, identity.key)
    return context


@contextlib.contextmanager
def serving(pages: Mapping[str, tuple[int, str]], context: ssl.SSLContext | None = None) -> Iterator[Served]:
    """Serve pages; every other path is 404."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            served.connections.append(self.connection)

        def do_GET(self) -> None:
            served.asked.append((self.path, self.headers["Authorization"]))
            status, text = served.pages.get(self.path, (404, "404 page not found"))
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            if served.closes:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            pass

    with Server(("127.0.0.1", 0), Handler) as server:
        served = Served(server.server_port, dict(pages))
        if context:
            # The handshake in the connection's own thread: one that never comes must hold up nobody.
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()
            served.drop()
