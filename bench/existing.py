"""Measures a large run on somebody's own cluster: `python -m bench.existing [PODS]`. Prints JSON; asserts nothing."""

import json
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

from harness.clock import SYSTEM
from harness.cluster.base import ClusterSpec
from harness.process import run
from harness.run.session import Session
from harness.scenario.load import load

PODS = 10_000
NODES = 100
SCENARIO = """\
name: many
summary: Many pods on a hundred nodes.
nodes: [{{count: {nodes}}}]
timeoutSeconds: 900
steps: [{{op: createPods, count: {pods}, name: "pod-{{index}}", requests: {{cpu: 10m}}}}]
expect: [{{kind: count, running: {pods}}}]
"""


def measured(pods: int, kubeconfig: Path, folder: Path) -> dict[str, Any]:
    """Run the scenario on a cluster, and return what it took."""
    file = folder / "many.yaml"
    file.write_text(SCENARIO.format(nodes=NODES, pods=pods))
    begun, before = SYSTEM.now(), _peak_mib()
    spec = ClusterSpec(kubeconfig=kubeconfig)
    with Session("existing", spec, folder / "runs") as session:
        record = session.run(load(file).at(), "default")
        ran = SYSTEM.now()
        session.empty()
        emptied = SYSTEM.now()
    told = json.loads((record / "run.json").read_text())
    lines = sum(1 for path in record.glob("*.jsonl") for _ in path.open("rb"))
    return {
        "pods": pods,
        "settled": told["settled"],
        "run_seconds": round(ran - begun, 1),
        "reset_seconds": round(emptied - ran, 1),
        "peak_mib_before": before,
        "peak_mib": _peak_mib(),
        "record_lines": lines,
        "record_mib": round(sum(path.stat().st_size for path in record.rglob("*") if path.is_file()) / 2**20, 1),
    }


def _peak_mib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> None:
    """Bring up a cluster, borrow it, and tell what a run on it cost."""
    pods = int(sys.argv[1]) if sys.argv[1:] else PODS
    harness = [sys.executable, "-m", "harness.cli.main"]
    facts = json.loads(run([*harness, "up", "--nodes", str(NODES), "--json"]))
    try:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measured(pods, Path(facts["kubeconfig"]), Path(folder)), indent=2))
    finally:
        run([*harness, "down", facts["name"]])


if __name__ == "__main__":
    main()
