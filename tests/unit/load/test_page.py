"""Locust's own page: a person starts the load there, sees it, and leaves with Ctrl-C."""

import json
import signal
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psutil

from harness.clock import wait_until
from harness.process import spawn
from harness.record.load import read
from tests.processes import PATIENCE_SECONDS
from tests.unit.load.given import ROOT, await_end, command_of


def test_a_load_is_started_and_seen_in_the_page(tmp_path: Path, two_ports: list[int]) -> None:
    page = f"http://127.0.0.1:{two_ports[0]}"
    options = ["--rate", "100", "--duration", "1", "--warmup", "0", "--web", "--port", str(two_ports[0])]
    child = spawn("load", command_of(tmp_path / "out", *options), log=tmp_path / "log", cwd=ROOT)
    try:
        wait_until(lambda: _answers(page), what="the page", timeout_seconds=PATIENCE_SECONDS * 2)
        asked = urlencode({"user_count": 1, "spawn_rate": 1}).encode()
        with urllib.request.urlopen(f"{page}/swarm", data=asked) as reply:  # noqa: S310 - our own loopback
            assert json.load(reply)["success"]
        seen = wait_until(lambda: _over(page), what="the end of the load", timeout_seconds=PATIENCE_SECONDS * 2)
    finally:
        psutil.Process(child.pid).send_signal(signal.SIGINT)
        await_end(child)
    assert child.exit_code == 0, (tmp_path / "log").read_text()
    (folder,) = (tmp_path / "out").iterdir()
    (one,) = read(folder).results
    assert one.requests + one.unsent == 100
    # The page counts what the record has.
    assert {row["name"]: row["num_requests"] for row in seen} == dict.fromkeys(
        ("/filter (from intended)", "Aggregated"), one.requests
    )


def _answers(page: str) -> bool:
    try:
        with urllib.request.urlopen(page, timeout=5) as reply:  # noqa: S310 - see above
            return bool(reply.status == 200)
    except OSError:
        return False


def _over(page: str) -> list[dict[str, Any]] | None:
    """Return the rows of the page once the load has stopped by itself."""
    with urllib.request.urlopen(f"{page}/stats/requests", timeout=5) as reply:  # noqa: S310 - see above
        told = json.load(reply)
    counted = told["stats"][-1]["num_requests"]
    return told["stats"] if told["state"] == "stopped" and counted else None
