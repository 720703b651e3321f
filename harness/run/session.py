"""Runs many scenarios on one cluster: brings it up when first needed, switches variants, empties it between runs."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from harness import progress
from harness.clock import SYSTEM
from harness.cluster.base import Cluster, ClusterSpec
from harness.cluster.registry import provider
from harness.errors import ApiError, ClusterError, CommandError, HarnessError, InputError
from harness.extender.spool import recover_all
from harness.run.brought import NOTHING, Brought
from harness.run.execute import Report, RunRequest, execute
from harness.scenario.model import Scenario
from harness.variant.base import NOTHING_BROUGHT, Installed, Setup
from harness.variant.registry import variant

# What a cluster that lost a part answers with: its own check, its API server, or a command inside of it.
BROKEN = (ClusterError, CommandError, ApiError)


@dataclass
class Session:
    """One cluster and at most one installed variant at a time. A context manager: it ends what it started."""

    provider: str
    spec: ClusterSpec
    runs_folder: Path
    command: Sequence[str] = ()
    brought: Brought = NOTHING
    _cluster: Cluster | None = None
    _installed: Installed | None = None
    _setup: Setup = NOTHING_BROUGHT
    _dirty: bool = False
    _failure: HarnessError | None = None
    _cluster_stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _variant_stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __enter__(self) -> Self:
        # What a run of this folder left that was killed has everybody's secrets in it.
        recover_all(self.runs_folder, progress.note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end_cluster()

    @property
    def cluster(self) -> Cluster:
        """Return the cluster, brought up when first asked for.

        Raises:
            HarnessError: there is none; it is not tried again for everybody who asks, for that may take minutes.
        """
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        if self._cluster is None:
            try:
                self._cluster = self._cluster_stack.enter_context(provider(self.provider).cluster(self.spec))
            except HarnessError as error:
                self._failure = error
                raise
        return self._cluster

    def install(self, name: str, scenario: Scenario | None = None, seed: int = 0) -> Installed:
        """Return the named variant, active, with what the scenario or the user brought for it.

        Another one that was there is removed first.
        """
        self._leave_broken_cluster()
        setup = self.brought.setup(name, scenario, seed)
        if self._installed is None or not self._fits(self._installed, name, setup):
            wanted = variant(name)
            if self._cluster is None:
                from harness.variant.ahead import check_ahead  # noqa: PLC0415 - knows every variant, slow to load

                check_ahead(name, setup, self.provider)
            self.uninstall()
            self._installed = self._variant_stack.enter_context(wanted.install(self.cluster, setup))
            self._setup = setup
        return self._installed

    def uninstall(self) -> None:
        """Remove the variant that is installed, if one is."""
        self._installed = None
        self._variant_stack.close()

    def _fits(self, there: Installed, name: str, setup: Setup) -> bool:
        asked_for = (there.variant, self._setup) == (name, setup)
        return asked_for and (there.traffic is None or there.traffic.intact)

    def empty(self) -> None:
        """Leave the cluster as it was when new, or leave it for a new one where that was chosen."""
        if self.spec.fresh and self._dirty:
            self._end_cluster()
        self._leave_broken_cluster()
        if self._dirty:
            try:
                self.cluster.reset()
                self._dirty = False
            except BROKEN as error:
                progress.note(f"the cluster could not be emptied and is replaced by a new one: {error}")
                self._end_cluster()

    def touch(self) -> None:
        """Note that somebody changes the cluster, so that the next user gets it emptied."""
        self._dirty = True

    def run(self, scenario: Scenario, variant_name: str, *, seed: int = 0, report: Report = lambda _: None) -> Path:
        """Carry out a scenario with a variant on the emptied cluster; return the path of its record."""
        if not scenario.is_for(variant_name):
            declared = ", ".join(scenario.variants or ("extender",))
            raise InputError(f'{scenario.path}: variant "{variant_name}": the scenario is declared for {declared} only')
        if not scenario.runs_on(self.provider):
            only = ", ".join(scenario.clusters or ())
            raise InputError(f'{scenario.path}: cluster "{self.provider}": the scenario is declared for {only} only')
        scenario = scenario.on_cluster(self.provider)
        start = SYSTEM.now()
        self.empty()
        installed = self.install(variant_name, scenario, seed)
        ready_seconds = SYSTEM.now() - start
        self.touch()
        request = RunRequest(scenario, seed, self.runs_folder, self.provider, self.command, round(ready_seconds, 6))
        return execute(request, self.cluster, installed, report)

    def _leave_broken_cluster(self) -> None:
        """Give up a cluster that lost a part: it is not repaired, and who comes next gets a new one."""
        if self._cluster is None:
            return
        try:
            self._cluster.check()
        except BROKEN:
            self._end_cluster()

    def _end_cluster(self) -> None:
        self._cluster, self._installed, self._dirty = None, None, False
        try:
            self._variant_stack.close()
        finally:
            self._cluster_stack.close()
