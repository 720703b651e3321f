"""What tests of loads start from: an extender with every trouble, and one way to load it."""

import sys
from pathlib import Path
from typing import Any

import numpy as np

from harness.clock import wait_until
from harness.extender.subject.parse import Subject, parse
from harness.load import samples
from harness.load.campaign import Options, carry_out
from harness.load.generate import Scale
from harness.load.measure import Case
from harness.load.samples import Samples
from harness.load.schedule import Plan
from harness.process import Child
from harness.record.load import LoadRecord
from tests.processes import PATIENCE_SECONDS

ROOT = Path(__file__).parents[3]
TROUBLE = ROOT / "tests" / "subjects" / "trouble" / "trouble.py"
ENTRY = {"filterVerb": "filter", "nodeCacheCapable": True}
IDLE: dict[str, Any] = {
    "index": 0,
    "unsent": 0,
    "opened": 3,
    "binds_held": 0,
    "cpu_seconds": 0.1,
    "window_seconds": 1.0,
    "subject_cpu_seconds": 0.5,
}
"""What a worker says that had little to do."""
NOTHING = samples.merged([])


def case(model: str = "open", **changes: Any) -> Case:
    """Return a load of ten seconds."""
    values = {
        "subject": "s",
        "nodes": 100,
        "wire": "names",
        "model": model,
        "schedulers": 1 if model == "closed" else None,
        "warmup_seconds": 0.0,
        "seconds": 10.0,
        "timeout_seconds": 5.0,
        "body_bytes": 2000,
        "plan": Plan("constant", (200.0,), 10.0) if model == "open" else None,
        **changes,
    }
    return Case(**values)


def made(intended: Any, latency: Any, *, lag: Any = 0.0, outcome: Any = samples.OK, status: int = 200) -> Samples:
    """Return samples, of times in seconds."""
    count = len(intended)
    return Samples(
        {
            "intended": intended,
            "send": intended + np.broadcast_to(np.asarray(lag, dtype=float), count),
            "done": intended + latency,
            "status": np.full(count, status, dtype=np.int16),
            "outcome": np.broadcast_to(np.asarray(outcome, dtype=np.int8), count).copy(),
            "verb": np.zeros(count, dtype=np.int8),
        }
    )


def queued(intended: Any, each: float) -> Any:
    """Return how long requests take that are answered one after the other."""
    done, latency = 0.0, []
    for moment in intended.tolist():
        done = max(done, moment) + each
        latency.append(done - moment)
    return np.array(latency)


def assert_sent(record: LoadRecord, plan: Plan) -> None:
    """Hold that every arrival was sent once and for its own moment, or is told: a stall loses none silently."""
    (one,) = record.results
    intended, offsets = record.samples(one)["intended"].round(6), plan.offsets().round(6)
    assert len(np.unique(intended)) == len(intended) == one.requests + one.warmup_cut
    assert np.isin(intended, offsets).all()
    assert len(intended) + one.unsent == len(offsets)
    assert one.generator_limited or not one.unsent


def trouble(*options: str, **entry: Any) -> Subject:
    """Return the extender with some troubles."""
    command = " ".join([sys.executable, str(TROUBLE), "--port {port}", *options])
    return parse(f"cmd:{command}", {**ENTRY, **entry})


def loaded(subject: Subject, out: Path, *, processes: int = 1, **options: Any) -> LoadRecord:
    """Measure for about a second."""
    chosen = {"nodes": (10,), "seconds": 0.8, "warmup_seconds": 0.2, "floor": False, **options}
    return carry_out([subject], Options(**chosen), Scale(processes=processes), out)


def command_of(out: Path, *options: str) -> list[str]:
    """Return a command that loads the extender, whose answers take 5 ms."""
    subject = f"cmd:{sys.executable} {TROUBLE} --port {{port}} --delay-ms 5"
    entry = ["--entry", "filterVerb=filter", "--entry", "nodeCacheCapable=true"]
    load = ["load", subject, *entry, "--nodes", "10", "--out", str(out), *options]
    return [sys.executable, "-m", "harness.cli.main", *load]


def await_end(child: Child) -> None:
    """Wait until a process has ended by itself."""
    try:
        wait_until(child.ended.is_set, what=f"the end of {child.name}", timeout_seconds=PATIENCE_SECONDS * 3)
    finally:
        child.stop()
