"""The scenario as a whole: the file as it is written, and one frozen scenario per size."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, ValidationError, field_validator

from harness.errors import ScenarioError
from harness.scenario.clusters import SCHEMA, ClusterName, Difference
from harness.scenario.expectations import Expectation, StaysPending
from harness.scenario.explain import explain
from harness.scenario.extenders import ExtenderSpec, PluginSpec
from harness.scenario.fields import Model, Seconds, Word
from harness.scenario.manifests import check_file, read_objects
from harness.scenario.nodes import NodeGroup, NodeSpec, expand
from harness.scenario.parameters import Parameters, Substitution
from harness.scenario.problems import dotted
from harness.scenario.steps import AddNodes, Create, Step
from harness.scenario.variants import VariantName
from harness.scenario.words import shown

SIZE_DEFAULT = "default"


class Size(Model):
    """A named variety of a scenario, with its own values for parameters."""

    noun = "a size"

    name: Word = Field(description="Name of the size.")
    labels: tuple[Word, ...] = Field(default=(), description="More words to select by; slow is left out of quick runs.")
    clusters: Annotated[tuple[ClusterName, ...], Field(min_length=1)] | None = Field(
        default=None, description="Cluster providers it makes sense for; those of the scenario unless told."
    )
    parameters: Parameters = Field(default={}, description="Values that replace the scenario's own.")


class Body(Model):
    """What a scenario file and a scenario at one size have in common."""

    noun = "a scenario"

    name: Word = Field(description="Name of the scenario.")
    summary: str = Field(description="What it shows, in one sentence.", min_length=1, max_length=300)
    labels: tuple[Word, ...] = Field(default=(), description="Words to select by; slow is left out of quick runs.")
    variants: Annotated[tuple[VariantName, ...], Field(min_length=1)] | None = Field(
        default=None, description="Variants it makes sense for; every variant unless told."
    )
    clusters: Annotated[tuple[ClusterName, ...], Field(min_length=1)] | None = Field(
        default=None, description="Cluster providers it makes sense for; every provider unless told."
    )
    on: dict[ClusterName, Difference] = Field(
        default={},
        description="What differs on the clusters of a provider, and why.",
        json_schema_extra={"propertyNames": SCHEMA},
    )
    extenders: tuple[ExtenderSpec, ...] = Field(
        default=(), description="Extenders behind the scheduler, in order; the user's own unless told."
    )
    scheduler_config: Annotated[str, AfterValidator(check_file)] | None = Field(
        default=None, description="KubeSchedulerConfiguration or legacy Policy, relative to the scenario file."
    )
    scheduler_manifest: Annotated[str, AfterValidator(check_file)] | None = Field(
        default=None, description="How the second scheduler is deployed, relative to the scenario file."
    )
    scheduler: str | None = Field(default=None, description="Program of the scheduler: cmd:…, go:DIR, source:DIR.")
    plugins: tuple[PluginSpec, ...] = Field(default=(), description="Plugins compiled into the scheduler.")
    controller: str | None = Field(default=None, description="Scheduler written as a controller: ref:NAME, cmd:…")
    timeout_seconds: Seconds = Field(default=60.0, description="Deadline of each settle.")
    nodes: tuple[NodeGroup, ...] = Field(default=(), description="Nodes of the cluster.")
    steps: Annotated[tuple[Step, ...], Field(min_length=1)] = Field(description="What is done, in order.")
    expect: Annotated[tuple[Expectation, ...], Field(min_length=1)] = Field(description="What has to hold.")


class File(Body):
    """A scenario: nodes, steps, expectations, and named sizes of it."""

    parameters: Parameters = Field(default={}, description="Values for $name and ${name}.")
    sizes: Annotated[tuple[Size, ...], Field(min_length=1)] | None = Field(
        default=None, description="Varieties of the scenario; the first is the one that runs unless told."
    )

    @field_validator("sizes")
    @classmethod
    def _distinct(cls, sizes: tuple[Size, ...] | None) -> tuple[Size, ...] | None:
        seen = set()
        for size in sizes or ():
            if size.name in seen:
                raise ValueError(f"size {shown(size.name)} stands here twice; give each size its own name")
            seen.add(size.name)
        return sizes


class Scenario(Body):
    """A scenario at one size: validated, complete, and readable without the files it came from."""

    size: str
    parameters: dict[str, Any]
    source: str
    """The YAML text of the scenario file."""
    manifests: dict[str, str]
    """The text of every manifest, by the name the scenario gives it."""
    path: Path
    elsewhere: dict[str, "Scenario"] = Field(default_factory=dict, exclude=True)
    """The same with the parameters of each provider on which they differ."""

    def on_cluster(self, provider: str) -> "Scenario":
        """Return the scenario as it is on the clusters of a provider."""
        return self.elsewhere.get(provider, self)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy; one that was changed is the same on every provider, so that the change is never lost."""
        return super().model_copy(update={"elsewhere": {}, **update} if update else None, deep=deep)

    @property
    def observe_seconds(self) -> float:
        """How long the run goes on observing after the last settle."""
        return max((e.seconds for e in self.expect if isinstance(e, StaysPending)), default=0.0)

    @property
    def declared_nodes(self) -> list[NodeSpec]:
        """The nodes that it declares, those of its steps too."""
        later = [group for step in self.steps if isinstance(step, AddNodes) for group in step.nodes]
        return expand((*self.nodes, *later))

    @property
    def node_count(self) -> int:
        """How many nodes it declares."""
        return len(self.declared_nodes)

    def is_for(self, variant: str) -> bool:
        """Tell whether it makes sense with a variant."""
        return not self.declared or variant in self.declared

    @property
    def declared(self) -> tuple[str, ...]:
        """The variants that it is for, none if for all; unless told, those that use what it brings."""
        brought = {"extender": self.extenders, "framework-plugin": self.plugins, "controller": self.controller}
        return self.variants or tuple(variant for variant, given in brought.items() if given)

    @property
    def for_any_extender(self) -> bool:
        """Whether it judges an extender that it does not know.

        What is said about another extender, or about calls that are broken on purpose, says nothing about a user's.
        """
        return not self.extenders and "faults" not in self.labels

    def runs_on(self, provider: str) -> bool:
        """Tell whether it makes sense on the clusters of a provider."""
        return self.clusters is None or provider in self.clusters

    def objects_of(self, step: Create) -> list[dict[str, Any]]:
        """Return the Kubernetes objects that a step of this scenario creates, in order."""
        if step.file is None:
            return list(step.objects or ())
        return read_objects(self.manifests[step.file], step.file, Substitution(self.parameters))[0]

    def to_json(self) -> dict[str, Any]:
        """Return the scenario as JSON, for `from_json`."""
        return self.model_dump(mode="json", by_alias=True)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """Return the scenario that `to_json` gave.

        Raises:
            ScenarioError: it is not one.
        """
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            faults = explain(error, cls, value)
            raise ScenarioError([f"saved scenario: {dotted(path)}: {message}" for path, message in faults]) from None
