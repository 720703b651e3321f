"""What a large report costs: 10,000 pods on 1000 nodes with calls and a trace, as a page and as Markdown."""

import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from harness.process import run
from harness.report.publish import Order, publish
from tests.unit.report.large import Large

PODS, NODES, PENDING, CASSETTE_CALLS = 10_000, 1000, 3000, 50

# What the project promises.
BOUNDS = {
    "report of 10,000 pods, wall seconds": 10.0,
    "report of 10,000 pods, peak MiB": 1000.0,
}


def measure() -> dict[str, Any]:
    """Return the figures, and what they cost besides."""
    with tempfile.TemporaryDirectory() as folder:
        shape = Large(PODS, NODES, PENDING, calls=True, trace=True, cassette_calls=CASSETTE_CALLS, variant="extender")
        record = shape.write(Path(folder))
        # A process of its own: its memory is that of the report alone.
        cost = json.loads(run([sys.executable, "-m", "bench.report", str(record), f"{folder}/report"]))
    figures = {name: cost[key] for name, key in zip(BOUNDS, ("wall_seconds", "peak_mib"), strict=True)}
    return {"figures": figures, "cost": cost}


def describe(measured: dict[str, Any]) -> str:
    """Say the figures' parts in one line."""
    cost = measured["cost"]
    return f"{cost['wall_seconds']:.1f} s, {cost['cpu_seconds']:.1f} s of CPU, {cost['peak_mib']:.0f} MiB at most"


def main() -> None:
    """Make the report of one record, and print what it cost."""
    start = time.perf_counter()
    publish([Path(sys.argv[1])], Path(sys.argv[2]), Order(formats=("html", "md"), language="en"))
    cost = {
        "wall_seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time(),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(cost))


if __name__ == "__main__":
    main()
