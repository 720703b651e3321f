"""What every scheduler variant offers, and what it hands to the run."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from harness.cluster.base import Cluster, Scheduler


@dataclass(frozen=True)
class Installed:
    """A variant that has been proven active: its running schedulers by scheduler name, and how they were configured."""

    variant: str
    schedulers: Mapping[str, Scheduler]
    config: str


class SchedulerVariant(Protocol):
    """**Protocol**: a way to schedule."""

    @property
    def name(self) -> str:
        """Return the word that chooses it."""
        ...

    def install(self, cluster: Cluster) -> AbstractContextManager[Installed]:
        """Install it for as long as the context lasts; return only after proof that it is active.

        Raises:
            VariantError: it could not be proven, or the cluster lacks an ability it needs.
        """
        ...
