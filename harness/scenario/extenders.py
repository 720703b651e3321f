"""Extenders of a scenario: which subject stands behind the scheduler, and what the scheduler is told about it."""

import itertools
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictInt

from harness.scenario.fields import ExtendedResource, Model, Word

Verb = Annotated[str, Field(max_length=253)]
CallKind = Literal["filter", "prioritize", "preempt", "bind"]


class ManagedResource(Model):
    """A resource that an extender manages; only pods that ask for one are sent to it."""

    noun = "a managed resource"

    name: ExtendedResource = Field(description="Name of the resource, such as example.com/gpu.")
    ignored_by_scheduler: StrictBool = Field(default=False, description="true: the scheduler itself does not count it.")


class EntryKeys(Model):
    """Keys of the `extenders[]` entry, as kube-scheduler spells them; they replace what the subject says of itself."""

    noun = "an entry"

    url_prefix: str | None = Field(default=None, description="Only its path counts; the address is the subject's own.")
    filter_verb: Verb | None = Field(default=None, description='Path of filter; "" leaves it out.')
    prioritize_verb: Verb | None = Field(default=None, description='Path of prioritize; "" leaves it out.')
    preempt_verb: Verb | None = Field(default=None, description='Path of preempt; "" leaves it out.')
    bind_verb: Verb | None = Field(default=None, description='Path of bind; "" leaves it out.')
    weight: StrictInt | None = Field(default=None, description="Weight of its scores.")
    enable_https: StrictBool | None = Field(
        default=None, alias="enableHTTPS", description="As kube-scheduler reads it."
    )
    tls_config: dict[str, Any] | None = Field(default=None, description="Certificates, as kube-scheduler reads them.")
    http_timeout: str | None = Field(default=None, description="Time for one call, such as 5s; 5s unless told.")
    node_cache_capable: StrictBool | None = Field(default=None, description="true: node names instead of whole nodes.")
    managed_resources: tuple[ManagedResource, ...] | None = Field(default=None, description="Resources it manages.")
    ignorable: StrictBool | None = Field(default=None, description="true: scheduling goes on when it fails.")

    def given(self) -> dict[str, Any]:
        """Return the keys that are set, as kube-scheduler spells them."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class ExtenderSpec(Model):
    """One extender behind the scheduler."""

    noun = "an extender"

    subject: str = Field(min_length=1, description="What is tested: ref:NAME, py:…, cmd:…, go:DIR, image:…, a URL.")
    name: Word | None = Field(default=None, description="What reports call it; from the subject unless told.")
    entry: EntryKeys = Field(default=EntryKeys(), description="Keys of its extenders[] entry.")


SAMPLE = "sample"


class PluginSpec(Model):
    """One plugin that is compiled into kube-scheduler."""

    noun = "a plugin"

    source: str = Field(default=SAMPLE, min_length=1, description="go:DIR[:pkg.New]; the project's sample unless told.")
    weight: Annotated[StrictInt, Field(ge=1)] | None = Field(default=None, description="Weight of its scores.")
    args: dict[str, Any] = Field(default={}, description="Its arguments, as pluginConfig has them.")


def names_of(extenders: Sequence[ExtenderSpec]) -> list[str]:
    """Return what each extender is called: its own name, a reference's, else a number."""
    names: list[str] = []
    for number, extender in enumerate(extenders, start=1):
        reference = re.match(r"ref:([a-z0-9-]+)", extender.subject)
        name = extender.name or (reference[1] if reference else "extender")
        numbered = (f"{name}-{count}" for count in itertools.count(number))
        names.append(next(one for one in itertools.chain([name], numbered) if one not in names))
    return names
