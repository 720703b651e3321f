"""The controller as people start it: a process with pages, that ends with whoever started it."""

import contextlib
import http.client
import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from harness.clock import wait_until
from harness.observe.metrics import queue_depth
from harness.process import Child, spawn
from harness.record import metrics
from tests.processes import PATIENCE_SECONDS, await_gone, await_text, python

# Nothing listens there: what the process does without a cluster is what these tests are about.
KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
current-context: c
"""


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kube") / "config"
    path.write_text(KUBECONFIG)
    return path


def command(kubeconfig: Path, *arguments: str) -> list[str]:
    return [
        *(sys.executable, "-m", "harness.controller", *arguments),
        *("--scheduler-name", 'my"own', "--kubeconfig", str(kubeconfig)),
    ]


@contextlib.contextmanager
def started(folder: Path, kubeconfig: Path, *arguments: str) -> Iterator[Child]:
    child = spawn(
        "controller",
        command(kubeconfig, *arguments),
        log=folder / "controller.log",
        env={"HARNESS_LIFELINE": "stdin"},
    )
    try:
        yield child
    finally:
        child.stop()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, kubeconfig: Path) -> Iterator[tuple[Child, int]]:
    folder = tmp_path_factory.mktemp("served")
    arguments = ("prefer-label", "--port", "0", "--seed", "7", "--option", "label=disk=ssd")
    with started(folder, kubeconfig, *arguments) as child:
        port = re.search(r"127\.0\.0\.1:(\d+)", await_text(child.log))
        assert port, child.tail()
        wait_until(lambda: "cannot watch" in child.log.read_text(), what="a try", timeout_seconds=PATIENCE_SECONDS)
        yield child, int(port[1])


def page(port: int, path: str, method: str = "GET") -> tuple[int, str]:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)) as connection:
        connection.request(method, path)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()


def test_without_a_cluster_it_says_what_is_missing(served: tuple[Child, int]) -> None:
    for path in ("/healthz", "/readyz"):
        status, text = page(served[1], path)
        assert status == 503
        assert "/api/v1/nodes: ClusterError: GET /api/v1/nodes: the API server does not answer" in text


def test_metrics_are_in_the_form_that_the_harness_reads(served: tuple[Child, int]) -> None:
    status, text = page(served[1], "/metrics")
    assert status == 200
    assert queue_depth(text).active == 0
    read = metrics.parse(text)
    assert {"scheduler_pending_pods", "process_cpu_seconds_total"} <= read.names
    found = read.matching("scheduler_schedule_attempts_total", {"profile": 'my"own', "result": "scheduled"})
    assert [sample.value for sample in found] == [0]


def test_settings_are_told_as_kube_scheduler_tells_profiles(served: tuple[Child, int]) -> None:
    told = json.loads(page(served[1], "/configz")[1])["componentconfig"]
    assert told["profiles"] == [{"schedulerName": 'my"own'}]
    assert told["controller"] == {"policy": "prefer-label", "seed": 7, "options": {"label": "disk=ssd"}}


def test_other_pages_are_not_there(served: tuple[Child, int]) -> None:
    assert page(served[1], "/") == (404, "there are: /healthz, /readyz, /metrics, /configz\n")
    assert page(served[1], "/metrics", "POST")[0] == 501


def test_nobody_outside_this_machine_can_reach_it(served: tuple[Child, int]) -> None:
    listening = [one.laddr for one in psutil.Process(served[0].pid).net_connections() if one.status == "LISTEN"]
    assert [(one.ip, one.port) for one in listening] == [("127.0.0.1", served[1])]


def test_it_says_who_it_is(served: tuple[Child, int]) -> None:
    assert f'prefer-label for pods of my"own at http://127.0.0.1:{served[1]}: /healthz' in served[0].log.read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_asked(tmp_path: Path, kubeconfig: Path, number: signal.Signals) -> None:
    with started(tmp_path, kubeconfig, "random", "--port", "0") as child:
        await_text(child.log)
        os.kill(child.pid, number)
        assert child.ended.wait(PATIENCE_SECONDS)
        assert child.exit_code == 0, child.tail()


def test_it_ends_with_whoever_started_it(tmp_path: Path, kubeconfig: Path) -> None:
    starter = """
import sys
from pathlib import Path
from harness.process import spawn
child = spawn("controller", sys.argv[2:], log=Path(sys.argv[1]), env={"HARNESS_LIFELINE": "stdin"})
print(child.pid, flush=True)
child.ended.wait()
"""
    log = tmp_path / "controller.log"
    arguments = python(starter, str(log), *command(kubeconfig, "random", "--port", "0"))
    owner = spawn("owner", arguments, log=tmp_path / "owner.log")
    pid = int(await_text(owner.log).split()[0])
    await_text(log)

    os.kill(owner.pid, signal.SIGKILL)

    await_gone([pid])
    owner.stop()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("radnom", "--port", "0"), '"random" is near'),
        (("prefer-label", "--port", "0"), "needs --option label=KEY=VALUE"),
        (("random", "--port", "0", "--option", "label"), "--option label: K=V expected"),
        (("random", "--port", "99999"), "port 99999: "),
        (("random", "--port", "0", "--kubeconfig", "/nowhere"), "--kubeconfig /nowhere: no such file"),
        (("random", "--port", "0", "--kubeconfig", __file__), "cannot be used: "),
    ],
)
def test_what_cannot_be_used_is_told(tmp_path: Path, kubeconfig: Path, arguments: tuple[str, ...], said: str) -> None:
    # The last of two --kubeconfig counts, so the default comes first.
    line = [*command(kubeconfig), *arguments]
    child = spawn("controller", line, log=tmp_path / "controller.log")
    assert child.ended.wait(PATIENCE_SECONDS), child.tail()
    assert (child.exit_code, said in child.log.read_text()) == (2, True), child.tail()
    child.stop()


def test_a_port_that_is_taken_is_named(served: tuple[Child, int], tmp_path: Path, kubeconfig: Path) -> None:
    line = command(kubeconfig, "random", "--port", str(served[1]))
    child = spawn("second", line, log=tmp_path / "second.log")
    assert child.ended.wait(PATIENCE_SECONDS)
    assert child.exit_code == 2
    assert f"port {served[1]}: Address already in use" in child.log.read_text()
    child.stop()
