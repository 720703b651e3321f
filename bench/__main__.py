"""`make bench`: interleaved rounds, medians and ratios, saved as JSON with the machine they were taken on."""

import argparse
import datetime
import json
import statistics
import sys
from pathlib import Path
from typing import Any

from bench import embedded, kwokctl, load, regress, report, tap, trap
from harness.cluster.base import ClusterSpec
from harness.cluster.embedded.build import binaries_for
from harness.cluster.embedded.seed import seed_for
from harness.progress import bar
from harness.report.text import table
from harness.run import machine

# What the project promises: the most that a ratio or figure may be.
BOUNDS = {
    "ready / kwokctl": 0.7,
    "verdict / kwokctl": 1.3,
    "reset / new cluster": 0.1,
    "idle CPU, % of a core": 10.0,
    **tap.BOUNDS,
    **load.BOUNDS,
    **regress.BOUNDS,
    **report.BOUNDS,
}
PARTS = ("start", "tap", "load", "regress", "report")
# Only when asked for: it draws a picture of the documents again.
ASKED = ("trap",)


def main() -> int:
    """Measure, print, save; return 1 if a bound was missed, after everything was measured."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (all of them unless told), {', '.join(ASKED)}"
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="of regress: the sorts of checks whose names have it"
    )
    parser.add_argument("--out", type=Path, default=Path("reports/bench"))
    arguments = parser.parse_args()
    unknown = [part for part in arguments.parts if part not in (*PARTS, *ASKED)]
    if unknown:
        parser.error(f"unknown part {unknown[0]!r}; known: {', '.join((*PARTS, *ASKED))}")
    missed = []
    for part in arguments.parts or PARTS:
        measured, told = _measure(part, arguments.rounds, arguments.only)
        path = _save(part, measured, arguments.out)
        rows = [
            [name, f"{value:.3g}", BOUNDS[name], "yes" if value <= BOUNDS[name] else "NO"]
            for name, value in measured["figures"].items()
        ]
        print(table(rows, ["figure", "measured", "bound", "within"]))
        print(f"{told}; saved: {path}")
        missed += [name for name, value in measured["figures"].items() if not value <= BOUNDS[name]]
    if missed:
        print(f"FAILED: {len(missed)} figures are not within their bounds: {'; '.join(missed)}")
    return 1 if missed else 0


def _measure(part: str, rounds: int, only: str) -> tuple[dict[str, Any], str]:
    if part == "start":
        return _measure_start(rounds)
    if part == "load":
        measured = load.measure(rounds)
        return measured, load.describe(measured)
    if part == "regress":
        measured = regress.measure(rounds, only)
        return measured, regress.describe(measured)
    if part == "report":
        measured = report.measure()
        return measured, report.describe(measured)
    if part == "trap":
        measured = trap.measure()
        return measured, trap.describe(measured)
    measured = tap.measure()
    return measured, tap.describe(measured)


def _measure_start(count: int) -> tuple[dict[str, Any], str]:
    binaries = binaries_for(ClusterSpec())
    seed_for(binaries)
    yardstick = kwokctl.program()
    rounds = []
    with bar("Measuring", count) as shown:
        for number in range(count):
            rounds.append(
                {"kwokctl_seconds": kwokctl.seconds_until_ready(yardstick, binaries), **embedded.run_command()}
            )
            shown.advance(f"round {number + 1}")
    costs = embedded.cluster_costs()
    told = (
        f"kwokctl {_median(rounds, 'kwokctl_seconds'):.2f} s, ready {_median(rounds, 'ready_seconds'):.2f} s, "
        f"verdict {_median(rounds, 'verdict_seconds'):.2f} s, {costs['resident_mib']} MiB resident"
    )
    measured = {"kubernetes": binaries.kubernetes, "rounds": rounds, "costs": costs, "figures": _figures(rounds, costs)}
    return measured, told


def _save(part: str, measured: dict[str, Any], folder: Path) -> Path:
    document = {
        "taken_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": {**machine.fingerprint(), "load": machine.load_now()},
        **measured,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{part}-{datetime.datetime.now().astimezone():%Y%m%d-%H%M%S}.json"
    path.write_text(json.dumps(document, indent=2))
    return path


def _figures(rounds: list[dict[str, float]], costs: dict[str, Any]) -> dict[str, float]:
    # Round by round: what disturbs one round disturbs both of its sides.
    return {
        "ready / kwokctl": statistics.median(one["ready_seconds"] / one["kwokctl_seconds"] for one in rounds),
        "verdict / kwokctl": statistics.median(one["verdict_seconds"] / one["kwokctl_seconds"] for one in rounds),
        "reset / new cluster": costs["reset_seconds"] / costs["new_cluster_seconds"],
        "idle CPU, % of a core": costs["idle_cpu_percent_of_a_core"],
    }


def _median(rounds: list[dict[str, float]], name: str) -> float:
    return statistics.median(one[name] for one in rounds)


if __name__ == "__main__":
    sys.exit(main())
