"""The measured side: the `harness run` command from outside, and one cluster from inside."""

import datetime
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import psutil

from harness.clock import SYSTEM
from harness.cluster.base import ClusterSpec
from harness.process import run
from harness.run.session import Session
from harness.scenario.load import load

SCENARIO = Path("scenarios/lab/twenty-pause.yaml")
IDLE_SECONDS = 20.0
RESETS = 5


def run_command() -> dict[str, float]:
    """Run the 20-replica scenario as a person does; return seconds to ready-to-schedule and to the verdict.

    Ready is when the first step starts: the scheduler has synced and every declared node takes pods.
    """
    with tempfile.TemporaryDirectory() as runs:
        begun_at = datetime.datetime.now(datetime.UTC)
        start = SYSTEM.now()
        output = run([f"{sys.prefix}/bin/harness", "run", str(SCENARIO), "--out", runs, "--json"])
        verdict_seconds = SYSTEM.now() - start
        document = json.loads(output[output.index("{") :])
        record = Path(document["runs"][0]["record"])
        started_at = datetime.datetime.fromisoformat(json.loads((record / "run.json").read_text())["started_at"])
        first_step = json.loads((record / "steps.jsonl").read_text().splitlines()[0])
    ready_seconds = (started_at - begun_at).total_seconds() + first_step["t"]
    return {"ready_seconds": ready_seconds, "verdict_seconds": verdict_seconds}


def cluster_costs() -> dict[str, Any]:
    """Return what one cluster costs: a new one, emptying it after the scenario, and doing nothing."""
    scenario = load(SCENARIO).at()
    start = SYSTEM.now()
    with tempfile.TemporaryDirectory() as runs, Session("embedded", ClusterSpec(), Path(runs)) as session:
        session.install("default")
        new_seconds = SYSTEM.now() - start
        resets = []
        for _ in range(RESETS):
            session.run(scenario, "default")
            before = SYSTEM.now()
            session.empty()
            resets.append(SYSTEM.now() - before)
        session.run(scenario, "default")
        parts = psutil.Process().children(recursive=True)
        return {
            "new_cluster_seconds": new_seconds,
            "reset_seconds": sorted(resets)[len(resets) // 2],
            "idle_cpu_percent_of_a_core": _idle_cpu(parts),
            "resident_mib": round(sum(part.memory_info().rss for part in parts) / 2**20),
        }


def _idle_cpu(parts: list[psutil.Process]) -> float:
    def spent() -> float:
        return sum(sum(part.cpu_times()[:2]) for part in parts)

    # What the last run set in motion has to end first.
    SYSTEM.pause(IDLE_SECONDS / 4)
    before, start = spent(), SYSTEM.now()
    SYSTEM.pause(IDLE_SECONDS)
    return round(100 * (spent() - before) / (SYSTEM.now() - start), 2)
