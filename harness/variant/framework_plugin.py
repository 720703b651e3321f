"""kube-scheduler with plugins compiled in, and with a trace of what every plugin does."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.cluster.base import Cluster, Program
from harness.cluster.embedded.releases import nearest
from harness.extender.traffic import Traffic
from harness.paths import shipped
from harness.plugin.build import plugin_names, scheduler_for
from harness.plugin.source import PluginSource
from harness.plugin.trace import VARIABLE
from harness.scenario.extenders import SAMPLE, PluginSpec
from harness.variant.base import NOTHING_BROUGHT, Installed, Setup
from harness.variant.config import DEFAULT_SCHEDULER, proven, render, runs_schedulers, scheduler_names
from harness.variant.extender import connected_all, seen_by_scheduler, settings_of, told

TRACE = "trace.jsonl"


class FrameworkPluginVariant:
    """A scheduler that is built here, from the sources of Kubernetes and those of plugins."""

    name = "framework-plugin"

    @contextlib.contextmanager
    def install(self, cluster: Cluster, setup: Setup = NOTHING_BROUGHT) -> Iterator[Installed]:
        """Build the scheduler if these sources were not built before, and run it in place of the stock one."""
        runner = runs_schedulers(cluster, self.name)
        plugins = setup.plugins or (PluginSpec(),)
        sources = sources_of(plugins)
        built = scheduler_for(sources, nearest(cluster.versions["kubernetes"]))
        settings, notes = settings_of(setup.scheduler_config)
        if not settings.get("profiles"):
            settings["profiles"] = [profile(dict(zip(plugin_names(built), plugins, strict=True)))]
        entries = settings.pop("extenders", None) or []
        trace = trace_of(cluster, setup)
        program = traced(built, trace)
        with contextlib.ExitStack() as stack:
            identity = runner.scheduler_kubeconfig
            extenders = stack.enter_context(connected_all(cluster, identity, setup, (), entries))
            config = render(identity, seen_by_scheduler(extenders), settings)
            scheduler = stack.enter_context(proven(runner, config, "kube-scheduler", program))
            yield Installed(
                variant=self.name,
                schedulers=dict.fromkeys(scheduler_names(config), scheduler),
                config=scheduler.config,
                traffic=Traffic(extenders) if extenders else None,
                notes=(*notes, *told(extenders)),
                trace=trace,
                plugins=tuple(plugin_names(built)),
            )


def trace_of(cluster: Cluster, setup: Setup) -> Path | None:
    """Return where a built scheduler writes what its plugins do, None if that is not wanted."""
    return cluster.folder / TRACE if setup.trace else None


def traced(built: Path, trace: Path | None) -> Program:
    """Return a built scheduler that writes its trace there; without a place it writes none."""
    return Program((str(built),), env={VARIABLE: str(trace)} if trace else {})


def profile(plugins: Mapping[str, PluginSpec]) -> dict[str, Any]:
    """Return a profile that has the plugins at every point they implement.

    Only one plugin can sort the queue, and it stays the stock one; a configuration of the user's own says otherwise.
    """
    enabled = [{"name": name, **({"weight": one.weight} if one.weight else {})} for name, one in plugins.items()]
    return {
        "schedulerName": DEFAULT_SCHEDULER,
        "plugins": {
            "multiPoint": {"enabled": enabled},
            "queueSort": {"disabled": [{"name": name} for name in plugins]},
        },
        "pluginConfig": [{"name": name, "args": one.args} for name, one in plugins.items() if one.args],
    }


def sources_of(plugins: Sequence[PluginSpec]) -> list[PluginSource]:
    """Return the sources of plugins.

    Raises:
        InputError: there is no such folder, package or constructor.
    """
    return [PluginSource.parse(_source(plugin)) for plugin in plugins]


def _source(plugin: PluginSpec) -> str:
    return f"go:{shipped('plugins') / SAMPLE}" if plugin.source == SAMPLE else plugin.source
