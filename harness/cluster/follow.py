"""Follows a collection of objects: its list, then every change, each stamped when it arrived here."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from harness.clock import SYSTEM, Clock
from harness.errors import ApiError, ClusterError, HarnessError
from harness.kube import GONE, Kube, Object
from harness.streaming import Stream


@dataclass(frozen=True)
class Change:
    """One change, as it was seen."""

    arrived: float
    event: str
    item: Object


class Follower:
    """A thread that follows one collection. A context manager: entered, the list has been handed over already."""

    def __init__(self, kube: Kube, path: str, on_change: Callable[[Change], None], clock: Clock = SYSTEM) -> None:
        self._kube = kube
        self._path = path
        self._on_change = on_change
        self._clock = clock
        self._known: dict[str, Object] = {}
        self._stream: Stream | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"follow {path}", daemon=True)
        self.error: HarnessError | None = None

    def __enter__(self) -> Self:
        self._version = self._list()
        self._stream = self._kube.watch(self._path, self._version)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        if self._stream:
            self._stream.close()
        self._thread.join(timeout=5)

    def _list(self) -> str:
        version = ""
        seen: dict[str, Object] = {}
        for page in self._kube.pages(self._path):
            version = page["metadata"]["resourceVersion"]
            for item in page["items"] or []:
                seen[item["metadata"]["uid"]] = item
        # After a lost watch the list tells what happened meanwhile; the first time everything is new.
        for uid in self._known.keys() - seen.keys():
            self._hand_over("DELETED", self._known[uid])
        for uid, item in seen.items():
            known = self._known.get(uid)
            if known is None:
                self._hand_over("ADDED", item)
            elif known["metadata"]["resourceVersion"] != item["metadata"]["resourceVersion"]:
                self._hand_over("MODIFIED", item)
        return version

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                self._follow_once()
        except Exception as error:  # noqa: BLE001 - a thread that ended silently would leave a hole in the record
            if not self._stopping.is_set():
                self.error = error if isinstance(error, HarnessError) else ClusterError(self._loss(error))

    def _loss(self, error: Exception) -> str:
        return f"WATCH {self._path}: broken off by {type(error).__name__}: {error}; what happened since was not seen"

    def _follow_once(self) -> None:
        try:
            self._stream = self._stream or self._kube.watch(self._path, self._version)
            if self._stopping.is_set():
                # Who stops us closed the stream before this one.
                self._stream.close()
            for change in self._stream:
                self._take(change["type"], change["object"])
        except ApiError as error:
            if error.status != GONE:
                raise
            self._version = self._list()
        self._stream = None

    def _take(self, event: str, item: Object) -> None:
        if event == "ERROR":
            raise ApiError("WATCH", self._path, item.get("code", 0), item.get("message", ""))
        self._version = item["metadata"]["resourceVersion"]
        if event != "BOOKMARK":
            self._hand_over(event, item)

    def _hand_over(self, event: str, item: Object) -> None:
        uid = item["metadata"]["uid"]
        if event == "DELETED":
            self._known.pop(uid, None)
        else:
            self._known[uid] = item
        self._on_change(Change(self._clock.now(), event, item))
