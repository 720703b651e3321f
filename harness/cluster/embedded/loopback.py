"""Reads pages of servers on loopback, verified by the cluster's own authority, before the full client is loaded."""

import http.client
import ssl
from pathlib import Path

from harness.certificates import Identity
from harness.errors import ClusterError

OK = 200
TIMEOUT_SECONDS = 10.0


class LoopbackPages:
    """The pages of one server: health, metrics, configuration."""

    def __init__(self, port: int, authority: Path, identity: Identity) -> None:
        self._port = port
        self._context = ssl.create_default_context(cafile=str(authority))
        self._context.load_cert_chain(str(identity.certificate), str(identity.key))

    def get(self, path: str) -> str:
        """Return a page.

        Raises:
            ClusterError: the server does not answer, or not with 200.
        """
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self._port, context=self._context, timeout=TIMEOUT_SECONDS
        )
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            text = response.read().decode(errors="replace")
        except (OSError, http.client.HTTPException) as error:
            raise ClusterError(f"https://127.0.0.1:{self._port}{path}: {error}") from error
        finally:
            connection.close()
        if response.status != OK:
            raise ClusterError(f"https://127.0.0.1:{self._port}{path}: {response.status} {text.strip()[-300:]}")
        return text

    def is_ok(self, path: str) -> bool:
        """Return whether a page answers with 200."""
        try:
            self.get(path)
        except ClusterError:
            return False
        return True
