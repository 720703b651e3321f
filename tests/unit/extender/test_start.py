import http.client
import json
import os
import signal
import socket
import stat
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from harness import process
from harness.clock import wait_until
from harness.errors import BuildError, InputError, VariantError
from harness.extender.subject import answering
from harness.extender.subject.parse import parse
from harness.extender.subject.start import Running, started
from tests.processes import PATIENCE_SECONDS, await_gone, await_text, is_gone, python

STRANGER = Path(__file__).parents[2] / "subjects" / "stranger"
# Serves what it was started with, on the port of its first argument or of the environment.
SERVER = """\
import json, os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        facts = {"pid": os.getpid(), "argv": sys.argv[1:], "folder": os.getcwd(), "env": dict(os.environ)}
        body = json.dumps(facts).encode()
        self.send_response(200 if self.path == "/ok" else 503)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

print("begun", flush=True)
HTTPServer(("127.0.0.1", int(sys.argv[1] if sys.argv[1:] else os.environ["PORT"])), Handler).serve_forever()
"""


@pytest.fixture
def server(tmp_path: Path) -> str:
    """A program in a folder of its own, as a command."""
    program = tmp_path / "server"
    program.write_text(f"#!{sys.executable}\n{SERVER}")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return f"cmd:{program}"


def facts(running: Running) -> dict[str, object]:
    parts = urlsplit(running.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE_SECONDS)
    try:
        connection.request("GET", "/ok")
        answer: dict[str, object] = json.loads(connection.getresponse().read())
        return answer
    finally:
        connection.close()


def starting(text: str, tmp_path: Path, **given: object) -> str:
    """Start what must not come up, and return what is said."""
    with (
        pytest.raises((VariantError, InputError, BuildError)) as caught,
        started(parse(text, given), folder=tmp_path / "run", seed=0, kubeconfig=None),
    ):
        pass
    return str(caught.value)


def test_a_command_gets_its_port_seed_and_kubeconfig(tmp_path: Path, server: str) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    subject = parse(f"{server} {{port}} x", {})
    with started(subject, folder=tmp_path / "run", seed=42, kubeconfig=kubeconfig) as running:
        seen = facts(running)
        port = urlsplit(running.url).port
        environment = seen["env"]
        assert isinstance(environment, dict)
        assert seen["argv"] == [str(port), "x"]
        assert environment["PORT"] == str(port)
        assert environment["HARNESS_SEED"] == "42"
        assert environment["KUBECONFIG"] == str(kubeconfig)
        assert running.log is not None
        assert running.log.read_text().startswith("begun\n")
        assert [one.pid for one in running.processes()] == [seen["pid"]]
        assert (running.alive, running.restartable, running.check()) == (True, True, None)
    assert not running.alive
    assert is_gone(int(str(seen["pid"])))


def test_a_file_moves_where_paths_start_and_adds_variables(tmp_path: Path, server: str) -> None:
    path = tmp_path / "subject.yaml"
    path.write_text(
        "subject: cmd:./server\n"
        "env: {ADDRESS: 'here:{port}'}\n"
        "health: /ok\n"
        "entry: {urlPrefix: 'http://elsewhere:1/scheduler/'}\n"
    )
    with started(parse(str(path), {}), folder=tmp_path / "run", seed=0, kubeconfig=None) as running:
        seen = facts(running)
        environment = seen["env"]
        assert isinstance(environment, dict)
        assert seen["folder"] == str(tmp_path)
        assert environment["ADDRESS"] == f"here:{environment['PORT']}"
        assert running.url == f"http://127.0.0.1:{environment['PORT']}/scheduler"


def test_it_can_be_killed_and_comes_back_on_its_port(tmp_path: Path, server: str) -> None:
    with started(parse(server, {}), folder=tmp_path / "run", seed=1, kubeconfig=None) as running:
        first, url = facts(running), running.url
        running.kill()
        assert not running.alive
        assert running.check() is None
        assert is_gone(int(str(first["pid"])))
        with pytest.raises(ConnectionRefusedError):
            facts(running)
        running.restart(2)
        second = facts(running)
        assert running.url == url
        assert isinstance(second["env"], dict)
        assert second["env"]["HARNESS_SEED"] == "2"
        running.restart(3)
        assert facts(running)["pid"] != second["pid"]
        assert running.log is not None
        assert running.log.read_text().count("begun") == 3


def test_an_end_of_its_own_is_noticed_and_told(tmp_path: Path, server: str) -> None:
    with started(parse(server, {}), folder=tmp_path / "run", seed=0, kubeconfig=None) as running:
        os.kill(int(str(facts(running)["pid"])), signal.SIGKILL)
        told = wait_until(running.check, what="its end", timeout_seconds=PATIENCE_SECONDS)
        assert not running.alive
        assert "was ended by signal 9" in told
        assert "begun" in told


def test_one_that_ends_at_once_is_told_with_its_last_words(tmp_path: Path) -> None:
    said = starting("cmd:sh -c 'echo no database; exit 3'", tmp_path)
    assert "ended before it answered" in said
    assert "exited with code 3" in said
    assert "no database" in said


