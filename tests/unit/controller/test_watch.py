import threading
from collections.abc import Iterator

import pytest

from harness.controller.watch import Watch
from harness.errors import ClusterError
from harness.kube import Object
from harness.streaming import Stream
from tests.unit.controller.given import Api, node_item, pod_item, running, until


class Unsteady(Api):
    """Its watches can be broken, and its whole server can be away."""

    def __init__(self) -> None:
        super().__init__()
        self.away = threading.Event()
        self.streams: list[tuple[str, Stream]] = []

    def request(self, method: str, path: str, **more: object) -> object:
        if self.away.is_set() and threading.current_thread().name.startswith("watch"):
            raise ClusterError(f"{method} {path}: the API server does not answer")
        return super().request(method, path, **more)

    def watch(self, path: str, resource_version: str) -> Stream:
        if self.away.is_set():
            raise ClusterError(f"GET {path}: the API server does not answer")
        stream = super().watch(path, resource_version)
        self.streams.append((path, stream))
        return stream

    def lose(self) -> None:
        """End every watch; whoever tries to go on is refused."""
        self.away.set()
        for _, stream in self.streams:
            stream.close()


@pytest.fixture
def api() -> Unsteady:
    made = Unsteady()
    made.add(node_item("a"))
    return made


def test_what_happened_while_the_watch_was_lost_is_seen_after(api: Unsteady) -> None:
    with running(api) as at_work:
        api.add(pod_item("leaves", cpu="4"))
        until(lambda: "leaves" in api.nodes_of(), "the first binding")
        until(lambda: not at_work.waiting("active"), "the end of the work")
        api.lose()
        until(lambda: at_work.races("watch_lost") == 2, "the loss of both watches")
        assert "/api/v1/pods: " in at_work.controller.missing()
        api.delete("/api/v1/namespaces/default/pods/leaves")
        api.add(pod_item("comes", cpu="4"))
        api.away.clear()
        until(lambda: "comes" in api.nodes_of(), "the binding after the loss")
        until(lambda: at_work.controller.missing() == "", "both watches")
    assert at_work.has_said("watch lost, lists anew (watch_lost): /api/v1/pods: ClusterError")
    assert at_work.races("watch_lost") == 2


def test_a_history_that_is_not_kept_is_told_too(api: Unsteady) -> None:
    with running(api) as at_work:
        # From here on, a watch that goes on where it was is answered with 410.
        api.compact()
        for _, stream in list(api.streams):
            stream.close()
        until(lambda: at_work.races("watch_lost") == 2, "the relists")
        api.add(pod_item())
        until(api.nodes_of, "the binding")
    assert at_work.has_said("what happened since is not kept any more")


def test_a_server_that_comes_late_is_waited_for(api: Unsteady) -> None:
    api.away.set()
    said: list[tuple[str, bool]] = []
    taken: list[tuple[str, str]] = []
    watch = Watch(
        api,
        "/api/v1/nodes",
        lambda event, item: taken.append((event, _name(item))),
        lambda why, was_whole: said.append((why, was_whole)),
    )
    watch.start()
    until(lambda: said, "the first failure")
    assert not watch.whole.is_set()
    assert watch.problem == "ClusterError: GET /api/v1/nodes: the API server does not answer"
    api.away.clear()
    assert watch.whole.wait(30)
    watch.stop()
    assert taken == [("ADDED", "a")]
    assert {was_whole for _, was_whole in said} == {False}


def test_only_what_changed_is_told_again(api: Unsteady) -> None:
    api.add(node_item("b"), node_item("c"))
    taken: list[tuple[str, str]] = []
    watch = Watch(api, "/api/v1/nodes", lambda event, item: taken.append((event, _name(item))), lambda *_: None)
    watch.start()
    assert watch.whole.wait(30)
    api.lose()
    until(lambda: not watch.whole.is_set(), "the loss")
    api.delete("/api/v1/nodes/a")
    api.patch("/api/v1/nodes/b", {"spec": {"unschedulable": True}})
    del taken[:]
    api.away.clear()
    assert watch.whole.wait(30)
    watch.stop()
    assert taken == [("DELETED", "a"), ("MODIFIED", "b")]


def _name(item: Object) -> str:
    return str(item["metadata"]["name"])


@pytest.fixture(autouse=True)
def no_thread_left() -> Iterator[None]:
    yield
    until(lambda: not any(one.name.startswith("watch /") for one in threading.enumerate()), "the end of all watches")
