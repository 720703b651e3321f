"""Pages without TLS, and when a server counts as ready."""

import contextlib
import http.server
import socket
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from harness.certificates import Authority
from harness.cluster.base import Program
from harness.cluster.beside import Beside
from harness.cluster.embedded.loopback import PlainPages, StrangersPages
from harness.errors import ClusterError, NoSuchPage
from tests.unit.pages import server_context
from tests.unit.pages import serving as served_at


@contextlib.contextmanager
def serving(pages: Mapping[str, tuple[int, str]]) -> Iterator[PlainPages]:
    """Serve pages on loopback; what is not among them is not found."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, text = pages.get(self.path, (404, "no such page"))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield PlainPages(server.server_address[1])
        finally:
            server.shutdown()
            thread.join()


OK, BUSY, BROKEN = (200, "ok"), (503, "not yet"), (500, "broken")


@pytest.mark.parametrize(
    ("pages", "ready"),
    [
        ({"/readyz": OK}, True),
        ({"/readyz": OK, "/healthz": BROKEN}, True),
        ({"/healthz": OK}, True),
        ({"/readyz": BUSY, "/healthz": OK}, False),
        ({"/readyz": BROKEN}, False),
        ({"/healthz": BUSY}, False),
        ({"/metrics": OK}, False),
        ({"/readyz": (204, "")}, False),
        ({"/readyz": (302, ""), "/healthz": OK}, False),
    ],
)
def test_ready_is_what_says_so_and_without_that_page_what_is_healthy(
    pages: dict[str, tuple[int, str]], ready: bool
) -> None:
    with serving(pages) as served:
        assert served.is_ready() is ready


def test_nobody_listening_is_not_ready() -> None:
    with serving({"/readyz": OK}) as served:
        assert served.is_ready()
    assert not served.is_ready()
    assert not served.is_ok("/readyz")


@contextlib.contextmanager
def greeting() -> Iterator[PlainPages]:
    """Answer everybody, but not in HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            # The end of the listener is the end of the loop.
            with contextlib.suppress(OSError):
                while True:
                    connection, _address = server.accept()
                    with connection:
                        connection.recv(4096)
                        connection.sendall(b"SSH-2.0-somebody\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        try:
            yield PlainPages(server.getsockname()[1])
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def test_a_server_that_speaks_something_else_is_not_ready() -> None:
    with greeting() as pages:
        assert not pages.is_ready()
        with pytest.raises(ClusterError, match=r"http://127\.0\.0\.1:\d+/metrics: "):
            pages.get("/metrics")


def test_a_page_is_read_without_tls_and_its_address_says_so() -> None:
    with serving({"/metrics": (200, "a 1\nä 2\n"), "/odd": (403, "no\n" * 200 + "not yours\n")}) as served:
        assert served.get("/metrics") == "a 1\nä 2\n"
        with pytest.raises(ClusterError, match=r"http://127\.0\.0\.1:\d+/odd: 403 (?s:.*)not yours$") as caught:
            served.get("/odd")
    assert len(str(caught.value)) < 400


def test_a_page_that_a_server_does_not_know_is_told_from_one_that_did_not_come() -> None:
    with serving({"/broken": BROKEN}) as served:
        with pytest.raises(NoSuchPage, match="/metrics: 404 no such page"):
            served.get("/metrics")
        with pytest.raises(ClusterError, match="/broken: 500") as broken:
            served.get("/broken")
    assert not isinstance(broken.value, NoSuchPage)


def test_a_program_that_serves_nothing_has_no_page() -> None:
    unused = cast("Any", None)
    beside = Beside(unused, unused, unused, unused, unused, unused)
    pages = beside._pages(Program(("mine",), serves="nothing"), 1)
    with pytest.raises(NoSuchPage, match=r"^/metrics: the scheduler serves no pages$"):
        pages.get("/metrics")


@pytest.mark.parametrize("secure", [True, False], ids=["https", "http"])
def test_a_stranger_may_have_any_certificate_or_none(tmp_path: Path, secure: bool) -> None:
    reader = Authority(tmp_path / "ours").client("reader")
    context = server_context(tmp_path / "theirs") if secure else None
    with served_at({"/readyz": BUSY, "/metrics": (200, "a 1\n")}, context) as served:
        pages = StrangersPages(served.port, reader)
        assert not pages.is_ready()
        served.pages["/readyz"] = OK
        assert pages.is_ready()
        assert pages.get("/metrics") == "a 1\n"


def test_a_stranger_that_calls_plain_requests_bad_ones_is_asked_behind_tls(tmp_path: Path) -> None:
    """Go answers 400 to plain requests where it serves TLS; that is no way to speak with it."""
    with served_at({"/readyz": (400, "Client sent an HTTP request to an HTTPS server.")}) as served:
        pages = StrangersPages(served.port, Authority(tmp_path / "ours").client("reader"))
        assert not pages.is_ready()
        with pytest.raises(ClusterError, match=r"https://127\.0\.0\.1:\d+/metrics"):
            pages.get("/metrics")


@pytest.mark.parametrize("status", [401, 403])
def test_what_a_stranger_shows_to_others_only_is_no_page(tmp_path: Path, status: int) -> None:
    with served_at({"/readyz": OK, "/metrics": (status, "not for you")}) as served:
        pages = StrangersPages(served.port, Authority(tmp_path / "ours").client("reader"))
        assert pages.is_ready()
        with pytest.raises(NoSuchPage, match=f"/metrics: {status} not for you"):
            pages.get("/metrics")


def test_a_stranger_that_is_not_there_yet_is_not_ready(tmp_path: Path) -> None:
    with served_at({"/readyz": OK}) as served:
        pages = StrangersPages(served.port, Authority(tmp_path / "ours").client("reader"))
    assert not pages.is_ready()
