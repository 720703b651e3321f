"""What the tap costs: the time it adds to a trivial Go /filter, and its memory while big bodies go through."""

import contextlib
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any, Self

import psutil

from harness import cache, toolchain
from harness.clock import wait_until
from harness.extender.tap import Tap, Upstream, tapping
from harness.paths import cache_folder
from harness.process import run, spawn

SOURCE = Path(__file__).parent / "filter"
START_SECONDS = 10.0
BIG_BODY_BYTES = 40_000_000
BIG_CALLS = 8

# What the project promises.
BOUNDS = {
    "tap p50 added / p50 of a Go /filter": 1.0,
    "tap RSS MiB at 40 MB bodies": 32.0,
}


def measure() -> dict[str, Any]:
    """Return the figures, and the medians they were made of."""
    program = filter_program()
    added = _added_latency(program)
    resident = _resident_mib(program)
    return {
        "figures": {
            "tap p50 added / p50 of a Go /filter": added["ratio"],
            "tap RSS MiB at 40 MB bodies": resident,
        },
        "latency": added,
    }


def describe(measured: dict[str, Any]) -> str:
    """Say the figures' parts in one line."""
    latency = measured["latency"]
    return (
        f"/filter with 100 names: {latency['direct_us']:.0f} µs direct, {latency['tapped_us']:.0f} µs tapped and "
        f"recorded, {latency['silent_us']:.0f} µs tapped only"
    )


def filter_program() -> Path:
    """Return the trivial extender, built."""
    go = toolchain.find(toolchain.needed_by(SOURCE))

    def build(draft: Path) -> None:
        run([str(go.program), "build", "-o", str(draft / "filter"), "."], cwd=SOURCE, env=go.environment())

    newest = max(path.stat().st_mtime_ns for path in SOURCE.iterdir())
    return cache.kept(cache_folder() / "bench" / f"filter-{newest}", build, what="The trivial extender") / "filter"


def _added_latency(program: Path) -> dict[str, float]:
    """Time the same calls three ways, in turns: direct, through a recording tap, through one that does not record."""
    with _Served(program) as served:
        output = run([str(program), "-client", served.url, served.recording.url, served.silent.url])
    medians: dict[str, list[float]] = json.loads(output)
    direct, recorded, silent = (medians[url] for url in (served.url, served.recording.url, served.silent.url))
    # Block by block: what disturbs one disturbs its neighbours.
    ratio = statistics.median((tapped - plain) / plain for plain, tapped in zip(direct, recorded, strict=True))
    return {
        "ratio": ratio,
        "direct_us": statistics.median(direct) * 1e6,
        "tapped_us": statistics.median(recorded) * 1e6,
        "silent_us": statistics.median(silent) * 1e6,
    }


def _resident_mib(program: Path) -> float:
    """Return the most memory that the recording tap had, sampled while big bodies go both ways."""
    seen: list[int] = []
    with _Served(program, "-pad", str(BIG_BODY_BYTES)) as served:
        looked_at = psutil.Process(served.recording.child.pid)
        client = spawn(
            "client",
            [
                *(str(program), "-client", "-pad", str(BIG_BODY_BYTES), "-calls", str(BIG_CALLS), "-blocks", "1"),
                served.recording.url,
            ],
            log=served.folder / "client.log",
        )
        try:
            while not client.ended.wait(0.005):
                seen.append(looked_at.memory_info().rss)
        finally:
            client.stop()
        if client.exit_code:
            raise RuntimeError(client.describe_end())
    return max(seen) / 2**20


class _Served:
    """The trivial extender with two taps before it, one of which records."""

    def __init__(self, program: Path, *options: str) -> None:
        self._command = [str(program), *options]
        self._stack = contextlib.ExitStack()
        self.url = ""
        self.folder = Path()
        self.recording: Tap
        self.silent: Tap

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            log = self.folder / "filter.log"
            extender = spawn("filter", self._command, log=log)
            stack.callback(extender.stop)
            self.url = wait_until(
                lambda: log.read_text().strip(), what="the extender's address", timeout_seconds=START_SECONDS
            )
            self.recording = stack.enter_context(tapping("recording", Upstream(self.url), self.folder / "recording"))
            self.silent = stack.enter_context(tapping("silent", Upstream(self.url), self.folder / "silent"))
            wait_until(
                lambda: self.recording.state()["listening"] and self.silent.state()["listening"],
                what="two taps that listen",
                timeout_seconds=START_SECONDS,
            )
            self.recording.record_into(self.folder)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()
