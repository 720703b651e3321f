"""Carries out the steps that are about extenders: faults, death and return, and waiting for what comes of them."""

from harness.errors import StepError
from harness.extender.traffic import Traffic
from harness.observe.live import Live
from harness.run.settle import Until
from harness.run.steps import Detail, Stage, carry_out
from harness.scenario import faults, selector, steps


@carry_out.register
def _(step: faults.Fault, stage: Stage) -> Detail:
    return {"extenders": _traffic(stage).inject(step), "kind": step.kind}


@carry_out.register
def _(step: faults.ClearFaults, stage: Stage) -> Detail:
    return {"extenders": _traffic(stage).clear(step.extender)}


@carry_out.register
def _(step: faults.StopExtender, stage: Stage) -> Detail:
    return {"extenders": _traffic(stage).stop(step.extender, step.how)}


@carry_out.register
def _(step: faults.StartExtender, stage: Stage) -> Detail:
    return {"extenders": _traffic(stage).start(step.extender)}


@carry_out.register
def _(step: steps.Await, stage: Stage) -> Detail:
    until = _calls_missing(step, stage) if step.calls is not None else _pods_missing(step)
    settled = stage.settle(stage.deadline_seconds(step.timeout_seconds), until)
    return {"seconds": settled.seconds, "moving": list(settled.moving)}


def _pods_missing(step: steps.Await) -> Until:
    wanted = selector.parse(step.selector)
    state, count = ("bound", step.bound) if step.bound is not None else ("running", step.running or 0)

    def missing(live: Live) -> str | None:
        pods = [pod for pod in live.pods() if pod["namespace"] == step.namespace and wanted.matches(pod["labels"])]
        seen = sum(1 for pod in pods if (pod["node"] if state == "bound" else pod["phase"] == "Running"))
        return None if seen >= count else f"{seen} of {len(pods)} pods are {state}, {count} awaited"

    return missing


def _calls_missing(step: steps.Await, stage: Stage) -> Until:
    traffic, count = _traffic(stage), step.calls or 0

    def missing(live: Live) -> str | None:
        seen = traffic.calls_seen(step.verb)
        return None if seen >= count else f"{seen} calls of {step.verb or 'any kind'} seen, {count} awaited"

    return missing


def _traffic(stage: Stage) -> Traffic:
    if stage.traffic is None:
        raise StepError("no extender is installed; the step is for variants that have one")
    return stage.traffic
