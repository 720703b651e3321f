"""What the load generator costs beside wrk, and whether it tells the truth about latencies that are known."""

import contextlib
import re
import resource
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.tap import filter_program
from harness.clock import wait_until
from harness.extender.subject.parse import parse
from harness.load.bodies import made_up
from harness.load.generate import Scale
from harness.load.lean import LeanClient, prepare
from harness.load.schedule import Plan
from harness.load.session import Shape, loading
from harness.process import run, spawn
from harness.progress import bar, note
from harness.record.load import LoadResult

TROUBLE = Path(__file__).parents[1] / "tests" / "subjects" / "trouble" / "trouble.py"
ENTRY = {"filterVerb": "filter", "nodeCacheCapable": True}
NODES = 100
CONNECTIONS = 10
SECONDS = 3.0
LEAN_CALLS = 5000
START_SECONDS = 20.0
TRIES = 4
# Injected and expected: option, and milliseconds by percentile. A freeze of 500 ms each 5 s hits a tenth of all
# requests, for 0 to 500 ms each: 95 % wait up to 250 ms, and 99 % up to 450.
INJECTED: dict[str, tuple[tuple[str, ...], dict[str, float]]] = {
    "1 ms": (("--delay-ms", "1"), {"p50_ms": 1.0}),
    "5 ms": (("--delay-ms", "5"), {"p50_ms": 5.0}),
    "20 ms": (("--delay-ms", "20"), {"p50_ms": 20.0}),
    "freeze": (("--freeze-every", "5", "--freeze-seconds", "0.5"), {"p95_ms": 250.0, "p99_ms": 450.0}),
}
INJECTED_RATE = 100.0
INJECTED_SECONDS = {"freeze": 20.0}
SHARE_ALLOWED, MS_ALLOWED = 0.05, 0.3
_WRK_REQUESTS = re.compile(r"(\d+) requests in")
_WRK_MEDIAN = re.compile(r"50%\s+([\d.]+)(us|ms|s)")
_UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3}

CPU, LEAN, TRUTH = "generator CPU / wrk CPU per 2 KB request", "lean p50 over wrk's, ms", "injected latency missed by"
BOUNDS = {CPU: 4.0, LEAN: 0.06, **{f"{TRUTH}, share of what is allowed: {name}": 1.0 for name in INJECTED}}


def measure(rounds: int) -> dict[str, Any]:
    """Return the figures and the rounds they were made of; without wrk, only those that need none."""
    figures: dict[str, float] = {}
    wrk = shutil.which("wrk")
    costs = []
    if wrk is None:
        note("wrk is not installed (Debian: apt install wrk): what the generator costs beside it is not measured")
    truths: dict[str, list[dict[str, Any]]] = {name: [] for name in INJECTED}
    with bar("Measuring the load generator", rounds * (len(INJECTED) + 1)) as shown:
        for number in range(1, rounds + 1):
            if wrk is not None:
                costs.append(_cost(wrk))
                shown.advance(f"round {number}: cost")
            for name in INJECTED:
                truths[name].append(_truth(name))
                shown.advance(f"round {number}: {name}")
    if costs:
        figures[CPU] = statistics.median(one["generator_us"] / one["wrk_us"] for one in costs)
        figures[LEAN] = statistics.median(one["lean_ms"] - one["wrk_ms"] for one in costs)
    for name, told in truths.items():
        # Of the rounds in the middle: what a neighbour does to one of them is not the generator's.
        figures[f"{TRUTH}, share of what is allowed: {name}"] = statistics.median(one["missed"] for one in told)
    return {"figures": figures, "costs": costs, "truths": truths}


def describe(measured: dict[str, Any]) -> str:
    """Say the figures' parts in one line."""
    middle = statistics.median
    told = []
    if costs := measured["costs"]:
        for key, words in (("generator_us", "generator {:.0f} µs"), ("wrk_us", "wrk {:.0f} µs of CPU per request")):
            told.append(words.format(middle(one[key] for one in costs)))
        told += [f"lean p50 {middle(one['lean_ms'] for one in costs):.3f} ms"]
        told += [f"wrk p50 {middle(one['wrk_ms'] for one in costs):.3f} ms"]
    freeze = measured["truths"]["freeze"]
    told += [f"freeze: open p99 {middle(one['open']['p99_ms'] for one in freeze):.0f} ms"]
    told += [f"closed p99 {middle(one['closed']['p99_ms'] for one in freeze):.2f} ms"]
    return ", ".join(told)


