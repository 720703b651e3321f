"""The controller's own small server: health, readiness, metrics and settings, on loopback only."""

import socketserver
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler

from harness.errors import InputError

LOOPBACK = "127.0.0.1"
TEXT = "text/plain; version=0.0.4; charset=utf-8"
_OK, _NOT_FOUND = 200, 404

Page = Callable[[], tuple[int, str]]


class _Server(socketserver.ThreadingTCPServer):
    # Started again at the port that it had; connections of before must not keep it.
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64


class Pages:
    """Serves pages by path; a page is a function that returns a status and a text.

    Raises:
        InputError: the port cannot be had.
    """

    def __init__(self, pages: Mapping[str, Page], port: int) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                page = pages.get(self.path.partition("?")[0])
                status, text = page() if page else (_NOT_FOUND, f"there are: {', '.join(pages)}\n")
                body = text.encode()
                self.send_response(status)
                self.send_header("Content-Type", TEXT)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Be quiet: the log is about pods."""

        try:
            # Not http.server's own: it would look up the machine's name, which can take seconds.
            self._server = _Server((LOOPBACK, port), Handler)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise InputError(f"port {port}: {why}; choose another with --port, or 0 for any") from error
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="pages", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """Return the port it listens on."""
        return int(self._server.server_address[1])

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
