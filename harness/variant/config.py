"""Renders KubeSchedulerConfiguration: the one place, so that variants differ in what they test and in nothing else."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from harness.cluster.base import Scheduler
from harness.errors import ClusterError, VariantError

DEFAULT_SCHEDULER = "default-scheduler"


def render(kubeconfig: Path, profiles: Sequence[dict[str, Any]] = ({"schedulerName": DEFAULT_SCHEDULER},)) -> str:
    """Return a configuration as YAML.

    Client limits are off for every variant: kube-scheduler's own 50 requests a second are what would be compared.
    One scheduler of a kind runs, so nobody is elected.
    """
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig), "qps": -1, "burst": 0},
        "leaderElection": {"leaderElect": False},
        "profiles": list(profiles),
    }
    return yaml.safe_dump(document, sort_keys=False)


def prove_live(scheduler: Scheduler, config: str) -> None:
    """Compare what a scheduler says it runs with against what was rendered.

    Raises:
        VariantError: it does not answer, or runs with something else.
    """
    wanted = yaml.safe_load(config)
    try:
        page = _lowered(yaml.safe_load(scheduler.page("/configz")))
    except ClusterError as error:
        raise VariantError(
            f"kube-scheduler does not tell its configuration: {error}. Its log: {scheduler.log}"
        ) from error
    live: dict[str, Any] = next(iter(page.values()), {})
    expected = [profile["schedulerName"] for profile in wanted["profiles"]]
    seen = [profile.get("schedulername") for profile in live.get("profiles", ())]
    if seen != expected:
        raise VariantError(
            f"kube-scheduler runs the profiles {seen}, {expected} expected; the configuration did not reach it. "
            f"Its log: {scheduler.log}"
        )


def _lowered(value: Any) -> Any:
    """Return JSON with all keys in lower case: before 1.36 this page spells them as Go does."""
    if isinstance(value, dict):
        return {key.lower(): _lowered(part) for key, part in value.items()}
    return [_lowered(part) for part in value] if isinstance(value, list) else value
