"""Runs the generator, a process of its own, and brings home what it measured, however it ended."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness import temporary
from harness.clock import SYSTEM, WaitTimeoutError, wait_until
from harness.errors import HarnessError
from harness.extender.entry import Entry
from harness.lifeline import VARIABLE as LIFELINE
from harness.load import samples
from harness.load.engine import PATIENCE_SECONDS
from harness.load.measure import Run
from harness.load.order import ORDER, VARIABLE, Order
from harness.load.samples import Samples
from harness.paths import PACKAGE
from harness.process import Child, spawn, tail

LOCUSTFILE = PACKAGE / "load" / "locustfile.py"
LOOPBACK = "127.0.0.1"
START_SECONDS = 60.0
NULL_START_SECONDS = 20.0
END_SECONDS = 15.0
WEB_SECONDS = 3600.0
STOP_SECONDS = 10.0
POLL_SECONDS = 0.2
SAID_LINES = 6
MASTER_PORT = 5557
OTHER_ORDER = (
    "a worker was given another order than the master; start each with the master's own command line, "
    "and --worker HOST in place of --master"
)


@dataclass(frozen=True)
class Scale:
    """How many processes make the load, and which part this one plays.

    `role` is local, master or worker. A master waits for its workers at `host` and `port`; a worker looks for its
    master there. With `web`, locust's page is served at that port, and a person starts and ends the load.
    """

    processes: int = 1
    role: str = "local"
    host: str = LOOPBACK
    port: int = MASTER_PORT
    web: int | None = None

    @property
    def has_floor(self) -> bool:
        """Tell whether the null server can be asked; workers on other machines cannot reach it."""
        return self.role == "local" and self.web is None


def generate(
    order: Order,
    scale: Scale,
    *,
    report: Callable[[str], None] = lambda _: None,
    check: Callable[[], str | None] = lambda: None,
) -> Run:
    """Carry out an order and return what came of it; Ctrl-C ends it early and raises nothing.

    Args:
        order: what to do.
        scale: by how many processes.
        report: told how far it is.
        check: says how the extender ended, if it did so by itself.

    Raises:
        HarnessError: the null server does not start.
    """
    with temporary.folder("load") as folder, contextlib.ExitStack() as stack:
        if scale.has_floor and order.floor_seconds > 0:
            order = replace(order, null=stack.enter_context(_null_server(folder)))
        path = order.write(folder)
        child = spawn(
            "load generator", _command(order, scale), log=folder / "locust.log", env={VARIABLE: str(path)}, guarded=True
        )
        stack.callback(child.kill)
        ended = _supervise(child, order, scale, report)
        if scale.web is not None and ended == "interrupted":
            # Ctrl-C is how a person leaves the page; what the load itself says counts.
            ended = "complete"
        if scale.role != "worker":
            return _collected(folder, order, child, ended, check)
        # It has its own share only, whatever the others did.
        run = _collected(folder, replace(order, workers=1), child, ended, check)
        return replace(run, notes=(*run.notes, "one worker's share; the master has the whole"))


def _command(order: Order, scale: Scale) -> list[str]:
    users = str(order.workers)
    command = [sys.executable, "-m", "locust", "-f", str(LOCUSTFILE), "--only-summary", "--loglevel", "WARNING"]
    command += ["--exit-code-on-error", "0"]
    if scale.role == "worker":
        return [*command, "--worker", "--master-host", scale.host, "--master-port", str(scale.port)]
    command += ["--users", users, "--spawn-rate", users]
    if scale.web is None:
        command += ["--headless"]
    else:
        command += ["--web-host", LOOPBACK, "--web-port", str(scale.web)]
    if scale.role == "master":
        command += ["--master", "--master-bind-host", scale.host, "--master-bind-port", str(scale.port)]
        return [*command, "--expect-workers", users, "--expect-workers-max-wait", f"{START_SECONDS:.0f}"]
    if scale.processes > 1:
        # The port between processes of one machine is its own for each run, and only for this machine.
        command += ["--processes", users, "--master-bind-host", LOOPBACK, "--master-host", LOOPBACK]
        command += ["--master-bind-port", str(scale.port), "--master-port", str(scale.port)]
    return command


@contextlib.contextmanager
def _null_server(folder: Path) -> Iterator[Entry]:
    """Serve nothing on a port of its own; it ends with the context."""
    log = folder / "null.log"
    child = spawn("null server", [sys.executable, "-m", "harness.load.null"], log=log, env={LIFELINE: "stdin"})
    try:

        def port() -> int | None:
            if child.died:
                raise HarnessError(f"the null server did not start: {child.describe_end()}")
            text = log.read_text()
            return int(text) if text.endswith("\n") else None

        try:
            found = wait_until(port, what="the null server", timeout_seconds=NULL_START_SECONDS)
        except WaitTimeoutError as error:
            raise HarnessError(f"{error}; is the machine too busy to measure anything?") from None
        yield Entry(url_prefix=f"http://{LOOPBACK}:{found}")
    finally:
        child.stop()


def _supervise(child: Child, order: Order, scale: Scale, report: Callable[[str], None]) -> str:
    """Wait for the end of the generator and return what ended it."""
    began = SYSTEM.now()
    limit = _limit_seconds(order, scale)
    try:
        while not child.ended.wait(POLL_SECONDS):
            passed = SYSTEM.now() - began
            if passed > limit:
                child.stop(grace_seconds=STOP_SECONDS)
                return "deadline"
            report(f"{passed:.0f} s of about {order.seconds + order.floor_seconds + 2:.0f} s")
    except KeyboardInterrupt:
        # What was measured so far is kept; a second Ctrl-C is not waited for.
        child.stop(grace_seconds=STOP_SECONDS)
        return "interrupted"
    return "complete"


def _limit_seconds(order: Order, scale: Scale) -> float:
    if scale.web is not None:
        return WEB_SECONDS
    floor = order.floor_seconds + order.drain_seconds if order.null else 0.0
    waiting = START_SECONDS * (2 if scale.role != "local" else 1)
    return waiting + floor + order.seconds + 2 * order.drain_seconds + PATIENCE_SECONDS + END_SECONDS


def _collected(folder: Path, order: Order, child: Child, ended: str, check: Callable[[], str | None]) -> Run:
    """Return what the workers left, and say what is missing."""
    digest = Order.read(folder / ORDER).digest
    main, workers, notes = _phase(folder, "main", digest)
    floor, floor_workers, _ = _phase(folder, "floor", digest)
    if how := check():
        ended, notes = "died", [*notes, "the extender ended under load: " + "; ".join(how.splitlines()[:SAID_LINES])]
    elif ended == "complete" and OTHER_ORDER in notes:
        ended = "generator-failed"
    elif ended == "complete":
        ended, more = _how_it_ended(workers, order, child)
        notes = [*notes, *more]
    elif ended == "deadline":
        notes = [*notes, "the generator did not end in time and was stopped"]
    return Run(main, floor, workers, floor_workers, ended, tuple(notes))


def _how_it_ended(workers: list[dict[str, Any]], order: Order, child: Child) -> tuple[str, list[str]]:
    if not workers:
        said = "; ".join(tail(child.log, SAID_LINES).splitlines())
        return "generator-failed", [f"the generator left no samples; the end of its log: {said}"]
    if len(workers) < order.workers:
        return "worker-lost", [f"{order.workers - len(workers)} of {order.workers} workers left no samples"]
    if any(worker["ended"] == "interrupted" for worker in workers):
        return "interrupted", []
    if any(worker["ended"] == "gone" for worker in workers):
        return "gone", ["nothing but broken connections for 2 s; the load was ended early"]
    return "complete", []


def _phase(folder: Path, phase: str, digest: str) -> tuple[Samples, list[dict[str, Any]], list[str]]:
    """Return what the workers left of a phase; samples of another order than ours are left out."""
    parts: list[Samples] = []
    workers: list[dict[str, Any]] = []
    notes: list[str] = []
    for path in sorted(folder.glob(f"{phase}-*.npz")):
        try:
            part, meta = samples.load(path)
        except (OSError, ValueError, KeyError) as error:
            notes.append(f"samples of a worker cannot be read ({error})")
            continue
        if meta["order"] != digest:
            notes = list(dict.fromkeys([*notes, OTHER_ORDER]))
            continue
        parts.append(part)
        workers.append(meta)
    return samples.merged(parts), workers, notes
