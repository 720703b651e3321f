"""The locust file of the harness: a user that carries out one order (see order.py) and keeps every sample.

The only module that imports locust, which patches sockets when it is imported: it runs in a process of its own, started
by generate.py, or by a person: `HARNESS_LOAD_ORDER=…/order.json locust -f locustfile.py` opens it in locust's web page
(`harness load --order` writes such an order).
Locust starts, spreads and stops the users and shows numbers; the samples are ours, because its own are rounded.
"""

import contextlib
import gc
import os
import resource
import sys
from array import array
from pathlib import Path
from typing import Any

import gevent
import numpy as np
from gevent.event import Event
from locust import User, events, task  # noqa: TID253 - this process is locust's own
from locust.runners import LocalRunner, MasterRunner, WorkerRunner  # noqa: TID253 - see above
from locust.stats import StatsEntry, StatsError  # noqa: TID253 - see above

from harness.errors import HarnessError
from harness.extender.entry import Entry
from harness.load import samples
from harness.load.engine import Engine, Part
from harness.load.models import Closed, Open, cycles_of
from harness.load.order import VARIABLE, Order
from harness.load.samples import OUTCOMES, VERBS, Taken

SHOW_SECONDS = 1.0
DESCRIPTORS_WANTED = 65_536
DESCRIPTORS_KEPT = 128
CONNECTIONS_MIN, CONNECTIONS_MAX = 16, 8192
SAMPLES_MESSAGE = "harness-samples"
SATURATION_MESSAGE = "harness-saturation"

HOW = "write one with `harness load http://HOST:PORT --order FOLDER`, or open a load with `harness load … --web`"


def _ordered() -> tuple[Path, Order]:
    """Return the order that the environment names; who opens this file by hand is told how to get one."""
    named = os.environ.get(VARIABLE)
    if not named:
        sys.exit(f"{VARIABLE}: not set, the path of an order.json expected; {HOW}")
    try:
        return Path(named), Order.read(Path(named))
    except (OSError, ValueError, KeyError, TypeError, HarnessError) as error:
        sys.exit(f"{VARIABLE}={named}: no order can be read there ({error}); {HOW}")


PATH, ORDER = _ordered()


class Schedulers(User):
    """One per process: makes this process's share of the load."""

    fixed_count = ORDER.workers

    @task
    def load(self) -> None:
        """Ask the null server, then the extender; keep the samples, then end."""
        runner = self.environment.runner
        index = max(runner.worker_index, 0) % ORDER.workers
        shown = None if _is_headless(self.environment) else gevent.spawn(self._show)
        done: dict[str, Engine] = {}
        self._engine: Engine | None = None
        self._counted = 0
        try:
            _settle()
            if ORDER.null is not None:
                done["floor"] = self._carry_out(index, ORDER.null, is_floor=True)
            done["main"] = self._carry_out(index, ORDER.target, is_floor=False)
        finally:
            if shown is not None:
                shown.kill()
            if self._engine is not None and "main" not in done:
                self._engine.stop("interrupted")
                done["floor" if ORDER.null is not None and "floor" not in done else "main"] = self._engine
            self._count()
            _hand_over(self.environment, index, done)
        gevent.spawn(_end, self.environment)
        # The task would begin anew; who is ended by locust leaves here.
        Event().wait()

    def _carry_out(self, index: int, target: Entry, *, is_floor: bool) -> Engine:
        over = Event()
        part = _part(index, target, is_floor=is_floor)
        kind = Closed if ORDER.plan is None else Open
        self._engine = engine = kind(gevent.get_hub().loop, part, over.set)
        if isinstance(engine, Open) and isinstance(runner := self.environment.runner, WorkerRunner) and not is_floor:
            _share_saturation(runner, engine)
        self._counted = 0
        engine.start()
        over.wait()
        return engine

    def _show(self) -> None:
        while True:
            gevent.sleep(SHOW_SECONDS)
            self._count()

    def _count(self) -> None:
        """Add the newest samples of the extender to locust's numbers, all at once: one by one costs too much."""
        engine = self._engine
        if engine is None or engine.part.target != ORDER.target:
            return
        count = len(engine.taken)
        if _is_headless(self.environment) or count == self._counted:
            return
        _tell_locust(self.environment.stats, engine.taken, self._counted, count)
        self._counted = count


def _is_headless(environment: Any) -> bool:
    return bool(environment.parsed_options and environment.parsed_options.headless)


