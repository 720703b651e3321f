"""One run: a scenario, step by step, with everything seen written down as it happens."""

import contextlib
import datetime
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import progress
from harness.clock import SYSTEM, WaitTimeoutError, unix_ns, wait_until
from harness.cluster.base import Borrowed, Cluster, HasScheduler, PlaysNodes, RunsImages, Scheduler, told
from harness.errors import ApiError, HarnessError, NodeDied, RunError, SchedulerDied, StepError
from harness.extender.cassette.command import without_logins
from harness.observe.watching import Observation, observing
from harness.record.write import RecordWriter, new_id
from harness.run import cost, keep, machine
from harness.run import extender_steps as _registered  # noqa: F401 - its steps are known once it is imported
from harness.run.asking import unserved
from harness.run.settle import Settled, Settler, Until
from harness.run.steps import Stage, carry_out
from harness.scenario.load import line_of_step
from harness.scenario.model import Scenario
from harness.scenario.nodes import expand
from harness.scenario.steps import Settle
from harness.variant.base import Installed
from harness.variant.config import DEFAULT_SCHEDULER

Report = Callable[[str], None]
CHECK_SECONDS = 0.25
CATCH_UP_SECONDS = 1.0
BLAME_SECONDS = 1.0


@dataclass(frozen=True)
class RunRequest:
    """One run that was asked for."""

    scenario: Scenario
    seed: int
    runs_folder: Path
    cluster_provider: str
    command: Sequence[str] = ()
    ready_seconds: float | None = None


def execute(request: RunRequest, cluster: Cluster, installed: Installed, report: Report = lambda _: None) -> Path:
    """Carry out a scenario and return the path of its record.

    The cluster must be empty. A run that fails midway leaves a record too, marked as failed.

    Raises:
        HarnessError: a step could not be carried out, or the cluster lost a part.
    """
    started_at = datetime.datetime.now(datetime.UTC)
    run_id = new_id(request.scenario.name, request.scenario.size, installed.variant, started_at.astimezone())
    writer = RecordWriter.create(request.runs_folder, run_id, _meta(request, cluster, installed, started_at))
    run = _Run(request.scenario, cluster, installed, writer, report)
    error: HarnessError | None = None
    try:
        run.carry_out(request.seed)
    except HarnessError as caught:
        error = caught
        caught.record = writer.path
        caught.add_note(f"What was seen until then: {writer.path}")
        raise
    except BaseException as caught:
        error = RunError(f"interrupted: {type(caught).__name__}")
        raise
    finally:
        writer.finish(run.outcome(error))
    return writer.path


