import errno
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from harness import tunnel
from harness.errors import ApiError, ClusterError, NoSuchPage
from harness.kube import Kube
from harness.testing import FakeKube
from harness.tunnel import Server, TunnelPages
from tests.processes import PATIENCE_SECONDS
from tests.unit.pages import Forward, Served, server_context, serving

PAGES = {"/healthz": (200, "ok"), "/metrics": (200, "a 1\n"), "/broken": (500, "it is broken\n")}


class Line:
    """Where the API server would lead to: a port, or a refusal; and every time that it was dialled."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.refusal: ApiError | None = None
        self.dialled: list[tuple[str, str, int]] = []
        self.forwards: list[Forward] = []

    def __call__(self, kube: Kube, namespace: str, pod: str, port: int) -> Forward:
        self.dialled.append((namespace, pod, port))
        if self.refusal:
            raise self.refusal
        self.forwards.append(Forward(self.port))
        return self.forwards[-1]


Open = Callable[..., tuple[TunnelPages, Line]]


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    return server_context(tmp_path_factory.mktemp("pages") / "authority")


@pytest.fixture
def served(context: ssl.SSLContext) -> Iterator[Served]:
    with serving(PAGES, context) as found:
        yield found


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens the pages behind a port of this machine; they are closed at the end."""
    every: list[TunnelPages] = []

    def to(leads_to: int, **server: Any) -> tuple[TunnelPages, Line]:
        line = Line(leads_to)
        monkeypatch.setattr(tunnel, "_forwarded", line)
        given = {"namespace": "kube-system", "pod": lambda: "scheduler-1", "port": 10259, **server}
        every.append(TunnelPages(FakeKube(), Server(**given)))
        return every[-1], line

    yield to
    for pages in every:
        pages.close()


def test_a_page_comes_from_the_pod_by_tls_that_nobody_vouches_for(served: Served, opened: Open) -> None:
    pages, line = opened(served.port)
    assert pages.get("/metrics") == "a 1\n"
    assert line.dialled == [("kube-system", "scheduler-1", 10259)]


def test_who_has_a_token_shows_it(served: Served, opened: Open) -> None:
    opened(served.port, token="secret")[0].get("/healthz")
    opened(served.port)[0].get("/healthz")
    assert served.asked == [("/healthz", "Bearer secret"), ("/healthz", None)]


def test_plain_pages_are_read_too(opened: Open) -> None:
    with serving(PAGES) as plain:
        assert opened(plain.port, scheme="http")[0].get("/metrics") == "a 1\n"


def test_one_connection_is_kept_from_page_to_page(served: Served, opened: Open) -> None:
    pages, line = opened(served.port)
    for path in ("/healthz", "/metrics", "/healthz"):
        pages.get(path)
    assert (len(line.dialled), len(served.connections), len(served.asked)) == (1, 1, 3)


def test_a_page_that_is_none_is_told_with_what_the_server_said(served: Served, opened: Open) -> None:
    pages, line = opened(served.port)
    with pytest.raises(ClusterError, match=r"^https://kube-system/10259/broken: 500 it is broken$") as broken:
        pages.get("/broken")
    assert not isinstance(broken.value, NoSuchPage)
    with pytest.raises(NoSuchPage, match="/nothing: 404 404 page not found"):
        pages.get("/nothing")
    assert pages.get("/healthz") == "ok"
    assert len(line.dialled) == 1


def test_a_long_refusal_is_cut(served: Served, opened: Open) -> None:
    served.pages["/broken"] = (500, "x" * 10_000 + "the end")
    with pytest.raises(ClusterError) as caught:
        opened(served.port)[0].get("/broken")
    assert str(caught.value).endswith("the end")
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("answers", "is_ready"),
    [
        ({"/readyz": (200, "ok")}, True),
        ({"/readyz": (500, "not yet"), "/healthz": (200, "ok")}, False),
        ({"/healthz": (200, "ok")}, True),
        ({"/healthz": (500, "no")}, False),
        ({"/readyz": (403, "forbidden"), "/healthz": (200, "ok")}, False),
        ({}, False),
    ],
)
def test_readiness_is_what_the_server_says_and_health_where_it_knows_no_such_page(
    served: Served, opened: Open, answers: dict[str, tuple[int, str]], is_ready: bool
) -> None:
    served.pages = answers
    assert opened(served.port)[0].is_ready() is is_ready


