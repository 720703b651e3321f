"""A small HTTP server with replies made to order, for tests of what an extender may do."""

import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from harness.certificates import Authority

Answer = Callable[[Any], Any]


@dataclass
class Raw:
    """A reply in bytes, for what no well-behaved server sends; `hold` keeps the connection open."""

    data: bytes
    hold: bool = False


@dataclass
class Status:
    """A reply with a status of its own."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Served:
    """A running server and what it was asked."""

    url: str
    seen: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)


def served_by(authority: Authority) -> ssl.SSLContext:
    """Return the TLS of a server on loopback that an authority vouches for."""
    identity = authority.server("extender")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity.certificate, identity.key)
    return context


@contextlib.contextmanager
def serving(routes: Mapping[str, Answer], context: ssl.SSLContext | None = None) -> Iterator[Served]:
    """Serve each path's answer on a loopback port; every other path is 404."""
    released = threading.Event()
    served = Served("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            request = json.loads(body)
            served.seen.append((self.path, dict(self.headers.items()), request))
            answer = routes[self.path](request) if self.path in routes else Status(404, b"404 page not found\n")
            self.close_connection = isinstance(answer, Raw)
            if isinstance(answer, Raw):
                self.wfile.write(answer.data)
                self.wfile.flush()
                if answer.hold:
                    released.wait()
                return
            if not isinstance(answer, Status):
                answer = Status(200, json.dumps(answer).encode())
            self.send_response(answer.status)
            for name, value in {**answer.headers, "Content-Length": str(len(answer.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            pass

    with Server(("127.0.0.1", 0), Handler) as server:
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        served.url = f"{'https' if context else 'http'}://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield served
        finally:
            released.set()
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def silent() -> Iterator[str]:
    """Accept connections, and say nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def keeps_names(request: Any) -> Any:
    """A filter that knows only names."""
    return {"NodeNames": list(request["NodeNames"]), "FailedNodes": {}}


def keeps_nodes(request: Any) -> Any:
    """A filter that knows only whole nodes."""
    return {"Nodes": {"items": list(request["Nodes"]["items"])}, "FailedNodes": {}}


def scores(request: Any) -> Any:
    """A prioritize that takes both."""
    names = request["NodeNames"] or [one["metadata"]["name"] for one in request["Nodes"]["items"]]
    return [{"Host": name, "Score": 5} for name in names]
