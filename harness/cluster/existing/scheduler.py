"""The schedulers of a shared cluster: its own, of which little can be seen, and ours, under names of their own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from harness.certificates import Identity
from harness.cluster.base import Program
from harness.cluster.existing.names import DEFAULT_SCHEDULER, Names
from harness.errors import ClusterError

CONFIG = f"""\
# The cluster's own scheduler: its configuration is not told.
profiles:
- schedulerName: {DEFAULT_SCHEDULER}
"""


@dataclass(frozen=True)
class OwnScheduler:
    """The scheduler that the cluster runs. Nobody here started it, and its pages are for the cluster's own eyes."""

    log: Path
    config: str = CONFIG

    def cpu_seconds(self) -> float | None:
        """Tell nothing: it runs elsewhere."""
        return None

    def page(self, path: str) -> str:
        """Refuse: its server is inside the cluster.

        Raises:
            ClusterError: always.
        """
        raise ClusterError(f"{path}: the cluster's own scheduler is not reached from here")


def renamed(config: str, names: Names) -> tuple[str, Mapping[str, str]]:
    """Return a configuration whose profiles have names of the run's, and those names by the scenario's."""
    document = yaml.safe_load(config)
    profiles = [
        {**profile, "schedulerName": names.scheduler(profile.get("schedulerName", DEFAULT_SCHEDULER))}
        for profile in document["profiles"]
    ]
    before = [profile.get("schedulerName", DEFAULT_SCHEDULER) for profile in document["profiles"]]
    mapping = dict(zip(before, (profile["schedulerName"] for profile in profiles), strict=True))
    return yaml.safe_dump({**document, "profiles": profiles}, sort_keys=False), mapping


def told_names(program: Program | None, mapping: Mapping[str, str]) -> Program | None:
    """Return a program that is told the run's names where it would be told the scenario's."""
    if program is None:
        return None
    env = {key: mapping.get(value, value) for key, value in program.env.items()}
    return replace(program, command=tuple(mapping.get(word, word) for word in program.command), env=env)


def flags(authority: Path, config: Path, port: int, server: Identity) -> list[str]:
    """Return kube-scheduler's flags for where the user's rights may not be enough to ask who reads its pages.

    It asks the cluster nothing about that: an authority of our own vouches for the reader, whose group is one that
    kube-scheduler never asks about.
    """
    return [
        f"--config={config}",
        "--authentication-skip-lookup=true",
        f"--client-ca-file={authority}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--tls-cert-file={server.certificate}",
        f"--tls-private-key-file={server.key}",
        "--v=2",
    ]


def kwok_flags(kubeconfig: Path, stages: Path, names: Names) -> Iterator[str]:
    """Yield kwok's flags: it plays the nodes of the run, and no others."""
    yield f"--kubeconfig={kubeconfig}"
    yield f"--config={stages}"
    yield "--manage-all-nodes=false"
    yield f"--manage-nodes-with-label-selector={names.selector}"
    yield "--node-lease-duration-seconds=40"
    yield "--v=WARN"
    yield "--server-address="
    yield "--node-port=0"
