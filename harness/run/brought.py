"""Joins what the user brought with what a scenario says, into what a variant installs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from harness.errors import InputError
from harness.extender.subject.parse import parse
from harness.files import read_text
from harness.scenario.explain import explain
from harness.scenario.extenders import EntryKeys, ExtenderSpec, PluginSpec, names_of
from harness.scenario.faults import Fault
from harness.scenario.fields import Model
from harness.scenario.model import Scenario
from harness.scenario.problems import dotted
from harness.variant.base import NOTHING_BROUGHT, SchedulerConfig, Setup

NAME_CHARACTERS_MAX = 40
Built = TypeVar("Built", bound=Model)


@dataclass(frozen=True)
class Brought:
    """What the user named on the command line; each stands before what a scenario says of the same kind."""

    extenders: tuple[ExtenderSpec, ...] = ()
    scheduler_config: Path | None = None
    manifest: Path | None = None
    scheduler: str | None = None
    plugins: tuple[str, ...] = ()
    controller: str | None = None
    tap: bool = True
    trace: bool = True

    def setup(self, variant: str, scenario: Scenario | None, seed: int) -> Setup:
        """Return what a variant is to install for a scenario.

        The user's extenders stand in for the scenario's own, one by one, under the entries that the scenario demands.
        """
        if variant == "default":
            return NOTHING_BROUGHT
        own = scenario.extenders if scenario else ()
        return Setup(
            extenders=_stand_in(self.extenders, own) if self.extenders else own,
            scheduler_config=_text(self.scheduler_config, scenario, "scheduler_config"),
            manifest=_text(self.manifest, scenario, "scheduler_manifest"),
            scheduler=self.scheduler or (scenario.scheduler if scenario else None),
            plugins=_plugins(self.plugins, scenario.plugins if scenario else ()),
            controller=self.controller or (scenario.controller if scenario else None),
            # Another seed is another controller: unlike an extender, it is not started anew for every run.
            controller_seed=seed if variant == "controller" else 0,
            tap=self.tap,
            trace=self.trace,
            seed=seed,
        )


def _plugins(brought: Sequence[str], own: tuple[PluginSpec, ...]) -> tuple[PluginSpec, ...]:
    """Return the plugins of the user, under what the scenario says about weight and arguments, one by one."""
    if not brought:
        return own
    demanded = [*own, *(PluginSpec() for _ in brought)]
    return tuple(spec.model_copy(update={"source": source}) for source, spec in zip(brought, demanded, strict=False))


def _text(brought: Path | None, scenario: Scenario | None, field: str) -> SchedulerConfig | None:
    """Return the text of a file that the user named, else of the one that the scenario names."""
    if brought is not None:
        return read_config(brought)
    name = getattr(scenario, field) if scenario else None
    if scenario is None or name is None:
        return None
    return SchedulerConfig(scenario.manifests[name], str(scenario.path.parent / name))


NOTHING = Brought()


def bring(
    extenders: Sequence[str],
    entries: Sequence[str],
    scheduler_config: Path | None = None,
    *,
    tap: bool = True,
    more: Brought | None = None,
) -> Brought:
    """Return what the options brought, checked as far as that is possible before anything is started.

    Raises:
        InputError: something of it cannot be used.
    """
    entry = entry_keys(entries)
    names = [_word(parse(text, entry.given()).name) for text in extenders]
    more = more or NOTHING
    for file in (scheduler_config, more.manifest):
        if file is not None:
            read_config(file)
    if entries and not extenders:
        raise InputError("--entry: it is about an extender; name one with --extender (a configuration says it itself)")
    specs = tuple(
        ExtenderSpec(subject=text, name=name, entry=entry) for text, name in zip(extenders, names, strict=True)
    )
    return replace(more, extenders=specs, scheduler_config=scheduler_config, tap=tap)


def entry_keys(entries: Sequence[str]) -> EntryKeys:
    """Return the entry that KEY=VALUE options spell.

    Raises:
        InputError: a key or value is none of an entry.
    """
    return _built(EntryKeys, _pairs(entries, "--entry"), "--entry")


def fault(text: str) -> Fault:
    """Return the fault that an option spells: its kind, then KEY=VALUE, separated by commas; or a YAML mapping.

    Raises:
        InputError: it is none.
    """
    if text.startswith("{"):
        return _built(Fault, _mapping(text), f"--fault {text}")
    kind, _, rest = text.partition(",")
    return _built(Fault, {"kind": kind, **_pairs(rest.split(",") if rest else [], "--fault")}, f"--fault {text}")


def _word(text: str) -> str | None:
    """Return a name as scenarios spell names, None if nothing is left of it."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:NAME_CHARACTERS_MAX].strip("-") or None


def _mapping(text: str) -> dict[str, Any]:
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"--fault {text}: no YAML: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"--fault {text}: a mapping expected")
    return value


def _pairs(texts: Sequence[str], option: str) -> dict[str, Any]:
    pairs = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"{option} {text}: KEY=VALUE expected")
        try:
            # An empty value is the empty text, which leaves a verb out.
            pairs[key.strip()] = yaml.safe_load(value) if value else ""
        except yaml.YAMLError as error:
            raise InputError(f"{option} {text}: the value is no YAML: {error}") from error
    return pairs


def _built(model: type[Built], values: dict[str, Any], where: str) -> Built:
    try:
        return model.model_validate(values, by_alias=True, by_name=False)
    except ValidationError as error:
        faults = [
            f"{where}: {dotted(path)}{': ' if path else ''}{text}" for path, text in explain(error, model, values)
        ]
        raise InputError("\n".join(faults)) from None


def read_config(path: Path) -> SchedulerConfig:
    """Read a file of the user's: a scheduler's configuration or manifest.

    Raises:
        InputError: it cannot be read.
    """
    return SchedulerConfig(read_text(path), str(path))


def _stand_in(brought: tuple[ExtenderSpec, ...], own: tuple[ExtenderSpec, ...]) -> tuple[ExtenderSpec, ...]:
    replaced = []
    for index, extender in enumerate(brought):
        demanded = own[index].entry.given() if index < len(own) else {}
        entry = EntryKeys.model_validate({**demanded, **extender.entry.given()})
        # Steps of the scenario speak of its own names.
        name = names_of(own)[index] if index < len(own) else extender.name
        replaced.append(ExtenderSpec(subject=extender.subject, name=name, entry=entry))
    return (*replaced, *own[len(brought) :])
