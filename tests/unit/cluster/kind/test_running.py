import contextlib
import queue
import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import urllib3

from harness import tunnel
from harness.clock import wait_until
from harness.cluster.base import TellsCommand
from harness.cluster.kind import running
from harness.cluster.kind.pods import OwnPods
from harness.cluster.kind.running import PodScheduler, Where, taken_on
from harness.errors import ApiError, ClusterError, NoSuchPage
from harness.kube import Object
from harness.streaming import Stream
from harness.testing import FakeKube
from tests.processes import PATIENCE_SECONDS
from tests.unit.cluster.kind.given import MARK, RUNNING, SCHEDULER, WHERE, change, pod, scheduler, started
from tests.unit.pages import Forward, Served, server_context, serving

METRICS = "process_cpu_seconds_total 12.5\nother_process_cpu_seconds_total 99\n"


class Log(Stream):
    """What a container logs, fed by hand; an exception breaks it off."""

    def __init__(self) -> None:
        super().__init__(None)
        self.parts: queue.SimpleQueue[bytes | Exception | None] = queue.SimpleQueue()

    def chunks(self) -> Iterator[bytes]:
        while (part := self.parts.get()) is not None:
            if isinstance(part, Exception):
                raise part
            yield part

    def close(self) -> None:
        self.parts.put(None)


class LoggingKube(FakeKube):
    """A server that has logs: each is handed out once, and who asks when there is none is refused."""

    def __init__(self) -> None:
        super().__init__()
        self.logs: list[Log] = [Log()]
        self.followed: list[tuple[str, Mapping[str, Any]]] = []

    def log(self, path: str, query: Mapping[str, Any]) -> Stream:
        self.followed.append((path, query))
        if not self.logs:
            raise ApiError("GET", path, 400, "container is waiting to start")
        return self.logs.pop(0)

    def text(self, path: str) -> str:
        if "silent" in path:
            raise ApiError("GET", path, 404, "not found")
        return f"log of {path}"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "RETRY_SECONDS", 0.01)


@pytest.fixture
def kube() -> LoggingKube:
    return LoggingKube()


@pytest.fixture
def pods(kube: LoggingKube) -> Iterator[OwnPods]:
    with OwnPods(kube, lambda: None) as found:
        yield found


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "scheduler.log"


def on(
    kube: FakeKube, pods: OwnPods, log: Path, where: Where = WHERE
) -> "contextlib.AbstractContextManager[PodScheduler]":
    return taken_on(kube, pods, where, log, config="kind: K\n", token="secret")


def await_log(log: Path, text: str) -> None:
    wait_until(lambda: log.read_text() == text, what=f"{text!r} in the log", timeout_seconds=PATIENCE_SECONDS)


@pytest.mark.parametrize(
    ("item", "is_it"),
    [
        (scheduler(), True),
        (pod(SCHEDULER, command=["--config=" + MARK]), True),
        (scheduler(mark="/harness/config-2.yaml"), False),
        (scheduler(labels={"component": "etcd"}), False),
        (scheduler(labels={}), False),
        (scheduler(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}), False),
    ],
    ids=["annotation", "word of its command", "another start", "another part", "no label", "being deleted"],
)
def test_a_pod_is_known_by_its_label_and_by_this_start_of_it(item: Object, is_it: bool) -> None:
    assert WHERE.is_it(item) is is_it


def test_a_scheduler_is_taken_on_when_its_container_runs(kube: LoggingKube, pods: OwnPods, log: Path) -> None:
    kube.create(scheduler({"running": {}}, name="of-before", mark="other"))
    kube.create(scheduler())

    def run_it(event: str, item: Object) -> None:
        # Whoever waits asks for pods meanwhile.
        kube.listeners.remove(run_it)
        change(kube, scheduler(RUNNING))

    kube.listeners.append(run_it)
    kube.create(pod("another", labels={}))
    with on(kube, pods, log) as found:
        assert (found.config, found.log) == ("kind: K\n", log)
    assert kube.followed[0] == (f"/api/v1/namespaces/kube-system/pods/{SCHEDULER}", {"container": "kube-scheduler"})


@pytest.mark.parametrize(
    ("container", "command"),
    [
        (
            {"command": ["kube-scheduler", "--v=2"], "args": ["--config=/c", "--port=1"]},
            ("kube-scheduler", "--v=2", "--config=/c", "--port=1"),
        ),
        ({"command": ["kube-scheduler"]}, ("kube-scheduler",)),
        ({"args": ["--v=4"]}, ("own/scheduler:1", "--v=4")),
        ({"command": None, "args": None}, ("own/scheduler:1",)),
    ],
)
def test_its_command_is_what_its_own_container_runs(
    kube: LoggingKube, pods: OwnPods, log: Path, container: Object, command: tuple[str, ...]
) -> None:
    beside = {"name": "beside", "image": "other:1", "command": ["another"]}
    own = {"name": "kube-scheduler", "image": "own/scheduler:1", **container}
    kube.create(pod("another", labels={}))
    started(kube, pods, scheduler(RUNNING, containers=[beside, own]))
    with on(kube, pods, log) as found:
        assert isinstance(found, TellsCommand)
        assert found.command == command