def test_one_on_another_port_is_told_which(
    tmp_path: Path, server: str, unused_tcp_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "LOOK_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(answering, "ELSEWHERE_SECONDS", 0.2)
    said = starting(f"{server} {unused_tcp_port}", tmp_path)
    assert f"it listens on 127.0.0.1:{unused_tcp_port}, 127.0.0.1:" in said
    assert "use {port} in its command, or $PORT" in said
    assert "begun" in said


@pytest.fixture
def unused_tcp_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def test_one_that_does_nothing_or_is_not_healthy_is_given_up(tmp_path: Path, server: str) -> None:
    path = tmp_path / "subject.yaml"
    path.write_text("subject: cmd:sh -c 'exec sleep 1000'\nstartSeconds: 0.1\n")
    assert "it listens on no port yet" in starting(str(path), tmp_path)
    path.write_text(f"subject: {server}\nhealth: /sick\nstartSeconds: 4\n")
    assert "but GET /sick does not answer 200" in starting(str(path), tmp_path)


def test_a_port_that_somebody_has_is_not_taken_for_the_subject(tmp_path: Path, server: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with (
            pytest.raises(VariantError, match="is taken by another process"),
            started(parse(server, {}), folder=tmp_path, seed=0, kubeconfig=None, port=port),
        ):
            pass


def test_what_is_not_there_is_said_before_anything_starts(tmp_path: Path) -> None:
    assert "no program './none' in" in starting("cmd:./none", tmp_path)
    assert "no program 'no-such-program' on PATH" in starting("cmd:no-such-program", tmp_path)
    assert "no such folder" in starting(f"go:{tmp_path}/none", tmp_path)
    assert "no module 'no_such_module' in" in starting("py:no_such_module:Mine", tmp_path)
    assert "runs no containers" in starting("image:team/extender:v1", tmp_path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Mien", "'py:mine:Mien': no 'Mien' in mine; it has Mine"),
        ("Mine", "'py:mine:Mine': Mine has none of the methods filter, prioritize, preempt, bind"),
    ],
)
def test_a_name_that_python_code_does_not_have_is_input_and_told_in_one_line(
    tmp_path: Path, name: str, said: str
) -> None:
    (tmp_path / "mine.py").write_text("print('hello')\nclass Mine: ...\n")
    (tmp_path / "subject.yaml").write_text(f"subject: py:mine:{name}\n")
    with (
        pytest.raises(InputError) as caught,
        started(parse(str(tmp_path), {}), folder=tmp_path / "run", seed=0, kubeconfig=None),
    ):
        pass
    assert str(caught.value) == said


def test_where_a_log_was_is_not_told(tmp_path: Path) -> None:
    said = starting("cmd:sh -c 'echo oh; exit 2'", tmp_path)
    assert said.endswith("exited with code 2. Last lines of its log:\noh")
    assert str(tmp_path) not in said


def test_kill_9_of_the_harness_leaves_no_subject(tmp_path: Path, server: str) -> None:
    script = (
        "import signal, sys\n"
        "from pathlib import Path\n"
        "from harness.extender.subject.start import started\n"
        "from harness.extender.subject.parse import parse\n"
        "with started(parse(sys.argv[1], {}), folder=Path(sys.argv[2]), seed=0, kubeconfig=None) as running:\n"
        "    print(*[one.pid for one in running.processes()], flush=True)\n"
        "    signal.pause()\n"
    )
    shell = f"cmd:sh -c '{server.removeprefix('cmd:')}; true'"
    owner = process.spawn("owner", python(script, shell, str(tmp_path / "run")), log=tmp_path / "owner.log")
    pids = [int(word) for word in await_text(owner.log).split()]
    assert len(pids) == 2  # the shell and what it started
    os.kill(owner.pid, signal.SIGKILL)
    await_gone(pids)
    owner.stop()


@pytest.fixture
def elsewhere() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as listener:
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{listener.server_port}/scheduler"
        listener.shutdown()
        thread.join()


def test_what_runs_elsewhere_is_reached_and_left_alone(tmp_path: Path, elsewhere: str) -> None:
    with started(parse(elsewhere, {}), folder=tmp_path / "run", seed=0, kubeconfig=None) as running:
        assert (running.url, running.alive, running.restartable) == (elsewhere, True, False)
        assert (running.child, running.log, running.processes(), running.check()) == (None, None, [], None)
        running.kill()
        running.stop()
        assert running.alive
        with pytest.raises(VariantError, match="cannot restart"):
            running.restart(1)
    assert "connection refused" in starting("http://127.0.0.1:1", tmp_path)


def test_a_reference_is_served(tmp_path: Path) -> None:
    with started(parse("ref:pass-through", {}), folder=tmp_path / "run", seed=0, kubeconfig=None) as running:
        parts = urlsplit(running.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE_SECONDS)
        connection.request("GET", "/healthz")
        assert connection.getresponse().status == 200
        connection.close()
