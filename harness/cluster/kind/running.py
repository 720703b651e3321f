"""A scheduler that runs in a pod: its pages through the API server, its log followed into a file."""

import contextlib
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.cluster.kind.pods import NAMESPACE, OwnPods, restarts, runs, trouble
from harness.errors import ApiError, ClusterError, NoSuchPage, SchedulerDied
from harness.kube import Kube, Object
from harness.process import tail
from harness.streaming import Stream
from harness.tunnel import Server, TunnelPages

READY_SECONDS = 300.0
RETRY_SECONDS = 0.5
_CPU_SECONDS = re.compile(r"^process_cpu_seconds_total (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Where:
    """The pod that a scheduler runs in, known by a label, and how its server is reached.

    `mark` is a word of the container's command or an annotation that only this start of it has.
    """

    label: tuple[str, str]
    container: str
    port: int
    scheme: str
    mark: str

    @property
    def is_static(self) -> bool:
        """Tell whether the kubelet starts it from a file."""
        return self.mark.startswith("/")

    def container_id(self, pods: Mapping[str, Object]) -> str | None:
        """Return which start of the container is the newest; None while there is none."""
        for pod in pods.values():
            for one in pod.get("status", {}).get("containerStatuses") or () if self.is_it(pod) else ():
                if one["name"] == self.container and one.get("containerID"):
                    return str(one["containerID"])
        return None

    def is_it(self, pod: Object) -> bool:
        """Tell whether a pod is the one."""
        metadata = pod["metadata"]
        key, value = self.label
        if "deletionTimestamp" in metadata or metadata.get("labels", {}).get(key) != value:
            return False
        return self.mark in str(pod["spec"]) or self.mark in metadata.get("annotations", {}).values()


class PodScheduler:
    """One running scheduler."""

    def __init__(self, pages: TunnelPages | None, log: Path, config: str, command: Sequence[str]) -> None:
        self.config = config
        self.command = tuple(command)
        self.log = log
        self._pages = pages
        self._closed = False

    def page(self, path: str) -> str:
        """Return a page of its own server.

        Raises:
            NoSuchPage: it serves none.
            ClusterError: it does not answer.
        """
        if self._closed:
            raise ClusterError(f"{path}: the scheduler has ended")
        if self._pages is None:
            raise NoSuchPage(f"{path}: the scheduler serves no pages")
        return self._pages.get(path)

    def cpu_seconds(self) -> float | None:
        """Return what it says that it has used."""
        try:
            found = _CPU_SECONDS.search(self.page("/metrics"))
        except ClusterError:
            return None
        return float(found[1]) if found else None

    def close(self) -> None:
        """Answer nobody any more."""
        self._closed = True
        if self._pages:
            self._pages.close()


class Watched:
    """The schedulers that are to live now: each pod, and how often it had been started when it was taken on."""

    def __init__(self, pods: OwnPods) -> None:
        self._pods = pods
        self._living: dict[str, tuple[Where, int, set[str], Path]] = {}

    def add(self, name: str, where: Where, log: Path) -> None:
        """Expect a scheduler to live from now on."""
        found = [pod for pod in self._pods.now().values() if where.is_it(pod)]
        uids = {pod["metadata"]["uid"] for pod in found}
        self._living[name] = where, sum(map(restarts, found)), uids, log

    def remove(self, name: str) -> None:
        """Expect it no more."""
        self._living.pop(name, None)

    def check(self) -> None:
        """Raise when one of them has died."""
        for name, (where, count, uids, log) in list(self._living.items()):
            for pod in self._pods.now().values():
                if not where.is_it(pod):
                    continue
                # The kubelet makes the pod that mirrors a static one anew as it likes; any other is made for a reason.
                is_another = pod["metadata"]["uid"] not in uids and not where.is_static
                if is_another or restarts(pod) > count or _has_ended(pod, where.container):
                    end = "its pod was replaced by another" if is_another else _end(pod, where.container)
                    raise SchedulerDied(f"{name} died: {end}. Last lines of its log:\n{tail(log)}")


@contextlib.contextmanager
def taken_on(kube: Kube, pods: OwnPods, where: Where, log: Path, *, config: str, token: str) -> Iterator[PodScheduler]:
    """Wait for a scheduler that is being started in a pod, and yield it once it answers.

    Raises:
        ClusterError: it does not come up; says what keeps it.
    """

    def found() -> Object:
        for pod in pods.now().values():
            if where.is_it(pod):
                return pod
        raise ApiError("GET", f"pods of {where.container}", 404, "no such pod now")

    def name() -> str:
        return str(found()["metadata"]["name"])

    def is_up(seen: object) -> bool:
        for pod in pods.now().values():
            if where.is_it(pod) and (why := trouble(pod)):
                raise ClusterError(f"{pod['metadata']['name']}: {why}\n{_said(kube, pod, where.container)}")
        return any(where.is_it(pod) and runs(pod, where.container) for pod in pods.now().values())

    pods.wait(is_up, f"a running container {where.container}", READY_SECONDS)
    pages = TunnelPages(kube, Server(NAMESPACE, name, where.port, where.scheme, token)) if where.port else None
    scheduler = PodScheduler(pages, log, config, _started_with(found(), where.container))
    with _log_followed(kube, name, where, pods, log):
        try:
            if pages:
                # Asked, not probed: readiness of a pod is told seconds after its server is ready.
                pods.wait(
                    lambda _: is_up(_) and pages.is_ready(), f"{where.container} answering /readyz", READY_SECONDS
                )
            yield scheduler
        finally:
            scheduler.close()


@contextlib.contextmanager
def _log_followed(kube: Kube, pod: Callable[[], str], where: Where, pods: OwnPods, log: Path) -> Iterator[None]:
    stopping = threading.Event()
    streams: list[Stream] = []

    def follow() -> None:
        followed: str | None = None
        since: dict[str, int] = {}
        while not stopping.is_set():
            # Another start of the container is another log; that of one start is read once.
            started = where.container_id(pods.now())
            if started and started != followed:
                try:
                    path = f"/api/v1/namespaces/{NAMESPACE}/pods/{pod()}"
                    streams.append(kube.log(path, {"container": where.container, **since}))
                    followed, since = started, {}
                    if stopping.is_set():
                        # Who stops us closed the stream before this one.
                        streams[-1].close()
                    with log.open("ab") as file:
                        for chunk in streams[-1].chunks():
                            file.write(chunk)
                            file.flush()
                except Exception:  # noqa: BLE001 - a connection that breaks surfaces as almost any error
                    if followed == started:
                        followed, since = None, {"sinceSeconds": 1}
            stopping.wait(RETRY_SECONDS)

    log.touch()
    thread = threading.Thread(target=follow, name=f"log of {where.container}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        for stream in streams[-1:]:
            stream.close()
        thread.join(timeout=5)


def _started_with(pod: Object, container: str) -> list[str]:
    """Return the command line of a container, of its image where the pod leaves the program to that.

    It is the pod that is asked and not what was deployed: what has a say in between shows here.
    """
    for one in pod["spec"]["containers"]:
        if one["name"] == container:
            program = one.get("command") or [one["image"]]
            return [str(word) for word in (*program, *(one.get("args") or ()))]
    return []


def _has_ended(pod: Object, container: str) -> bool:
    statuses = pod.get("status", {}).get("containerStatuses") or ()
    return any(one["name"] == container and "terminated" in one.get("state", {}) for one in statuses)


def _end(pod: Object, container: str) -> str:
    for one in pod.get("status", {}).get("containerStatuses") or ():
        if one["name"] == container:
            ended = one.get("state", {}).get("terminated") or one.get("lastState", {}).get("terminated") or {}
            return f"exit code {ended.get('exitCode')}, {ended.get('reason', 'no reason given')}"
    return "its container is gone"


def _said(kube: Kube, pod: Object, container: str) -> str:
    path = f"/api/v1/namespaces/{NAMESPACE}/pods/{pod['metadata']['name']}/log"
    try:
        return kube.text(f"{path}?container={container}&tailLines=12")
    except (ApiError, ClusterError) as error:
        return f"(no log: {error})"
