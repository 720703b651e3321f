"""What every scheduler variant offers, and what it hands to the run."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from harness.cluster.base import Cluster, Scheduler
from harness.extender.traffic import Traffic
from harness.scenario.extenders import ExtenderSpec, PluginSpec


@dataclass(frozen=True)
class SchedulerConfig:
    """A configuration that the user brought, and where it came from: files it names lie beside it."""

    text: str
    where: str


@dataclass(frozen=True)
class Setup:
    """What the user or the scenario brought for a variant to install."""

    extenders: tuple[ExtenderSpec, ...] = ()
    scheduler_config: SchedulerConfig | None = None
    manifest: SchedulerConfig | None = None
    scheduler: str | None = None
    plugins: tuple[PluginSpec, ...] = ()
    controller: str | None = None
    controller_seed: int = 0
    tap: bool = True
    trace: bool = True
    seed: int = field(default=0, compare=False)
    """What random extenders draw with at first; a run with another seed restarts them, which is no other set-up."""


NOTHING_BROUGHT = Setup()


@dataclass(frozen=True)
class Installed:
    """A variant that has been proven active: its running schedulers by scheduler name, and how they were configured.

    `traffic` has the extenders behind the schedulers. `notes` is what the user should know about the installation.
    `asks_for` is the schedulerName that pods get which do not ask for a scheduler themselves. `trace` is where a
    scheduler writes what its plugins do, `plugins` those that were compiled into it.
    """

    variant: str
    schedulers: Mapping[str, Scheduler]
    config: str
    traffic: Traffic | None = None
    notes: tuple[str, ...] = ()
    asks_for: str | None = None
    trace: Path | None = None
    plugins: tuple[str, ...] = ()


def by_process(installed: Installed) -> dict[str, Scheduler]:
    """Return every scheduler process once; one with several profiles goes by all of its names."""
    names: dict[int, list[str]] = {}
    for name, scheduler in installed.schedulers.items():
        names.setdefault(id(scheduler), []).append(name)
    processes = {id(scheduler): scheduler for scheduler in installed.schedulers.values()}
    return {", ".join(names[key]): scheduler for key, scheduler in processes.items()}


class SchedulerVariant(Protocol):
    """**Protocol**: a way to schedule."""

    @property
    def name(self) -> str:
        """Return the word that chooses it."""
        ...

    def install(self, cluster: Cluster, setup: Setup = NOTHING_BROUGHT) -> AbstractContextManager[Installed]:
        """Install it for as long as the context lasts; return only after proof that it is active.

        Raises:
            VariantError: it could not be proven, or the cluster lacks an ability it needs.
        """
        ...
