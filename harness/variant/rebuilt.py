"""kube-scheduler built from changed sources of Kubernetes, in place of the stock one."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from harness.cluster.base import Cluster
from harness.cluster.embedded.releases import nearest
from harness.errors import InputError
from harness.paths import shipped
from harness.plugin.build import scheduler_for
from harness.variant.base import NOTHING_BROUGHT, Installed, Setup
from harness.variant.config import proven, render, runs_schedulers, scheduler_names
from harness.variant.extender import settings_of
from harness.variant.framework_plugin import trace_of, traced

FORM = "source:FOLDER"


class RebuiltSchedulerVariant:
    """The first of the four ways: change the source, and build it."""

    name = "rebuilt-scheduler"

    @contextlib.contextmanager
    def install(self, cluster: Cluster, setup: Setup = NOTHING_BROUGHT) -> Iterator[Installed]:
        """Build the changed scheduler if it was not built before, and run it."""
        runner = runs_schedulers(cluster, self.name)
        folder = changes_of(setup.scheduler)
        built = scheduler_for([], nearest(cluster.versions["kubernetes"]), changes=Path(folder))
        settings, notes = settings_of(setup.scheduler_config)
        config = render(runner.scheduler_kubeconfig, settings=settings)
        trace = trace_of(cluster, setup)
        with proven(runner, config, "kube-scheduler", traced(built, trace)) as scheduler:
            schedulers = dict.fromkeys(scheduler_names(config), scheduler)
            told = (*notes, f"kube-scheduler is built with the changes of {folder}")
            yield Installed(self.name, schedulers, scheduler.config, notes=told, trace=trace)


def changes_of(text: str | None) -> str:
    """Return the folder of the changed sources that `--scheduler` names; the shipped one unless told.

    Raises:
        InputError: it names none.
    """
    if text is None:
        return str(shipped("plugins") / "rebuilt")
    kind, _, folder = text.partition(":")
    if kind != "source" or not folder:
        raise InputError(f"--scheduler {text}: {FORM} expected, a folder laid out as the sources of Kubernetes")
    return folder
