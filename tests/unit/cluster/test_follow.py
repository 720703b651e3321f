import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import urllib3

from harness.clock import wait_until
from harness.cluster.follow import Change, Follower
from harness.errors import ApiError, ClusterError
from harness.kube import Object
from harness.streaming import Stream
from harness.testing import FakeClock, FakeKube, FakeStream
from tests.processes import PATIENCE_SECONDS

PODS = "/api/v1/pods"


def pod(name: str, version: int = 1) -> Object:
    return {"metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": str(version)}}


def change(event: str, name: str, version: int) -> Object:
    return {"type": event, "object": pod(name, version)}


class Scripted(FakeKube):
    """Answers each list and each watch from a script; the last watch stays open and silent."""

    def __init__(self, lists: list[list[Object]], watches: list[Stream | Exception]) -> None:
        super().__init__()
        self.lists = lists
        self.watches = watches
        self.watched_from: list[str] = []

    def pages(
        self, path: str, *, query: Mapping[str, Any] | None = None, accept: str = "application/json"
    ) -> Iterator[Object]:
        items = self.lists.pop(0)
        half = len(items) // 2
        yield {"metadata": {"resourceVersion": "100"}, "items": items[:half] or None}
        yield {"metadata": {"resourceVersion": "100"}, "items": items[half:]}

    def watch(self, path: str, resource_version: str) -> Stream:
        self.watched_from.append(resource_version)
        stream = self.watches.pop(0) if self.watches else FakeStream()
        if isinstance(stream, Exception):
            raise stream
        return stream


class Ending(FakeStream):
    """A watch that the server ends by itself after its changes, perhaps with trouble."""

    def __init__(self, *changes: Object, trouble: Exception | None = None) -> None:
        super().__init__(changes)
        self._trouble = trouble
        super().close()

    def __iter__(self) -> Iterator[Object]:
        yield from super().__iter__()
        if self._trouble:
            raise self._trouble


class Seen:
    """Everything a follower handed over."""

    def __init__(self) -> None:
        self.changes: list[Change] = []

    def __call__(self, seen: Change) -> None:
        self.changes.append(seen)

    def told(self) -> list[tuple[str, str]]:
        return [(seen.event, seen.item["metadata"]["name"]) for seen in self.changes]

    def wait(self, count: int) -> list[tuple[str, str]]:
        wait_until(lambda: len(self.changes) >= count, what=f"{count} changes", timeout_seconds=PATIENCE_SECONDS)
        return self.told()


@pytest.fixture
def seen() -> Seen:
    return Seen()


def await_error(follower: Follower) -> Exception:
    return wait_until(lambda: follower.error, what="an error", timeout_seconds=PATIENCE_SECONDS)


def test_the_list_is_handed_over_before_anything_else(seen: Seen) -> None:
    kube = Scripted([[pod("a"), pod("b")]], [])
    with Follower(kube, PODS, seen):
        assert seen.told() == [("ADDED", "a"), ("ADDED", "b")]
    assert kube.watched_from == ["100"]


def test_every_change_is_handed_over_in_order_and_bookmarks_are_not(seen: Seen) -> None:
    stream = FakeStream()
    with Follower(Scripted([[]], [stream]), PODS, seen):
        for event, version in (("ADDED", 101), ("MODIFIED", 102), ("BOOKMARK", 103), ("DELETED", 104)):
            stream.feed(change(event, "a", version))
        assert seen.wait(3) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


def test_a_change_is_stamped_when_it_arrives(seen: Seen) -> None:
    clock, stream = FakeClock(start=5), FakeStream()
    with Follower(Scripted([[pod("a")]], [stream]), PODS, seen, clock):
        clock.pause(2.5)
        stream.feed(change("MODIFIED", "a", 101))
        seen.wait(2)
    assert [one.arrived for one in seen.changes] == [5, 7.5]


def test_a_watch_that_ends_is_taken_up_where_it_was(seen: Seen) -> None:
    kube = Scripted([[]], [Ending(change("ADDED", "a", 117)), Ending(change("BOOKMARK", "a", 130))])
    with Follower(kube, PODS, seen) as follower:
        seen.wait(1)
        wait_until(lambda: len(kube.watched_from) == 3, what="a third watch", timeout_seconds=PATIENCE_SECONDS)
        assert follower.error is None
    assert kube.watched_from == ["100", "117", "130"]
    assert seen.told() == [("ADDED", "a")]


def test_after_a_lost_history_the_list_tells_what_happened_meanwhile(seen: Seen) -> None:
    gone: Object = {"type": "ERROR", "object": {"code": 410, "message": "too old resource version"}}
    lists = [[pod("stays"), pod("goes"), pod("changes")], [pod("stays"), pod("changes", 7), pod("comes")]]
    with Follower(Scripted(lists, [FakeStream([gone])]), PODS, seen) as follower:
        told = seen.wait(6)
        assert follower.error is None
    assert told[3:] == [("DELETED", "goes"), ("MODIFIED", "changes"), ("ADDED", "comes")]


def test_a_watch_refused_as_too_old_is_answered_by_listing_again(seen: Seen) -> None:
    refused = ApiError("GET", PODS, 410, "too old")
    kube = Scripted([[pod("a")], [pod("b")]], [Ending(), refused])
    with Follower(kube, PODS, seen) as follower:
        assert seen.wait(3) == [("ADDED", "a"), ("DELETED", "a"), ("ADDED", "b")]
        assert follower.error is None


def test_any_other_error_ends_the_following_and_is_kept(seen: Seen) -> None:
    trouble: Object = {"type": "ERROR", "object": {"code": 500, "message": "etcd is gone"}}
    with Follower(Scripted([[]], [FakeStream([trouble])]), PODS, seen) as follower:
        assert str(await_error(follower)) == f"WATCH {PODS}: 500 etcd is gone"


def test_a_server_that_does_not_come_back_is_kept_as_error(seen: Seen) -> None:
    with Follower(Scripted([[]], [Ending(), ClusterError("does not answer")]), PODS, seen) as follower:
        assert str(await_error(follower)) == "does not answer"


def test_a_broken_connection_is_never_a_silence(seen: Seen) -> None:
    """Either the watch is taken up again, or the loss is told: what happens next must not be missing unnoticed."""
    broken = Ending(trouble=urllib3.exceptions.ProtocolError("connection reset by peer"))
    kube = Scripted([[]], [broken, FakeStream([change("ADDED", "later", 101)])])
    with Follower(kube, PODS, seen) as follower:
        wait_until(
            lambda: follower.error or seen.changes, what="an error or a new watch", timeout_seconds=PATIENCE_SECONDS
        )


def test_an_error_while_leaving_is_none(seen: Seen) -> None:
    stream = FakeStream()
    kube = Scripted([[]], [stream, ClusterError("the cluster has ended")])
    with Follower(kube, PODS, seen) as follower:
        pass
    assert follower.error is None


def test_leaving_ends_the_thread(seen: Seen) -> None:
    with Follower(Scripted([[]], []), PODS, seen):
        assert any(thread.name == f"follow {PODS}" for thread in threading.enumerate())
    assert not any(thread.name == f"follow {PODS}" for thread in threading.enumerate())


def test_a_list_that_fails_is_raised_to_who_enters(seen: Seen) -> None:
    kube = FakeKube(known=[])
    with pytest.raises(ApiError, match="404"):
        Follower(kube, PODS, seen).__enter__()