def test_a_lost_connection_is_replaced_once(served: Served, opened: Open) -> None:
    pages, line = opened(served.port)
    pages.get("/healthz")
    served.drop()
    assert pages.get("/metrics") == "a 1\n"
    assert len(line.dialled) == 2


def test_the_pod_is_asked_for_each_time_it_is_dialled(served: Served, opened: Open) -> None:
    names = iter(["before", "after"])
    pages, line = opened(served.port, pod=lambda: next(names))
    pages.get("/healthz")
    served.drop()
    pages.get("/healthz")
    assert [pod for _, pod, _ in line.dialled] == ["before", "after"]


def test_an_answer_that_ends_the_connection_leads_to_no_other_server(served: Served, opened: Open) -> None:
    """Least of all to one of this machine that listens on the port which the scheduler has in its pod."""
    served.closes = True
    with serving({"/healthz": (200, "somebody else")}) as stranger:
        pages, line = opened(served.port, port=stranger.port, token="secret")
        assert [pages.get("/healthz") for _ in range(3)] == ["ok", "ok", "ok"]
    assert stranger.asked == []
    assert len(line.dialled) == 3


def test_a_refusal_of_the_api_server_is_told_and_no_readiness(served: Served, opened: Open) -> None:
    pages, line = opened(served.port)
    line.refusal = ApiError("GET", "/portforward", 403, "forbidden")
    with pytest.raises(ClusterError, match="/healthz: GET /portforward: 403 forbidden"):
        pages.get("/healthz")
    assert not pages.is_ready()
    # A new connection has one chance.
    assert len(line.dialled) == 2
    line.refusal = None
    assert pages.get("/healthz") == "ok"


def test_a_pod_that_is_not_there_is_told(served: Served, opened: Open) -> None:
    def none() -> str:
        raise ApiError("GET", "pods of kube-scheduler", 404, "no such pod now")

    with pytest.raises(ClusterError, match="no such pod now"):
        opened(served.port, pod=none)[0].get("/healthz")


def test_a_server_that_speaks_no_tls_is_told(opened: Open) -> None:
    with serving(PAGES) as plain:
        pages, line = opened(plain.port)
        with pytest.raises(ClusterError, match="/healthz: "):
            pages.get("/healthz")
        assert not line.forwards[-1].connected


def test_closed_it_is_connected_no_more_and_may_be_used_again(served: Served, opened: Open) -> None:
    pages, line = opened(served.port)
    pages.close()
    pages.get("/healthz")
    pages.close()
    pages.close()
    assert not line.forwards[0].connected
    assert pages.get("/healthz") == "ok"
    assert len(line.dialled) == 2


def test_those_who_ask_at_once_are_answered_in_turn(served: Served, opened: Open) -> None:
    served.pages |= {f"/{number}": (200, f"page {number}") for number in range(8)}
    pages, line = opened(served.port)
    got: dict[int, str] = {}

    def ask(number: int) -> None:
        got[number] = pages.get(f"/{number}")

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == {number: f"page {number}" for number in range(8)}
    assert len(line.dialled) == 1


def test_an_api_server_that_forwards_nothing_is_told_as_such() -> None:
    """The real client, and a server that answers the wish for a tunnel with an ordinary page."""
    from kubernetes.client import Configuration

    with serving({}) as server:
        kube = SimpleNamespace(configuration=Configuration(host=f"http://127.0.0.1:{server.port}"))
        with pytest.raises(ApiError, match=r"GET /api/v1/namespaces/n/pods/p/portforward: (?s:.*)404") as caught:
            tunnel._forwarded(kube, "n", "p", 1)  # type: ignore[arg-type]
    assert caught.value.path == "/api/v1/namespaces/n/pods/p/portforward"
    assert [path.partition("?")[0] for path, _ in server.asked] == ["/api/v1/namespaces/n/pods/p/portforward"]


class Gone:
    """The connection to an API server that has just left."""

    connected = True

    def __init__(self) -> None:
        self.sock, other = socket.socketpair()
        other.close()

    def fileno(self) -> int:
        return self.sock.fileno()

    def recv_data_frame(self, _: bool) -> Any:
        raise OSError(errno.EBADF, "Bad file descriptor")


def test_a_forwarding_ends_quietly_with_its_connection() -> None:
    """An error in the client's thread would reach nobody but the standard error of the process."""
    from kubernetes.stream import ws_client

    tunnel._end_quietly()
    gone = Gone()
    client: Any = ws_client
    forward = client.PortForward(gone, [10259])
    assert forward.ended.wait(PATIENCE_SECONDS)
    forward.close()
    gone.sock.close()
