"""Refuses, before a cluster is there, what a user brought and a variant could not install: a cluster takes seconds."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.errors import InputError
from harness.extender.subject.parse import Subject
from harness.extender.subject.there import check_there, without_containers
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

WITHOUT_CONTAINERS = frozenset({"embedded", "existing"})
"""Providers on whose clusters no image can be an extender."""


def check_ahead(variant: str, setup: Setup, provider: str | None = None) -> None:
    """Look at everything that can be looked at without building or starting it.

    Args:
        variant: who is to install it.
        setup: what was brought.
        provider: where; unless given, what only some clusters can do is not looked at.

    Raises:
        InputError: something is not there, or kube-scheduler would refuse it.
    """
    subjects = _CHECKS.get(variant, _nothing)(setup)
    image = next((one for one in subjects if one.kind == "image"), None)
    if image and provider in WITHOUT_CONTAINERS:
        raise InputError(without_containers(image))


def _nothing(setup: Setup) -> Sequence[Subject]:
    """A variant of somebody else's knows itself what it needs."""
    return ()


def _extender(setup: Setup) -> Sequence[Subject]:
    entries = _entries(setup.scheduler_config)
    return _check_extenders(brought_of(setup, entries), entries)


def _second_scheduler(setup: Setup) -> Sequence[Subject]:
    _, manifest = manifest_of(setup)
    check_health(setup, manifest)
    entries = _entries(setup.scheduler_config or SchedulerConfig(manifest.config, manifest.where))
    check_program(setup.scheduler)
    return _check_extenders(setup.extenders, entries)


def _framework_plugin(setup: Setup) -> Sequence[Subject]:
    sources_of(setup.plugins)
    return _check_extenders((), _entries(setup.scheduler_config))


def _rebuilt_scheduler(setup: Setup) -> Sequence[Subject]:
    changes.read(Path(changes_of(setup.scheduler)))
    settings_of(setup.scheduler_config)
    return ()


def _controller(setup: Setup) -> Sequence[Subject]:
    if setup.controller:
        check_controller(setup.controller)
    return ()


_CHECKS: Mapping[str, Callable[[Setup], Sequence[Subject]]] = {
    "extender": _extender,
    "second-scheduler": _second_scheduler,
    "framework-plugin": _framework_plugin,
    "rebuilt-scheduler": _rebuilt_scheduler,
    "controller": _controller,
}


def _entries(brought: SchedulerConfig | None) -> Sequence[Mapping[str, object]]:
    settings, _ = settings_of(brought)
    return settings.get("extenders") or []


def _check_extenders(brought: Sequence[ExtenderSpec], entries: Sequence[Mapping[str, object]]) -> Sequence[Subject]:
    subjects = subjects_of(brought, entries)
    for _, subject in subjects:
        check_there(subject)
    check_known(subjects)
    return [subject for _, subject in subjects]
