"""One run: a scenario, step by step, with everything seen written down as it happens."""

import contextlib
import datetime
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.clock import SYSTEM
from harness.cluster.base import Cluster, KeepsLogs, PlaysNodes
from harness.errors import ApiError, ClusterError, HarnessError, RunError, StepError
from harness.observe.watching import Observation, observing
from harness.record.write import RecordWriter, new_id
from harness.run import machine
from harness.run.settle import Settled, Settler
from harness.run.steps import Stage, carry_out
from harness.scenario.model import Scenario
from harness.scenario.nodes import expand
from harness.scenario.steps import Settle
from harness.variant.base import Installed

Report = Callable[[str], None]


@dataclass(frozen=True)
class RunRequest:
    """One run that was asked for."""

    scenario: Scenario
    seed: int
    runs_folder: Path
    cluster_provider: str
    command: Sequence[str] = ()
    ready_seconds: float | None = None


@dataclass
class _Outcome:
    """What is learnt while the run goes on and ends up in run.json."""

    unsettled: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def execute(request: RunRequest, cluster: Cluster, installed: Installed, report: Report = lambda _: None) -> Path:
    """Carry out a scenario and return the path of its record.

    The cluster must be empty. A run that fails midway leaves a record too, marked as failed.

    Raises:
        HarnessError: a step could not be carried out, or the cluster lost a part.
    """
    scenario = request.scenario
    started_at = datetime.datetime.now(datetime.UTC)
    start = SYSTEM.now()
    outcome = _Outcome()
    run_id = new_id(scenario.name, scenario.size, installed.variant, started_at.astimezone())
    writer = RecordWriter.create(request.runs_folder, run_id, _meta(request, cluster, installed, started_at))
    error: HarnessError | None = None
    try:
        with _keeping_logs(cluster, writer):
            _write_inputs(writer, scenario, installed)
            with observing(cluster.kube, writer, start, installed.schedulers) as observation:
                _act(request, cluster, installed, writer, observation, outcome, start, report)
    except HarnessError as caught:
        error = caught
        caught.add_note(f"What was seen until then: {writer.path}")
        raise
    except BaseException as caught:
        error = RunError(f"interrupted: {type(caught).__name__}")
        raise
    finally:
        writer.finish(
            {
                "status": "failed" if error else "finished",
                "error": str(error) if error else None,
                "duration_seconds": round(SYSTEM.now() - start, 6),
                "settled": not outcome.unsettled and error is None,
                "unsettled": outcome.unsettled,
                "warnings": outcome.warnings,
            }
        )
    return writer.path


def _act(
    request: RunRequest,
    cluster: Cluster,
    installed: Installed,
    writer: RecordWriter,
    observation: Observation,
    outcome: _Outcome,
    start: float,
    report: Report,
) -> None:
    scenario = request.scenario

    def check() -> None:
        cluster.check()
        observation.check()

    settler = Settler(observation.live, list(installed.schedulers.values()), check)

    def settle(timeout_seconds: float) -> Settled:
        settled = settler.settle(timeout_seconds)
        outcome.unsettled[:] = settled.moving
        return settled

    _write_metrics(writer, "metrics-before.txt", installed, outcome)
    if scenario.nodes:
        _add_nodes(cluster, scenario)
    stage = Stage(scenario, cluster, observation.live, settle, random.Random(request.seed))
    for index, step in enumerate(_with_final_settle(scenario.steps)):
        report(f"step {index + 1}: {step.op}")
        _carry_out(step, index, stage, writer, start)
        if outcome.unsettled:
            # What comes next was written for a settled cluster; the judge tells what did not settle and why.
            outcome.warnings.append(f"stopped at step {index + 1} ({step.op}): it did not settle")
            break
    if scenario.observe_seconds and not outcome.unsettled:
        _keep_observing(scenario.observe_seconds, observation, check)
    _write_metrics(writer, "metrics-after.txt", installed, outcome)


def _carry_out(step: Any, index: int, stage: Stage, writer: RecordWriter, start: float) -> None:
    def mark(phase: str, detail: Mapping[str, Any]) -> None:
        t = round(SYSTEM.now() - start, 6)
        writer.append("steps", {"t": t, "index": index, "op": step.op, "phase": phase, "detail": detail})

    where = f"{stage.scenario.path}: step {index + 1} ({step.op})"
    mark("start", {})
    try:
        detail = carry_out(step, stage)
    except (ApiError, StepError) as error:
        mark("error", {"message": str(error)})
        raise StepError(f"{where}: {error}") from error
    except HarnessError as error:
        mark("error", {"message": str(error)})
        error.add_note(f"in {where}")
        raise
    mark("end", detail)


def _with_final_settle(steps: Sequence[Any]) -> list[Any]:
    return list(steps) if isinstance(steps[-1], Settle) else [*steps, Settle()]


def _keep_observing(seconds: float, observation: Observation, check: Callable[[], None]) -> None:
    end = SYSTEM.now() + seconds
    while (left := end - SYSTEM.now()) > 0:
        check()
        observation.live.wait_for_change(min(left, 0.25))


def _add_nodes(cluster: Cluster, scenario: Scenario) -> None:
    if not isinstance(cluster, PlaysNodes):
        raise StepError(f'{scenario.path}: it declares nodes, but cluster "{cluster.name}" has real ones')
    cluster.add_nodes(expand(scenario.nodes))


def _meta(request: RunRequest, cluster: Cluster, installed: Installed, started_at: datetime.datetime) -> dict[str, Any]:
    return {
        "scenario": request.scenario.name,
        "size": request.scenario.size,
        "variant": installed.variant,
        "cluster": request.cluster_provider,
        "seed": request.seed,
        "parameters": request.scenario.parameters,
        "started_at": started_at.isoformat(),
        "ready_seconds": request.ready_seconds,
        "versions": {**cluster.versions, **machine.versions()},
        "machine": {**machine.fingerprint(), "load_at_start": machine.load_now()},
        "command": list(request.command),
    }


def _write_inputs(writer: RecordWriter, scenario: Scenario, installed: Installed) -> None:
    writer.write_text("inputs/scenario.yaml", scenario.source)
    for name, text in scenario.manifests.items():
        writer.write_text(f"inputs/{name.replace('../', '')}", text)
    writer.write_json("inputs/scenario.json", scenario.to_json())
    writer.write_text("scheduler-config.yaml", installed.config)


def _write_metrics(writer: RecordWriter, name: str, installed: Installed, outcome: _Outcome) -> None:
    pages = []
    for scheduler_name, scheduler in installed.schedulers.items():
        try:
            pages.append(f"# scheduler: {scheduler_name}\n{scheduler.page('/metrics')}")
        except ClusterError as error:
            outcome.warnings.append(f"{name}: no metrics of {scheduler_name}: {error}")
    writer.write_text(name, "\n".join(pages))


@contextlib.contextmanager
def _keeping_logs(cluster: Cluster, writer: RecordWriter) -> Iterator[None]:
    """Copy what each part logged during this run, also when it failed."""
    if not isinstance(cluster, KeepsLogs):
        yield
        return
    begin = {name: path.stat().st_size for name, path in cluster.logs.items()}
    try:
        yield
    finally:
        for name, path in cluster.logs.items():
            with path.open("rb") as stream:
                stream.seek(begin.get(name, 0))
                writer.write_text(f"logs/{name}.log", stream.read().decode(errors="replace"))