class _Run:
    """A run that is going on."""

    def __init__(
        self, scenario: Scenario, cluster: Cluster, installed: Installed, writer: RecordWriter, report: Report
    ) -> None:
        self._scenario = scenario
        self._cluster = cluster
        self._installed = installed
        self._writer = writer
        self._report = report
        self._start = SYSTEM.now()
        self._began_unix_ns = unix_ns()
        self._observed_seconds: float | None = None
        self._unsettled: tuple[str, ...] = ()
        self._deaths: list[str] = []
        self._node_deaths: list[str] = []
        self._cpu_seconds: dict[str, float] = {}
        self._warnings: list[str] = []

    def carry_out(self, seed: int) -> None:
        """Do everything the scenario says, and write down everything that is seen."""
        keep.inputs(self._writer, self._scenario, self._installed)
        self._warn_of_names()
        if isinstance(self._cluster, Borrowed):
            self._cluster.expect([node.name for node in self._scenario.declared_nodes])
        with keep.logs(self._cluster, self._installed, self._writer), self._traffic(seed):
            self._warnings += keep.metrics(self._writer, "metrics-before.txt", self._installed)
            used_before = cost.cpu_seconds(self._installed)
            with observing(self._cluster, self._writer, self._start, self._installed.schedulers) as observation:
                try:
                    self._act(observation, seed)
                except SchedulerDied as death:
                    # No trouble with the cluster but a result: what the scheduler was given to digest killed it.
                    self._deaths.append(f"{self._last_panic()}{death}")
                except NodeDied as death:
                    self._node_deaths.append(str(death))
                if self._deaths or self._node_deaths:
                    # Nobody settled: what was created just before is still on its way to us.
                    SYSTEM.pause(CATCH_UP_SECONDS)
                self._observed_seconds = self._now()
            self._cpu_seconds = cost.since(used_before, cost.cpu_seconds(self._installed))
            self._warnings += keep.metrics(self._writer, "metrics-after.txt", self._installed)
            self._warnings += keep.trace(self._writer, self._cluster, self._installed, self._began_unix_ns)

    def _warn_of_names(self) -> None:
        """Tell at once what would otherwise show when pods have waited for nobody until the deadline."""
        own = (DEFAULT_SCHEDULER,) if isinstance(self._cluster, HasScheduler) else ()
        for text in unserved(self._scenario, dict.fromkeys((*self._installed.schedulers, *own))):
            progress.note(f"{self._scenario.name}: {text}")
            self._warnings.append(text)

    def _last_panic(self) -> str:
        """Return what a Go program said when it panicked; the end of its log is only the stack."""
        said = [
            line.strip()
            for scheduler in self._installed.schedulers.values()
            for line in scheduler.log.read_text(errors="replace").splitlines()
            if line.startswith("panic: ")
        ]
        return f"{said[-1]}; " if said else ""

    @contextlib.contextmanager
    def _traffic(self, seed: int) -> Iterator[None]:
        traffic = self._installed.traffic
        if traffic is None:
            yield
            return
        facts = {"scenario": self._scenario.name, "kubernetes": str(self._cluster.versions.get("kubernetes", ""))}
        warnings: list[str] = []
        try:
            with traffic.recorded(self._writer, self._start, seed, facts, self._told) as warnings:
                yield
        finally:
            self._warnings += warnings

    def outcome(self, error: HarnessError | None) -> dict[str, Any]:
        """Return what only the end of a run can tell."""
        return {
            "status": "failed" if error else "finished",
            "error": self._told(str(error)) if error else None,
            "duration_seconds": self._now(),
            "observed_seconds": self._observed_seconds,
            "settled": not (self._unsettled or self._deaths or self._node_deaths or error),
            "unsettled": [*map(self._told, self._unsettled)],
            "deaths": [*map(self._told, self._deaths)],
            "node_deaths": self._node_deaths,
            "cpu_seconds": self._cpu_seconds,
            "warnings": [*map(self._told, (*self._installed.notes, *self._warnings))],
        }

    def _told(self, text: str) -> str:
        return without_logins(told(self._cluster, text))

    def _now(self) -> float:
        return round(SYSTEM.now() - self._start, 6)

    def _act(self, observation: Observation, seed: int) -> None:
        traffic = self._installed.traffic

        def check() -> None:
            if traffic:
                traffic.watch()
            self._cluster.check()
            try:
                observation.check()
            except HarnessError:
                self._blame_a_dead_part()
                raise

        settler = Settler(
            observation.live,
            self._asked(),
            check,
            busy=traffic.busy if traffic else list,
            closed=not isinstance(self._cluster, RunsImages | Borrowed),
        )

        def settle(timeout_seconds: float, until: Until | None = None) -> Settled:
            settled = settler.wait(timeout_seconds, until) if until else settler.settle(timeout_seconds)
            self._unsettled = settled.moving
            return settled

        self._add_nodes()
        choices = random.Random(seed)  # noqa: S311 - repeatable on purpose
        stage = Stage(
            self._scenario, self._cluster, observation.live, settle, choices, traffic, self._installed.asks_for
        )
        for index, step in enumerate(_with_final_settle(self._scenario.steps)):
            self._report(f"{self._scenario.name}[{self._scenario.size}]: step {index + 1}, {step.op}")
            self._step(step, index, stage)
            if self._unsettled:
                # What comes next was written for a settled cluster; the judge tells what did not settle and why.
                self._warnings.append(f"stopped at step {index + 1} ({step.op}): it did not settle")
                return
        end = SYSTEM.now() + self._scenario.observe_seconds
        while (left := end - SYSTEM.now()) > 0:
            check()
            observation.live.wait_for_change(min(left, CHECK_SECONDS))

    def _asked(self) -> list[Scheduler]:
        """Return the schedulers that can be asked for their queues: one that a cluster runs itself has no page here."""
        own = self._cluster.own_scheduler if isinstance(self._cluster, HasScheduler) else None
        return [scheduler for scheduler in self._installed.schedulers.values() if scheduler is not own]

    def _blame_a_dead_part(self) -> None:
        """Raise for the part that died, if one did: that tells more than which watch broke with it."""
        with contextlib.suppress(WaitTimeoutError):
            wait_until(self._cluster.check, what="a part being missed", timeout_seconds=BLAME_SECONDS)

    def _step(self, step: Any, index: int, stage: Stage) -> None:
        def mark(phase: str, detail: Mapping[str, Any]) -> None:
            line = {"t": self._now(), "index": index, "op": step.op, "phase": phase, "detail": detail}
            self._writer.append("steps", line)

        mark("start", {})
        try:
            detail = carry_out(step, stage)
        except (ApiError, StepError) as error:
            mark("error", {"message": str(error)})
            raise StepError(f"{self._place(step, index)}: {error}") from error
        except HarnessError as error:
            mark("error", {"message": str(error)})
            error.add_note(f"in {self._place(step, index)}")
            raise
        mark("end", detail)

    def _place(self, step: Any, index: int) -> str:
        line = line_of_step(self._scenario.path, index)
        return f"{self._scenario.path}{f':{line}' if line else ''}: step {index + 1} ({step.op})"

    def _add_nodes(self) -> None:
        if not self._scenario.nodes:
            return
        if not isinstance(self._cluster, PlaysNodes):
            where = f"{self._scenario.path}: nodes"
            raise StepError(f'{where}: the scenario declares nodes, but cluster "{self._cluster.name}" has real ones')
        self._warnings += self._cluster.add_nodes(expand(self._scenario.nodes))


def _with_final_settle(steps: Sequence[Any]) -> list[Any]:
    return list(steps) if isinstance(steps[-1], Settle) else [*steps, Settle()]


def _meta(request: RunRequest, cluster: Cluster, installed: Installed, started_at: datetime.datetime) -> dict[str, Any]:
    return {
        "scenario": request.scenario.name,
        "size": request.scenario.size,
        "variant": installed.variant,
        "cluster": request.cluster_provider,
        **({"context": cluster.context} if isinstance(cluster, Borrowed) else {}),
        "seed": request.seed,
        "parameters": request.scenario.parameters,
        "started_at": started_at.isoformat(),
        "ready_seconds": request.ready_seconds,
        "versions": {**cluster.versions, **machine.versions()},
        "machine": {**machine.fingerprint(), "load_at_start": machine.load_now()},
        "command": keep.command(request.command),
        "schedulers": keep.schedulers(cluster, installed),
    }
