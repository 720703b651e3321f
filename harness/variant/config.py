"""Renders KubeSchedulerConfiguration: the one place, so that variants differ in what they test and in nothing else."""

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from harness.cluster.base import Cluster, HasScheduler, Program, RunsSchedulers, Scheduler, Workload
from harness.errors import ClusterError, SchedulerDied, VariantError
from harness.process import tail

DEFAULT_SCHEDULER = "default-scheduler"
_OURS = ("clientConnection", "leaderElection")
# kube-scheduler's last words, as Go quotes them.
_FAILED = re.compile(r'"command failed" err=("(?:[^"\\]|\\["\\nt])*")')
_NO_SETTINGS: Mapping[str, Any] = {}


def render(
    kubeconfig: Path, extenders: Sequence[Mapping[str, Any]] = (), settings: Mapping[str, Any] = _NO_SETTINGS
) -> str:
    """Return a configuration as YAML.

    Client limits are off for every variant: kube-scheduler's own 50 requests a second are what would be compared.
    One scheduler of a kind runs, so nobody is elected.

    Args:
        kubeconfig: who the scheduler is to the API server.
        extenders: the entries of its extenders.
        settings: a configuration (v1) that the user brought; what the harness has to decide itself is replaced.
    """
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig), "qps": -1, "burst": 0},
        "leaderElection": {"leaderElect": False},
        "profiles": [{"schedulerName": DEFAULT_SCHEDULER}],
        **{key: value for key, value in settings.items() if key not in _OURS and value},
    }
    if extenders:
        document["extenders"] = [dict(entry) for entry in extenders]
    return yaml.safe_dump(document, sort_keys=False)


def scheduler_names(config: str) -> list[str]:
    """Return the names by which pods can ask for the schedulers of a configuration."""
    return [profile.get("schedulerName", DEFAULT_SCHEDULER) for profile in yaml.safe_load(config)["profiles"]]


def runs_schedulers(cluster: Cluster, variant: str) -> RunsSchedulers:
    """Return a cluster as one that can run schedulers.

    Raises:
        VariantError: it cannot.
    """
    if not isinstance(cluster, RunsSchedulers):
        raise VariantError(f'cluster "{cluster.name}" cannot run a scheduler process; variant "{variant}" needs one')
    return cluster


@contextlib.contextmanager
def proven(
    cluster: RunsSchedulers, config: str, name: str, program: Program | None = None, workload: Workload | None = None
) -> Iterator[Scheduler]:
    """Run a scheduler that has been proven to live by its configuration.

    Raises:
        VariantError: it does not start, and says itself why, or it runs with something else.
    """
    with contextlib.ExitStack() as stack:
        try:
            scheduler = stack.enter_context(cluster.scheduler(config, name, program, workload))
        except ClusterError as error:
            # A stranger's that runs and answers nobody has said nothing: those are words of whoever ran before it.
            silent = program is not None and program.guarded and not isinstance(error, SchedulerDied)
            raise VariantError(
                f"{_refusal(name, str(error), silent=silent)}\nIts configuration:\n{config}\n{error}"
            ) from error
        if program is None or not program.guarded or _tells_configuration(scheduler):
            prove_live(scheduler, scheduler.config)
        yield scheduler


def _refusal(name: str, said: str, *, silent: bool) -> str:
    """Return why a scheduler does not start: in its own words, which stand behind all of its flags, if it had some."""
    if silent:
        return f"{name} does not start: {said.splitlines()[0]}"
    causes = _FAILED.findall(said)
    return f"{name} does not start: {json.loads(causes[-1])}" if causes else f"{name} does not start."


@contextlib.contextmanager
def stock(cluster: Cluster, variant: str) -> Iterator[Scheduler]:
    """Run the stock scheduler, proven to live by its configuration; a cluster that has one of its own needs no other.

    Raises:
        VariantError: it does not start, or the cluster can run none.
    """
    if isinstance(cluster, HasScheduler):
        yield cluster.own_scheduler
        return
    runner = runs_schedulers(cluster, variant)
    with proven(runner, render(runner.scheduler_kubeconfig), "kube-scheduler") as scheduler:
        yield scheduler


def _tells_configuration(scheduler: Scheduler) -> bool:
    """Tell whether a stranger's scheduler has the page that kube-scheduler tells its configuration on."""
    try:
        page = yaml.safe_load(scheduler.page("/configz"))
    except (ClusterError, yaml.YAMLError):
        return False
    # One that says the same at every path tells nothing.
    return isinstance(page, dict)


def prove_live(scheduler: Scheduler, config: str) -> None:
    """Compare what a scheduler says it runs with against what was rendered.

    Raises:
        VariantError: it does not answer, or runs with something else.
    """
    try:
        page = _lowered(yaml.safe_load(scheduler.page("/configz")))
    except ClusterError as error:
        raise VariantError(
            f"kube-scheduler does not tell its configuration: {error}. Last lines of its log:\n{tail(scheduler.log)}"
        ) from error
    live: dict[str, Any] = next(iter(page.values()), {})
    wanted = _lowered(yaml.safe_load(config))
    extenders = [entry["urlprefix"] for entry in wanted.get("extenders", ())]
    for what, expected, seen in (
        ("profiles", scheduler_names(config), [one.get("schedulername") for one in live.get("profiles") or ()]),
        ("extenders", extenders, [one.get("urlprefix") for one in live.get("extenders") or ()]),
    ):
        if seen != expected:
            raise VariantError(
                f"kube-scheduler runs the {what} {seen}, {expected} expected; the configuration did not reach it. "
                f"Last lines of its log:\n{tail(scheduler.log)}"
            )


def _lowered(value: Any) -> Any:
    """Return JSON with all keys in lower case: before 1.36 this page spells them as Go does."""
    if isinstance(value, dict):
        return {key.lower(): _lowered(part) for key, part in value.items()}
    return [_lowered(part) for part in value] if isinstance(value, list) else value
