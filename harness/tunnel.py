"""Reads pages of a server inside a pod, through the API server: it listens on its own loopback, and nowhere else."""

import contextlib
import functools
import http.client
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from harness.errors import ApiError, ClusterError, NoSuchPage
from harness.kube import Kube

OK, NOT_FOUND = 200, 404
TIMEOUT_SECONDS = 10.0
CLOSE_SECONDS = 10.0


@dataclass(frozen=True)
class Server:
    """A server inside a pod: where it is, and how it is spoken to. The pod is asked for each time it is dialled."""

    namespace: str
    pod: Callable[[], str]
    port: int
    scheme: str = "https"
    token: str | None = field(default=None, repr=False)


class TunnelPages:
    """The pages of one server: health, metrics, configuration. One connection is kept from page to page."""

    def __init__(self, kube: Kube, server: Server) -> None:
        self._kube = kube
        self._server = server
        self._connection: http.client.HTTPConnection | None = None
        self._forward: Any = None
        self._turn = threading.Lock()

    def get(self, path: str) -> str:
        """Return a page.

        Raises:
            NoSuchPage: the server knows of none.
            ClusterError: it does not answer, or not with 200.
        """
        status, text = self._ask(path)
        if status != OK:
            kind = NoSuchPage if status == NOT_FOUND else ClusterError
            raise kind(f"{self._where(path)}: {status} {text.strip()[-300:]}")
        return text

    def is_ready(self) -> bool:
        """Return whether the server says that it is ready; one that knows no such page, that it is healthy."""
        try:
            status = self._ask("/readyz")[0]
            return status == OK or (status == NOT_FOUND and self._ask("/healthz")[0] == OK)
        except ClusterError:
            return False

    def close(self) -> None:
        """Drop the connection."""
        with self._turn:
            self._hang_up()

    def _ask(self, path: str) -> tuple[int, str]:
        headers = {"Authorization": f"Bearer {self._server.token}"} if self._server.token else {}
        with self._turn:
            for last in (False, True):
                try:
                    if self._connection is None:
                        last = True  # noqa: PLW2901 - a new one has one chance
                        self._connection = self._dial()
                    self._connection.request("GET", path, headers=headers)
                    response = self._connection.getresponse()
                    return response.status, response.read().decode(errors="replace")
                except (OSError, http.client.HTTPException, ApiError) as error:
                    self._hang_up()
                    if last:
                        raise ClusterError(f"{self._where(path)}: {error}") from error
        raise ClusterError(f"{self._where(path)}: no answer")  # pragma: no cover - the last try returns or raises

    def _dial(self) -> http.client.HTTPConnection:
        server = self._server
        self._forward = _forwarded(self._kube, server.namespace, server.pod(), server.port)
        # The real socket: TLS takes no stand-in.
        raw: socket.socket = self._forward.socket(server.port)._socket  # noqa: SLF001
        raw.settimeout(TIMEOUT_SECONDS)
        connection = http.client.HTTPConnection("localhost", server.port, timeout=TIMEOUT_SECONDS)
        # Or it would go on, after an answer that closes it, with whoever listens on that port of this machine.
        connection.auto_open = 0
        connection.sock = _private(raw) if server.scheme == "https" else raw
        return connection

    def _hang_up(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(OSError):
                self._connection.close()
            self._connection = None
        if self._forward is not None:
            self._end_forward()
            self._forward = None

    def _end_forward(self) -> None:
        self._forward.close()
        # A thread of the client's passes bytes on until it sees that we are gone.
        self._forward.ended.wait(CLOSE_SECONDS)
        # When the pod went first, that thread has left its connection open.
        self._forward.websocket.shutdown()

    def _where(self, path: str) -> str:
        return f"{self._server.scheme}://{self._server.namespace}/{self._server.port}{path}"


def _private(raw: socket.socket) -> ssl.SSLSocket:
    # Its certificate is one that it signed itself; that the API server leads to this very pod is what vouches for it.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context.wrap_socket(raw)


def _forwarded(kube: Kube, namespace: str, pod: str, port: int) -> Any:
    """Return the client's forwarding of a port of a pod.

    Raises:
        ApiError: the API server refuses it.
    """
    from kubernetes.client import ApiClient, CoreV1Api
    from kubernetes.client.exceptions import ApiException
    from kubernetes.stream import portforward
    from websocket import WebSocketException  # noqa: PLC0415 - comes with kubernetes

    _end_quietly()
    # A client of its own: the call changes the client that it is made with.
    api = CoreV1Api(ApiClient(kube.configuration))
    path = f"/api/v1/namespaces/{namespace}/pods/{pod}/portforward"
    try:
        return portforward(api.connect_get_namespaced_pod_portforward, pod, namespace, ports=str(port))
    except (ApiException, WebSocketException) as error:
        raise ApiError("GET", path, getattr(error, "status", 0) or 0, str(error)) from error


@functools.cache
def _end_quietly() -> None:
    """Let the client's forwardings end with their connection, and tell when they have.

    Their thread raises into nowhere when either end is gone before everything was passed on; that is for whoever waits
    for an answer to notice.
    """
    from kubernetes.stream import ws_client
    from websocket import WebSocketException  # noqa: PLC0415 - comes with kubernetes

    client: Any = ws_client

    class Quiet(client.PortForward):  # type: ignore[misc]
        """A forwarding whose thread ends without an outcry."""

        def __init__(self, websocket: Any, ports: Any) -> None:
            self.ended = threading.Event()
            super().__init__(websocket, ports)

        def _proxy(self) -> None:
            try:
                with contextlib.suppress(OSError, ValueError, WebSocketException):
                    super()._proxy()
            finally:
                for port in self.local_ports.values():
                    port.python.close()
                self.ended.set()

    client.PortForward = Quiet
