"""Options that bring something of the user's own: an extender, its entry, a scheduler's configuration, faults."""

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from harness.errors import InputError
from harness.run.brought import Brought, bring, fault
from harness.scenario.faults import Fault
from harness.scenario.model import Scenario
from harness.variant.base import Setup


@dataclass(frozen=True)
class Own:
    """What the options brought, checked."""

    brought: Brought
    faults: tuple[Fault, ...]

    def variants(self) -> tuple[str, ...]:
        """Return the variants that it makes sense for; none if nothing was brought."""
        mine = self.brought
        chosen = {
            "second-scheduler": mine.manifest or (mine.scheduler and not mine.scheduler.startswith("source:")),
            "rebuilt-scheduler": mine.scheduler and mine.scheduler.startswith("source:"),
            "framework-plugin": mine.plugins or not mine.trace,
            "controller": mine.controller,
        }
        named = tuple(name for name, given in chosen.items() if given)
        extender = self.faults or mine.extenders or mine.scheduler_config
        return named or (("extender",) if extender else ())

    def check(self, variants: Iterable[str]) -> None:
        """Refuse what none of the variants would use: it would be left out without a word.

        Raises:
            InputError: something was brought in vain; says for which variant it is.
        """
        chosen = set(variants)
        mine = self.brought
        for option, given in (
            ("--extender", mine.extenders),
            ("--fault", self.faults),
            ("--scheduler-config", mine.scheduler_config),
            ("--manifest", mine.manifest),
            ("--scheduler", mine.scheduler),
            ("--plugin", mine.plugins),
            ("--controller", mine.controller),
            ("--no-trace", not mine.trace),
        ):
            users = USED_BY[option]
            if given and not chosen.intersection(users):
                named = ", ".join(sorted(chosen))
                raise InputError(f"{option}: variant {named} does not use it; it is for {' and '.join(users)}")

    def check_ahead(self, runs: Iterable[tuple[str, Scenario]], provider: str) -> None:
        """Refuse what no run of a variant could use, before a cluster of the provider is started for it.

        A scenario of many that asks for what is not there spoils its own run only.

        Raises:
            InputError: something is not there, or kube-scheduler would refuse it.
        """
        seen: dict[str, list[Setup]] = {}
        for variant, scenario in runs:
            setup = self.brought.setup(variant, scenario, seed=0)
            if setup not in seen.setdefault(variant, []):
                seen[variant].append(setup)
        for variant, setups in seen.items():
            refused = [error for setup in setups if (error := _refused(variant, setup, provider))]
            if len(refused) == len(setups):
                raise refused[0]


def _refused(variant: str, setup: Setup, provider: str) -> InputError | None:
    from harness.variant.ahead import check_ahead  # noqa: PLC0415 - slow to load, and not needed for --help

    try:
        check_ahead(variant, setup, provider)
    except InputError as error:
        return error
    return None


USED_BY = {
    "--extender": ("extender", "second-scheduler"),
    "--fault": ("extender", "second-scheduler"),
    "--scheduler-config": ("extender", "second-scheduler", "framework-plugin", "rebuilt-scheduler"),
    "--manifest": ("second-scheduler",),
    "--scheduler": ("second-scheduler", "rebuilt-scheduler"),
    "--plugin": ("framework-plugin",),
    "--controller": ("controller",),
    "--no-trace": ("framework-plugin", "rebuilt-scheduler"),
}


def bring_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of what a user can bring to a run; the command gets all of them as `own`."""

    @functools.wraps(command)
    def with_own(
        *arguments: Any,
        extenders: tuple[str, ...],
        entries: tuple[str, ...],
        scheduler_config: Path | None,
        faults: tuple[str, ...],
        no_tap: bool,
        no_trace: bool,
        manifest: Path | None,
        scheduler: str | None,
        plugins: tuple[str, ...],
        controller: str | None,
        **others: Any,
    ) -> Any:
        more = Brought(
            manifest=manifest, scheduler=scheduler, plugins=plugins, controller=controller, trace=not no_trace
        )
        brought = bring(extenders, entries, scheduler_config, tap=not no_tap, more=more)
        return command(*arguments, own=Own(brought, tuple(map(fault, faults))), **others)

    for option in reversed(OPTIONS):
        with_own = option(with_own)
    return with_own


extender_option = click.option(
    "--extender",
    "extenders",
    multiple=True,
    metavar="SUBJECT",
    help="Extender to test: URL, cmd:…, go:DIR, image:…, py:MODULE:CALLABLE, ref:NAME, subject.yaml. Repeatable.",
)
entry_option = click.option(
    "--entry",
    "entries",
    multiple=True,
    metavar="KEY=VALUE",
    help="Key of the extenders[] entry: nodeCacheCapable=true. Repeatable.",
)

_FILE = click.Path(path_type=Path, dir_okay=False)
OPTIONS = (
    extender_option,
    entry_option,
    click.option(
        "--scheduler-config",
        type=_FILE,
        help="KubeSchedulerConfiguration, also a legacy one or a Policy: it is translated.",
    ),
    click.option(
        "--fault",
        "faults",
        multiple=True,
        metavar="FAULT",
        help="Break calls: status,status=500,verb=filter,share=0.3. Repeatable.",
    ),
    click.option(
        "--manifest",
        type=_FILE,
        help="How a second scheduler is deployed: who it is, its rights, its configuration.",
    ),
    click.option(
        "--scheduler",
        metavar="PROGRAM",
        help="Program of the second scheduler: cmd:…, go:DIR; or source:DIR, changed sources of Kubernetes.",
    ),
    click.option(
        "--plugin",
        "plugins",
        multiple=True,
        metavar="SOURCE",
        help="Plugin to compile into kube-scheduler: go:DIR[:pkg.New]. Repeatable.",
    ),
    click.option(
        "--controller", metavar="SUBJECT", help="Scheduler written as a controller: ref:POLICY, cmd:…, go:DIR."
    ),
    click.option("--no-tap", is_flag=True, help="Let the scheduler call the extender directly; nothing is seen."),
    click.option("--no-trace", is_flag=True, help="Let a built scheduler run without its trace, to compare."),
)
