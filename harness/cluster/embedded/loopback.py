"""Reads pages of servers on loopback, before the full client is loaded."""

import http.client
import ssl
from pathlib import Path

from harness.certificates import Identity
from harness.errors import ClusterError, NoSuchPage

OK = 200
BAD_REQUEST = 400
UNAUTHORIZED, FORBIDDEN = 401, 403
NOT_FOUND = 404
TIMEOUT_SECONDS = 10.0


class Pages:
    """The pages of one server on loopback: health, metrics, configuration."""

    scheme = "http"
    none = frozenset({NOT_FOUND})
    """The answers of a server that has no such page for us."""

    def __init__(self, port: int) -> None:
        self._port = port

    def get(self, path: str) -> str:
        """Return a page.

        Raises:
            NoSuchPage: the server knows of none.
            ClusterError: it does not answer, or not with 200.
        """
        status, text = self._ask(path)
        if status != OK:
            kind = NoSuchPage if status in self.none else ClusterError
            raise kind(f"{self._url(path)}: {status} {text.strip()[-300:]}")
        return text

    def is_ok(self, path: str) -> bool:
        """Return whether a page answers with 200."""
        return self._status(path) == OK

    def is_spoken(self) -> bool:
        """Return whether the server answers this way at all; one with TLS calls plain requests bad ones."""
        return self._status("/readyz") not in {None, BAD_REQUEST}

    def is_ready(self) -> bool:
        """Return whether the server says that it is ready; one that knows no such page, that it is healthy."""
        status = self._status("/readyz")
        return status == OK or (status == NOT_FOUND and self.is_ok("/healthz"))

    def _status(self, path: str) -> int | None:
        try:
            return self._ask(path)[0]
        except ClusterError:
            return None

    def _ask(self, path: str) -> tuple[int, str]:
        connection = self._connection()
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode(errors="replace")
        except (OSError, http.client.HTTPException) as error:
            raise ClusterError(f"{self._url(path)}: {error}") from error
        finally:
            connection.close()

    def _url(self, path: str) -> str:
        return f"{self.scheme}://127.0.0.1:{self._port}{path}"

    def _connection(self) -> http.client.HTTPConnection:
        raise NotImplementedError


class LoopbackPages(Pages):
    """Pages behind TLS, verified by the cluster's own authority, if told, asked for with a certificate of ours."""

    scheme = "https"

    def __init__(self, port: int, authority: Path | None, identity: Identity) -> None:
        super().__init__(port)
        self._context = ssl.create_default_context(cafile=str(authority) if authority else None)
        if authority is None:
            self._context.check_hostname = False
            self._context.verify_mode = ssl.CERT_NONE
        self._context.load_cert_chain(str(identity.certificate), str(identity.key))

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPSConnection("127.0.0.1", self._port, context=self._context, timeout=TIMEOUT_SECONDS)


class NoPages(Pages):
    """The pages of a program that serves none."""

    def _ask(self, path: str) -> tuple[int, str]:
        raise NoSuchPage(f"{path}: the scheduler serves no pages")


class PlainPages(Pages):
    """Pages of a server without TLS."""

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self._port, timeout=TIMEOUT_SECONDS)


class StrangersPages(Pages):
    """Pages of somebody else's scheduler: plain ones, or behind TLS with whatever certificate it made for itself.

    Nobody but a program that we started answers on this port, so there is nobody to verify. Plain http is tried first:
    a server with TLS refuses that at once, but a plain one may wait for the rest of a greeting that it cannot read.
    """

    scheme = "http(s)"
    # Whose clients it knows is its own affair: what it shows to others only, it will not show us tomorrow.
    none = Pages.none | {UNAUTHORIZED, FORBIDDEN}

    def __init__(self, port: int, identity: Identity) -> None:
        super().__init__(port)
        self._plain: Pages = PlainPages(port)
        self._secure: Pages = LoopbackPages(port, None, identity)
        self._chosen: Pages | None = None

    def is_ready(self) -> bool:
        """Return whether the server says that it is ready, and remember how it speaks."""
        self._chosen = self._chosen or next((way for way in (self._plain, self._secure) if way.is_spoken()), None)
        return self._chosen is not None and self._chosen.is_ready()

    def _ask(self, path: str) -> tuple[int, str]:
        return (self._chosen or self._secure)._ask(path)  # noqa: SLF001 - one of its own kind