def test_one_that_serves_nothing_has_no_pages(kube: LoggingKube, pods: OwnPods, log: Path) -> None:
    started(kube, pods, scheduler(RUNNING))
    with on(kube, pods, log) as found:
        with pytest.raises(NoSuchPage, match=r"^/metrics: the scheduler serves no pages$"):
            found.page("/metrics")
        assert found.cpu_seconds() is None


def test_one_that_does_not_come_up_is_told_with_what_it_said(kube: LoggingKube, pods: OwnPods, log: Path) -> None:
    started(kube, pods, scheduler({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}))
    with (
        pytest.raises(ClusterError, match=f"^{SCHEDULER}: CrashLoopBackOff: back-off\nlog of ") as caught,
        on(kube, pods, log),
    ):
        pass
    assert f"/pods/{SCHEDULER}/log?container=kube-scheduler&tailLines=" in str(caught.value)


def test_one_that_said_nothing_is_told_too(kube: LoggingKube, pods: OwnPods, log: Path) -> None:
    started(kube, pods, scheduler({"terminated": {"exitCode": 1, "reason": "Error"}}, name="silent"))
    with (
        pytest.raises(ClusterError, match=r"silent: ended with code 1 \(Error\)\n\(no log: .* 404"),
        on(kube, pods, log),
    ):
        pass


def test_one_that_never_comes_is_told(
    kube: LoggingKube, pods: OwnPods, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "READY_SECONDS", 0.0)
    with (
        pytest.raises(ClusterError, match="a running container kube-scheduler: not seen within 0 s"),
        on(kube, pods, log),
    ):
        pass


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A scheduler's server on loopback, and a tunnel that leads to it."""
    context: ssl.SSLContext = server_context(tmp_path / "authority")
    with serving({"/readyz": (200, "ok"), "/metrics": (200, METRICS)}, context) as found:
        monkeypatch.setattr(tunnel, "_forwarded", lambda *_: Forward(found.port))
        yield found


SERVING = Where(WHERE.label, WHERE.container, 10259, "https", MARK)


def test_one_that_serves_pages_is_taken_on_when_it_says_that_it_is_ready(
    kube: LoggingKube, pods: OwnPods, log: Path, served: Served
) -> None:
    started(kube, pods, scheduler(RUNNING))
    with on(kube, pods, log, SERVING) as found:
        assert served.asked == [("/readyz", "Bearer secret")]
        assert found.page("/metrics") == METRICS
        assert found.cpu_seconds() == 12.5


def test_one_that_is_never_ready_is_told(
    kube: LoggingKube, pods: OwnPods, log: Path, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.pages = {"/readyz": (500, "no")}
    started(kube, pods, scheduler(RUNNING))
    monkeypatch.setattr(running, "READY_SECONDS", 0.0)
    with pytest.raises(ClusterError, match="kube-scheduler answering /readyz: not seen"), on(kube, pods, log, SERVING):
        pass


def test_after_its_end_there_is_no_page(kube: LoggingKube, pods: OwnPods, log: Path, served: Served) -> None:
    started(kube, pods, scheduler(RUNNING))
    with on(kube, pods, log, SERVING) as found:
        pass
    asked = len(served.asked)
    with pytest.raises(ClusterError, match=r"^/metrics: the scheduler has ended$"):
        found.page("/metrics")
    assert found.cpu_seconds() is None
    assert len(served.asked) == asked


def test_metrics_without_the_figure_tell_no_time(kube: LoggingKube, pods: OwnPods, log: Path, served: Served) -> None:
    served.pages["/metrics"] = (200, "other_process_cpu_seconds_total 99\n")
    started(kube, pods, scheduler(RUNNING))
    with on(kube, pods, log, SERVING) as found:
        assert found.cpu_seconds() is None


def test_what_it_logs_is_in_the_file_as_it_comes_also_after_a_restart(
    kube: LoggingKube, pods: OwnPods, log: Path
) -> None:
    first, second = kube.logs[0], Log()
    started(kube, pods, scheduler(RUNNING))
    with on(kube, pods, log):
        first.parts.put(b"begun\nhalf")
        await_log(log, "begun\nhalf")
        first.parts.put(b" a line\n")
        first.parts.put(None)
        await_log(log, "begun\nhalf a line\n")
        kube.logs.append(second)
        second.parts.put(b"begun again\n")
        # One start's log is read once: nothing comes before the container is another.
        change(kube, scheduler(RUNNING, restarts=1))
        await_log(log, "begun\nhalf a line\nbegun again\n")
    assert len(kube.followed) == 2


def test_a_log_that_breaks_off_is_taken_up_again(kube: LoggingKube, pods: OwnPods, log: Path) -> None:
    broken, second = kube.logs[0], Log()
    kube.logs.append(second)
    broken.parts.put(b"one\n")
    broken.parts.put(urllib3.exceptions.ProtocolError("Connection broken"))
    second.parts.put(b"two\n")
    started(kube, pods, scheduler(RUNNING))
    with on(kube, pods, log):
        await_log(log, "one\ntwo\n")


def test_after_the_end_nobody_follows_the_log(kube: LoggingKube, pods: OwnPods, log: Path) -> None:
    followed = kube.logs[0]
    started(kube, pods, scheduler(RUNNING))
    with on(kube, pods, log):
        wait_until(lambda: kube.followed, what="a followed log", timeout_seconds=PATIENCE_SECONDS)
    followed.parts.put(b"too late\n")
    assert len(kube.followed) == 1
    assert log.read_text() == ""
