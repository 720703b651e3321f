"""`python -m bench.servers`: which server extenders in Python should run on; decision 0006 quotes what it prints.

Every candidate serves the same extender (ref:pass-through) through the same `App`, in a process of its own, and is
asked as kube-scheduler asks: one keep-alive connection, one call at a time. Rounds are interleaved, so that what
disturbs the machine disturbs all. Candidates that are not installed are left out and named.
"""

import argparse
import contextlib
import importlib.util
import socket
import statistics
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from bench.candidates import CANDIDATES
from harness.clock import SYSTEM
from harness.extender import requests
from harness.ports import reserved
from harness.process import spawn
from harness.report.text import table

SMALL = "100 names"
LARGE = "1000 nodes of 5 KiB"
CALLS = {SMALL: 400, LARGE: 8}
IDLE_SECONDS = 95.0


@dataclass
class Result:
    """What was measured of one candidate."""

    start: list[float] = field(default_factory=list)
    calls: dict[str, list[float]] = field(default_factory=lambda: {SMALL: [], LARGE: []})
    small_mib: float = 0.0
    large_mib: float = 0.0

    def row(self, name: str, idle: str) -> list[str]:
        """Return it as a line of the table."""
        small, large = sorted(self.calls[SMALL]), sorted(self.calls[LARGE])
        return [
            name,
            f"{1000 * statistics.median(self.start):.0f}",
            f"{1e6 * statistics.median(small):.0f}",
            f"{1e6 * small[int(len(small) * 0.99)]:.0f}",
            f"{1000 * statistics.median(large):.0f}",
            f"{1000 * large[int(len(large) * 0.99)]:.0f}",
            f"{self.small_mib:.0f} / {self.large_mib:.0f}",
            idle,
        ]


@contextlib.contextmanager
def running(name: str, folder: Path) -> Iterator[tuple[int, float, psutil.Process]]:
    """Start a candidate; hand over its port, the seconds until it answered, and its process."""
    with reserved(1) as (port,):
        start = SYSTEM.now()
        child = spawn(name, [sys.executable, "-m", "bench.candidates", name, str(port)], log=folder / "log")
        try:
            while not _answers(port):
                if child.died:
                    raise SystemExit(child.describe_end())
                SYSTEM.pause(0.002)
            yield port, SYSTEM.now() - start, psutil.Process(child.pid)
        finally:
            child.stop()


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            return _call(connection, "GET", "/healthz", b"")[0] > 0
    except OSError:
        return False


def _call(connection: socket.socket, method: str, path: str, body: bytes) -> tuple[float, int]:
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    start = SYSTEM.now()
    connection.sendall(head + body)
    got = connection.recv(1 << 18)
    while b"\r\n\r\n" not in got:
        more = connection.recv(1 << 18)
        if not more:
            raise ConnectionResetError
        got += more
    head, _, rest = got.partition(b"\r\n\r\n")
    if b" 200 " not in head[:16]:
        raise SystemExit(f"200 expected, seen: {got[:200]!r}")
    length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    missing = length - len(rest)
    while missing > 0:
        missing -= len(connection.recv(1 << 18))
    return SYSTEM.now() - start, length


def measure(name: str, result: Result, bodies: dict[str, bytes], folder: Path) -> None:
    """Measure one candidate once."""
    with running(name, folder) as (port, start, process), socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        result.start.append(start)
        for size, body in bodies.items():
            for _ in range(3):
                _call(connection, "POST", "/filter", body)
            result.calls[size] += [_call(connection, "POST", "/filter", body)[0] for _ in range(CALLS[size])]
            family = [process, *process.children(recursive=True)]
            resident = sum(one.memory_info().rss for one in family) / 2**20
            result.small_mib, result.large_mib = (
                (resident, result.large_mib) if size == SMALL else (result.small_mib, resident)
            )


def survives_idling(name: str, folder: Path) -> str:
    """Tell whether a connection can still be used after the longest time that kube-scheduler keeps one."""
    with running(name, folder) as (port, _, _), socket.create_connection(("127.0.0.1", port)) as connection:
        _call(connection, "GET", "/healthz", b"")
        connection.settimeout(IDLE_SECONDS)
        try:
            connection.recv(1)
        except TimeoutError:
            _call(connection, "GET", "/healthz", b"")
            return "yes"
        except OSError:
            pass
        return "NO"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.servers", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--idle", action="store_true", help=f"also leave a connection alone for {IDLE_SECONDS:.0f} s")
    arguments = parser.parse_args()
    there = {name: need is None or importlib.util.find_spec(need) for name, (_, need) in CANDIDATES.items()}
    results = {name: Result() for name in CANDIDATES if there[name]}
    bodies = {
        SMALL: requests.encoded(requests.extender_args(requests.pod(), requests.nodes(100), names_only=True)),
        LARGE: requests.encoded(
            requests.extender_args(requests.pod(), requests.nodes(1000, kib_each=5), names_only=False)
        ),
    }
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(arguments.rounds):
            for name, result in results.items():
                measure(name, result, bodies, Path(folder))
        idle = dict.fromkeys(results, "-")
        if arguments.idle:
            # All at once: they only wait.
            with ThreadPoolExecutor(len(results)) as pool:
                idle = dict(
                    zip(results, pool.map(lambda name: survives_idling(name, Path(folder)), results), strict=True)
                )
    rows = [result.row(name, idle[name]) for name, result in results.items()]
    head = ["server", "start ms", "p50 µs", "p99 µs", "large p50 ms", "large p99 ms", "MiB small / large", "95 s idle"]
    print(table(rows, head))
    print(f"{arguments.rounds} rounds; small: {SMALL}, large: {LARGE} ({len(bodies[LARGE]) / 1e6:.1f} MB)")
    if missing := [name for name, found in there.items() if not found]:
        print(f"not installed: {', '.join(missing)}")


if __name__ == "__main__":
    main()