def _settle() -> None:
    """Make room for connections, and keep the garbage collector out of the samples."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS_WANTED if hard == resource.RLIM_INFINITY else min(DESCRIPTORS_WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, 50, 50)


def _part(index: int, target: Entry, *, is_floor: bool) -> Part:
    """Return this worker's share of a phase."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    room = CONNECTIONS_MAX if soft == resource.RLIM_INFINITY else soft - DESCRIPTORS_KEPT
    seconds = ORDER.floor_seconds if is_floor else ORDER.seconds
    offsets = None
    marks = [0.0 if is_floor else ORDER.warmup_seconds]
    until_saturation = False
    if ORDER.plan is not None:
        moments = ORDER.plan.offsets()
        if is_floor:
            # Nobody waits for the first rates of a ramp to come.
            moments -= moments[0]
        else:
            marks += [end for _, end, _ in ORDER.plan.segments()[:-1]]
            until_saturation = len(marks) > 1
        moments = moments[index :: ORDER.workers]
        # Millions of them: an array needs a tenth of what a list would.
        offsets = array("d", moments[moments < seconds].tobytes())
    return Part(
        target=target,
        requests=[(VERBS.index(request.verb), request.data) for request in ORDER.requests],
        seconds=seconds,
        marks=marks,
        until_saturation=until_saturation,
        offsets=offsets,
        share=(index, ORDER.workers),
        schedulers=(range(index, ORDER.schedulers, ORDER.workers), max(1, ORDER.schedulers)),
        cycles=cycles_of(ORDER.requests),
        connections_max=max(CONNECTIONS_MIN, min(CONNECTIONS_MAX, room)),
        # Few connections because the system gives us no more is our lack, not the extender's.
        overflow=samples.OVERFLOW if room >= CONNECTIONS_MAX else samples.NO_DESCRIPTORS,
        pids=() if is_floor or index else ORDER.pids,
    )


def _share_saturation(runner: Any, engine: Open) -> None:
    """Let the first worker that sees an extender saturated end the load of all of them."""

    def tell(number: int) -> None:
        # From the loop's own callbacks nobody may wait for a socket.
        gevent.spawn(runner.send_message, SATURATION_MESSAGE, number)

    def cease(msg: Any, **_: Any) -> None:
        engine.cease(msg.data)

    engine.on_saturation = tell
    runner.custom_messages.pop(SATURATION_MESSAGE, None)
    runner.register_message(SATURATION_MESSAGE, cease)


def _tell_locust(stats: Any, taken: Taken, first: int, last: int) -> None:
    """Merge samples into locust's statistics as it merges those of its own workers."""
    columns = taken.columns(0, first, last)
    milliseconds = (columns["done"] - columns["intended"]) * 1000
    groups = columns["verb"] * len(OUTCOMES) + columns["outcome"]
    for group in np.unique(groups).tolist():
        verb, outcome = divmod(group, len(OUTCOMES))
        entry = _entry(f"/{VERBS[verb]} (from intended)", milliseconds[groups == group])
        entry.num_failures = entry.num_requests if outcome else 0
        stats.get(entry.name, entry.method).extend(entry)
        stats.total.extend(entry)
        if outcome:
            key = StatsError.create_key(entry.method, entry.name, OUTCOMES[outcome])
            kept = stats.errors.setdefault(key, StatsError(entry.method, entry.name, OUTCOMES[outcome]))
            kept.occurrences += entry.num_failures


def _entry(name: str, milliseconds: Any) -> Any:
    """Return locust's own form of some samples; logged one by one they would cost more than they took."""
    make: Any = StatsEntry
    entry = make(None, name, "POST", True)
    entry.log(float(milliseconds[0]), 0)
    rounded, counts = np.unique(np.round(milliseconds), return_counts=True)
    entry.response_times = dict(zip(rounded.astype(int).tolist(), counts.tolist(), strict=True))
    entry.num_requests = len(milliseconds)
    entry.num_reqs_per_sec = dict.fromkeys(entry.num_reqs_per_sec, len(milliseconds))
    entry.total_response_time = float(milliseconds.sum())
    entry.min_response_time, entry.max_response_time = float(milliseconds.min()), float(milliseconds.max())
    return entry


def _hand_over(environment: Any, index: int, done: dict[str, Engine]) -> None:
    """Write the samples where they are looked for, or send them there."""
    for phase, engine in done.items():
        meta = {"phase": phase, "index": index, "order": ORDER.digest, **vars(engine.seen)}
        columns = engine.taken.columns(engine.start_ns)
        samples.save(PATH.parent / f"{phase}-{index}.npz", columns, meta)
    runner = environment.runner
    if isinstance(runner, WorkerRunner):
        names = [f"{phase}-{index}.npz" for phase in done]
        content = {name: (PATH.parent / name).read_bytes() for name in names} if ORDER.by_message else {}
        runner.send_message(SAMPLES_MESSAGE, {"index": index, "order": ORDER.digest, "files": content})


def _end(environment: Any) -> None:
    """End a run without a person; in the web page only the load stops, and can be started again."""
    runner = environment.runner
    if isinstance(runner, LocalRunner):
        if _is_headless(environment):
            runner.quit()
        else:
            runner.stop()


def receive(environment: Any, runner: Any, **_: Any) -> None:
    """Let a master end the run when all workers have handed over."""
    if not isinstance(runner, MasterRunner):
        return
    came: set[int] = set()

    def take(environment: Any, msg: Any, **_: Any) -> None:
        for name, content in msg.data["files"].items():
            # What a worker calls its files is not to be trusted with a path.
            (PATH.parent / Path(name).name).write_bytes(content)
        came.add(msg.data["index"])
        if len(came) == ORDER.workers:
            came.clear()
            gevent.spawn(runner.quit if _is_headless(environment) else runner.stop)

    def pass_on(msg: Any, **_: Any) -> None:
        runner.send_message(SATURATION_MESSAGE, msg.data)

    runner.register_message(SAMPLES_MESSAGE, take)
    runner.register_message(SATURATION_MESSAGE, pass_on)


_init: Any = events.init
_init.add_listener(receive)