def _cost(wrk: str) -> dict[str, float]:
    """Return CPU per request of the generator and of wrk, and what the lean client and wrk measure one at a time."""
    body = made_up(NODES, "names", ("filter",)).bodies[0].data
    with (
        _filter_server() as (url, folder),
        loading(parse(url, ENTRY), folder, verbs=("filter",), seed=0, allow_remote=False) as loaded,
    ):
        wrk_us, _ = _wrk(wrk, url, body, folder, CONNECTIONS)
        corpus = made_up(NODES, "names", ("filter",))
        shape = Shape(SECONDS, 0.5, schedulers=CONNECTIONS)
        _, (mine,) = loaded.measure(corpus, shape, Scale(), floor=False)
        _, wrk_ms = _wrk(wrk, url, body, folder, 1)
        lean_ms = _lean(f"{url}/filter", body)
    return {
        "generator_us": mine.generator_cpu_us_per_request or 0.0,
        "generator_rate": mine.achieved_rate,
        "wrk_us": wrk_us,
        "wrk_ms": wrk_ms,
        "lean_ms": lean_ms,
    }


@contextlib.contextmanager
def _filter_server() -> Iterator[tuple[str, Path]]:
    with tempfile.TemporaryDirectory() as name:
        log = Path(name) / "filter.log"
        server = spawn("filter", [str(filter_program())], log=log)
        try:
            url = wait_until(
                lambda: log.read_text().strip(), what="the extender's address", timeout_seconds=START_SECONDS
            )
            yield url, Path(name)
        finally:
            server.stop()


def _wrk(program: str, url: str, body: bytes, folder: Path, connections: int) -> tuple[float, float]:
    """Return CPU per request in microseconds and the median latency in milliseconds."""
    script = folder / "post.lua"
    (folder / "body").write_bytes(body)
    script.write_text(
        f'local file = io.open("{folder / "body"}", "rb")\nwrk.method = "POST"\nwrk.body = file:read("*a")\n'
        'wrk.headers["Content-Type"] = "application/json"\n'
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    options = ["-t1", f"-c{connections}", f"-d{SECONDS:.0f}s", "--latency", "-s", str(script)]
    output = run([program, *options, f"{url}/filter"])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    count, median = _WRK_REQUESTS.search(output), _WRK_MEDIAN.search(output)
    if count is None or median is None or "Non-2xx" in output:
        raise RuntimeError(f"wrk said something else than expected:\n{output}")
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds * 1e6 / int(count[1]), float(median[1]) * _UNITS[median[2]]


def _lean(url: str, body: bytes) -> float:
    with LeanClient(url, 5.0) as client:
        request = prepare(url, body)
        outcomes = [client.send(request) for _ in range(LEAN_CALLS)]
    return statistics.median((one.done_ns - one.sent_ns) / 1e6 for one in outcomes[LEAN_CALLS // 10 :])


def _truth(name: str) -> dict[str, Any]:
    """Load an extender whose latency is known, and return by how much the open percentiles miss it.

    A result that the generator limited is not the extender's, by the generator's own rule: it is measured again. Where
    that does not help, the one whose requests left least late is taken, and `generator_limited` tells.
    """
    options, injected = INJECTED[name]
    seconds = INJECTED_SECONDS.get(name, 5.0)
    arrivals = Shape(seconds, 0.0, Plan("constant", (INJECTED_RATE,), seconds))
    tries = []
    for _ in range(TRIES):
        tries.append(_loaded(options, arrivals))
        if not tries[-1].generator_limited:
            break
    opened = min(tries, key=lambda one: one.lag_p99_ms or 0.0)
    closed = _loaded(options, Shape(seconds, 0.0))
    missed = max(
        abs((getattr(opened, key) or 0.0) - true) / max(SHARE_ALLOWED * true, MS_ALLOWED)
        for key, true in injected.items()
    )
    shown = {"open": _shown(opened), "closed": _shown(closed), "tries": len(tries)}
    return {"missed": missed, "injected": injected, **shown}


def _loaded(options: tuple[str, ...], shape: Shape) -> LoadResult:
    subject = parse(f"cmd:{sys.executable} {TROUBLE} --port {{port}} {' '.join(options)}", ENTRY)
    with (
        tempfile.TemporaryDirectory() as folder,
        loading(subject, Path(folder), verbs=("filter",), seed=0) as loaded,
    ):
        _, (result,) = loaded.measure(made_up(NODES, "names", ("filter",)), shape, Scale())
    return result


def _shown(result: LoadResult) -> dict[str, Any]:
    keys = ("requests", "errors", "p50_ms", "p95_ms", "p99_ms", "max_ms", "lag_p50_ms", "lag_p99_ms", "floor_p50_ms")
    return {key: getattr(result, key) for key in (*keys, "generator_limited")}
