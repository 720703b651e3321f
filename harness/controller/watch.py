"""Keeps up a picture of a collection for as long as the controller runs: a watch that is lost is made anew."""

import threading
from collections.abc import Callable

from harness.cluster.follow import Change, Follower
from harness.kube import Kube, Object

RETRY_SECONDS = 0.1
RETRY_SECONDS_MAX = 2.0


class _Follower(Follower):
    """A follower that goes on where another one was lost, tells when it had to list anew, and when it has ended."""

    def __init__(
        self,
        kube: Kube,
        path: str,
        on_change: Callable[[Change], None],
        known: dict[str, Object],
        relisted: Callable[[], None],
    ) -> None:
        self.ended = threading.Event()
        self._relisted = relisted
        self._lists = 0
        super().__init__(kube, path, on_change)
        # With what the one before had seen, the first list tells what happened since, deletions too.
        self._known = known

    def _list(self) -> str:
        self._lists += 1
        if self._lists > 1:
            self._relisted()
        return super()._list()

    def _run(self) -> None:
        try:
            super()._run()
        finally:
            self.ended.set()


class Watch:
    """A thread that follows a collection, whatever happens to the API server.

    Args:
        kube: the cluster.
        path: the collection.
        take: told of every change as (event, object); what went while nobody looked comes as DELETED.
        lost: told why a watch was lost (True), or could not be begun (False).
    """

    def __init__(
        self, kube: Kube, path: str, take: Callable[[str, Object], None], lost: Callable[[str, bool], None]
    ) -> None:
        self._kube = kube
        self.path = path
        self._take = take
        self._lost = lost
        self._known: dict[str, Object] = {}
        self._stopping = threading.Event()
        self._follower: _Follower | None = None
        self._was_whole = False
        self.whole = threading.Event()
        self.problem = "not listed yet"
        self._thread = threading.Thread(target=self._keep, name=f"watch {path}", daemon=True)

    def start(self) -> None:
        """Begin; `whole` is set when the first list is in, and cleared while a watch is lost."""
        self._thread.start()

    def stop(self) -> None:
        """End it."""
        self._stopping.set()
        if self._follower:
            self._follower.ended.set()
        self._thread.join(timeout=5)

    def _keep(self) -> None:
        pause = RETRY_SECONDS
        while not self._stopping.is_set():
            try:
                error = self._follow()
                pause = RETRY_SECONDS
            except Exception as caught:  # noqa: BLE001 - a thread that ended silently would leave the picture as it is
                error = caught
            self.whole.clear()
            if self._stopping.is_set():
                return
            self.problem = f"{type(error).__name__}: {error}" if error else "ended"
            self._lost(f"{self.path}: {self.problem}", self._was_whole)
            self._was_whole = False
            self._stopping.wait(pause)
            pause = min(2 * pause, RETRY_SECONDS_MAX)

    def _follow(self) -> Exception | None:
        with _Follower(self._kube, self.path, self._on_change, self._known, self._on_relist) as follower:
            self._follower = follower
            self.problem = ""
            self._was_whole = True
            self.whole.set()
            if not self._stopping.is_set():
                follower.ended.wait()
            return follower.error

    def _on_change(self, change: Change) -> None:
        self._take(change.event, change.item)

    def _on_relist(self) -> None:
        self._lost(f"{self.path}: what happened since is not kept any more", True)
