"""The generator apart from the command: as master and workers, and opened by a person."""

import contextlib
import socket
import sys
from pathlib import Path

import pytest

from harness.cli.main import main
from harness.clock import wait_until
from harness.load import samples
from harness.load.generate import LOCUSTFILE
from harness.load.order import VARIABLE
from harness.load.samples import OUTCOMES
from harness.load.schedule import Plan
from harness.process import spawn
from harness.record.load import read
from tests.processes import PATIENCE_SECONDS
from tests.unit.load.given import ROOT, TROUBLE, assert_sent, await_end


def test_a_master_gathers_the_samples_of_its_workers(tmp_path: Path, two_ports: list[int]) -> None:
    port, master = two_ports
    server = spawn("server", [sys.executable, str(TROUBLE), "--port", str(port)], log=tmp_path / "server.log")
    try:
        url = f"http://127.0.0.1:{port}"
        options = ["--entry", "filterVerb=filter", "--nodes", "10", "--rate", "200", "--duration", "1"]
        options += ["--warmup", "0", "--processes", "2", "--port", str(master)]
        base = [sys.executable, "-m", "harness.cli.main", "load", url, *options, "--out"]
        roles = {"m": ["--master"], "w1": ["--worker", "127.0.0.1"], "w2": ["--worker", "127.0.0.1"]}
        children = [
            spawn(name, [*base, str(tmp_path / name), *role], log=tmp_path / f"{name}.log", cwd=ROOT)
            for name, role in roles.items()
        ]
        for child in children:
            await_end(child)
    finally:
        server.stop()
    (folder,) = (tmp_path / "m").iterdir()
    record = read(folder)
    (one,) = record.results
    assert (one.ended, one.errors) == ("complete", 0), (tmp_path / "m.log").read_text()
    assert_sent(record, Plan("constant", (200.0,), 1.0))
    outcomes = {OUTCOMES[code] for code in record.samples(one)["outcome"]}
    assert outcomes == {"ok"}


def test_a_worker_with_another_command_line_is_told(tmp_path: Path, two_ports: list[int]) -> None:
    port, master = two_ports
    server = spawn("server", [sys.executable, str(TROUBLE), "--port", str(port)], log=tmp_path / "server.log")
    try:
        base = [sys.executable, "-m", "harness.cli.main", "load", f"http://127.0.0.1:{port}"]
        base += ["--entry", "filterVerb=filter", "--duration", "0.5", "--warmup", "0", "--port", str(master)]
        roles = {"m": ["--master", "--rate", "100"], "w": ["--worker", "127.0.0.1", "--rate", "50"]}
        children = [
            spawn(name, [*base, "--out", str(tmp_path / name), *role], log=tmp_path / f"{name}.log", cwd=ROOT)
            for name, role in roles.items()
        ]
        for child in children:
            await_end(child)
    finally:
        server.stop()
    (folder,) = (tmp_path / "m").iterdir()
    (one,) = read(folder).results
    assert (one.ended, one.requests) == ("generator-failed", 0)
    assert any("start each with the master's own command line" in note for note in one.notes)
    assert children[0].exit_code == 3


def _is_open(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
        return True
    return False


def _locust(tmp_path: Path, order: Path | None) -> tuple[int | None, str]:
    """Open the locust file by hand and return how that ends, and what was printed."""
    command = [sys.executable, "-m", "locust", "-f", str(LOCUSTFILE), "--headless"]
    env = {VARIABLE: str(order)} if order else {}
    child = spawn("locust", command, log=tmp_path / "log", cwd=ROOT, env=env)
    await_end(child)
    return child.exit_code, (tmp_path / "log").read_text()


@pytest.mark.parametrize("order", [None, "nowhere/order.json"])
def test_the_locust_file_says_what_it_needs(tmp_path: Path, order: str | None) -> None:
    code, printed = _locust(tmp_path, tmp_path / order if order else None)
    assert code == 1
    assert "--order FOLDER" in printed
    assert "Traceback" not in printed


def test_an_order_is_carried_out_by_locust_itself(
    tmp_path: Path, two_ports: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    port = two_ports[0]
    server = spawn("server", [sys.executable, str(TROUBLE), "--port", str(port)], log=tmp_path / "server.log")
    try:
        wait_until(lambda: _is_open(port), what="the server", timeout_seconds=PATIENCE_SECONDS)
        options = ["--entry", "filterVerb=filter", "--rate", "100", "--duration", "0.5", "--warmup", "0"]
        with pytest.raises(SystemExit) as left:
            main(["load", f"http://127.0.0.1:{port}", *options, "--order", str(tmp_path / "order")])
        assert left.value.code == 0
        path = tmp_path / "order" / "order.json"
        assert f"{VARIABLE}={path}" in capsys.readouterr().out
        code, printed = _locust(tmp_path, path)
        assert code == 0, printed
    finally:
        server.stop()
    taken, meta = samples.load(path.parent / "main-0.npz")
    assert len(taken) + meta["unsent"] == 50
