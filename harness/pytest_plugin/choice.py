"""The cluster that pytest's options choose: our own ones and those of pytest-kind."""

from pathlib import Path
from typing import Any

import pytest

from harness.cluster.base import ClusterSpec, ExistingSpec, KindSpec
from harness.scenario.model import Scenario

# pytest-kind's own default: it says nothing, and two workers must not share a cluster by it.
UNNAMED = "pytest-kind"


def cluster_spec(session: pytest.Session) -> ClusterSpec:
    """Return what the options and the collected scenarios ask of a cluster."""
    config = session.config

    def option(name: str) -> Any:
        # pytest-kind's options are missing when its plugin is switched off.
        return config.getoption(name, default=None)

    def path(name: str) -> Path | None:
        value = option(name)
        return Path(value) if value else None

    worker = _worker(config)
    name = option("--cluster-name")
    kubeconfig = path("--kubeconfig")
    if kubeconfig and option("--sched-cluster") == "kind":
        # There it is written, one by each worker; elsewhere it is read.
        kubeconfig = kubeconfig.with_name(f"{kubeconfig.name}{worker}")
    kind = KindSpec(
        image=option("--kind-image"),
        program=path("--kind-bin"),
        config=path("--kind-config"),
        workers=option("--sched-workers"),
        keep=bool(option("--keep-cluster")),
    )
    existing = ExistingSpec(
        context=option("--context"),
        allow_cluster_wide=bool(option("--allow-cluster-wide")),
        kwok_nodes=bool(option("--kwok-nodes")),
        confirmed=bool(option("--yes")),
    )
    return ClusterSpec(
        kubernetes=option("--sched-kubernetes"),
        binaries=path("--sched-controlplane-bin"),
        name=None if name in (None, UNNAMED) else f"{name}{worker}",
        nodes=max(map(_node_count, session.items), default=0),
        kubeconfig=kubeconfig,
        fresh=bool(option("--sched-fresh")),
        kind=kind,
        existing=existing,
    )


def _worker(config: pytest.Config) -> str:
    """Return what tells this worker of pytest-xdist from the others: each has a cluster of its own."""
    worker = getattr(config, "workerinput", {}).get("workerid")
    return f"-{worker}" if worker else ""


def _node_count(item: pytest.Item) -> int:
    """Return how many nodes a test's scenario declares, as far as that is known before it runs."""
    call = getattr(item, "callspec", None)
    scenario = call.params.get("scenario_run") if call else None
    return scenario.node_count if isinstance(scenario, Scenario) else 0
