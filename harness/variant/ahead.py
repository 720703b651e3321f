"""Refuses, before a cluster is there, what a user brought and a variant could not install: a cluster takes seconds."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.extender.subject.there import check_there
from harness.plugin import changes
from harness.scenario.extenders import ExtenderSpec
from harness.variant.base import SchedulerConfig, Setup
from harness.variant.controller import check_controller
from harness.variant.entries import check_known
from harness.variant.extender import brought_of, settings_of, subjects_of
from harness.variant.framework_plugin import sources_of
from harness.variant.program import check_program
from harness.variant.rebuilt import changes_of
from harness.variant.second_scheduler import check_health, manifest_of


def check_ahead(variant: str, setup: Setup) -> None:
    """Look at everything that can be looked at without building or starting it.

    Raises:
        InputError: something is not there, or kube-scheduler would refuse it.
    """
    _CHECKS.get(variant, _nothing)(setup)


def _nothing(setup: Setup) -> None:
    """A variant of somebody else's knows itself what it needs."""


def _extender(setup: Setup) -> None:
    entries = _entries(setup.scheduler_config)
    _check_extenders(brought_of(setup, entries), entries)


def _second_scheduler(setup: Setup) -> None:
    _, manifest = manifest_of(setup)
    check_health(setup, manifest)
    entries = _entries(setup.scheduler_config or SchedulerConfig(manifest.config, manifest.where))
    check_program(setup.scheduler)
    _check_extenders(setup.extenders, entries)


def _framework_plugin(setup: Setup) -> None:
    sources_of(setup.plugins)
    _check_extenders((), _entries(setup.scheduler_config))


def _rebuilt_scheduler(setup: Setup) -> None:
    changes.read(Path(changes_of(setup.scheduler)))
    settings_of(setup.scheduler_config)


def _controller(setup: Setup) -> None:
    if setup.controller:
        check_controller(setup.controller)


_CHECKS: Mapping[str, Callable[[Setup], None]] = {
    "extender": _extender,
    "second-scheduler": _second_scheduler,
    "framework-plugin": _framework_plugin,
    "rebuilt-scheduler": _rebuilt_scheduler,
    "controller": _controller,
}


def _entries(brought: SchedulerConfig | None) -> Sequence[Mapping[str, object]]:
    settings, _ = settings_of(brought)
    return settings.get("extenders") or []


def _check_extenders(brought: Sequence[ExtenderSpec], entries: Sequence[Mapping[str, object]]) -> None:
    subjects = subjects_of(brought, entries)
    for _, subject in subjects:
        check_there(subject)
    check_known(subjects)
