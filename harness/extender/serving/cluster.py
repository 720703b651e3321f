"""A cluster's API for extenders that bind pods or look at what runs where, without a cost for those that do not."""

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from harness.errors import HarnessError
from harness.extender.author import Node, Pod, Refused, View
from harness.kube import Kube

NO_CLUSTER = "this extender watches the cluster; start it with --kubeconfig"
NOT_SEEN = "the extender does not see the cluster yet"
# Below the 5 s that kube-scheduler waits for a reply, if it is not told otherwise.
PATIENCE_SECONDS = 4.0
RETRY_SECONDS = 1.0
CHECK_SECONDS = 0.2

Seen = TypeVar("Seen", bound=View)


class LateKube(Kube):
    """A connection that is made beside the start of an extender: loading what it needs takes ten times as long."""

    def __init__(self, kubeconfig: Path) -> None:
        # Without super().__init__: that one wants the connection now.
        self._kubeconfig = kubeconfig
        self._resources = None
        self._lock = threading.Lock()
        self._connecting = threading.Lock()

    def warm_up(self) -> None:
        """Connect in a thread of its own; whoever needs the connection earlier waits for it."""
        threading.Thread(target=self._connect_quietly, name="connect", daemon=True).start()

    def _connect_quietly(self) -> None:
        # Whoever uses the connection is told what is wrong with it.
        with contextlib.suppress(Exception):
            _ = self._pool

    def __getattr__(self, name: str) -> Any:
        if name not in {"_api", "_pool"}:
            raise AttributeError(name)
        with self._connecting:
            if name not in self.__dict__:
                connected = Kube.connect(self._kubeconfig)
                self.__dict__.update(_api=connected._api, _pool=connected._pool)  # noqa: SLF001 - we are a Kube too
        return self.__dict__[name]


class Picture(Generic[Seen]):
    """What a collection holds now, kept up by a thread of its own.

    Args:
        kube: the cluster, if there is one.
        path: the collection.
        view: how its objects are looked at.
        on_change: told of every object that came, changed (True) or went (False).
    """

    def __init__(
        self,
        kube: Kube | None,
        path: str,
        view: type[Seen],
        on_change: Callable[[Seen, bool], None] | None = None,
    ) -> None:
        self._kube = kube
        self._path = path
        self._view = view
        self._on_change = on_change
        self._items: dict[str, Seen] = {}
        self._lock = threading.Lock()
        self._complete = threading.Event()
        if kube is not None:
            threading.Thread(target=self._follow, args=(kube,), name=f"picture of {path}", daemon=True).start()

    def now(self) -> list[Seen]:
        """Return every object; a call that comes before the first list is in waits for it.

        Raises:
            Refused: there is no cluster, or it cannot be seen; to guess would be worse.
        """
        if self._kube is None:
            raise Refused(NO_CLUSTER)
        if not self._complete.wait(PATIENCE_SECONDS):
            raise Refused(NOT_SEEN)
        with self._lock:
            return list(self._items.values())

    def _follow(self, kube: Kube) -> None:
        from harness.clock import SYSTEM  # noqa: PLC0415 - in this thread, so that it delays no start
        from harness.cluster.follow import Change, Follower  # noqa: PLC0415 - as above
        from harness.scenario import amounts as _  # noqa: F401, PLC0415 - the first call shall not wait for it

        while True:
            items: dict[str, Seen] = {}

            def take(change: Change, items: dict[str, Seen] = items) -> None:
                self._take(items, self._view(change.item), gone=change.event == "DELETED")

            try:
                with Follower(kube, self._path, take) as follower:
                    self._replace(items)
                    while follower.error is None:
                        SYSTEM.pause(CHECK_SECONDS)
            except HarnessError:
                # Told to whoever asks meanwhile; the next try may find the API server again.
                pass
            self._complete.clear()
            SYSTEM.pause(RETRY_SECONDS)

    def _take(self, items: dict[str, Seen], seen: Seen, *, gone: bool) -> None:
        with self._lock:
            if gone:
                items.pop(seen.uid, None)
            else:
                items[seen.uid] = seen
        if self._on_change:
            self._on_change(seen, not gone)

    def _replace(self, items: dict[str, Seen]) -> None:
        with self._lock:
            lost = [seen for uid, seen in self._items.items() if uid not in items]
            self._items = items
        self._complete.set()
        for seen in lost:
            # What went while nobody looked.
            if self._on_change:
                self._on_change(seen, False)


def pods(kube: Kube | None, on_change: Callable[[Pod, bool], None] | None = None) -> Picture[Pod]:
    """Return a picture of all pods."""
    return Picture(kube, "/api/v1/pods", Pod, on_change)


def nodes(kube: Kube | None) -> Picture[Node]:
    """Return a picture of all nodes."""
    return Picture(kube, "/api/v1/nodes", Node)


def is_running(pod: Pod) -> bool:
    """Return whether a pod takes up room on a node."""
    return bool(pod.node) and (pod.raw.get("status") or {}).get("phase") not in {"Succeeded", "Failed"}
