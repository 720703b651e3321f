"""Which cluster providers a scenario is for, and what differs on some of them; the providers live in a later stage."""

from importlib.metadata import entry_points
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue, WithJsonSchema

from harness.scenario.fields import Model
from harness.scenario.parameters import Parameters
from harness.scenario.words import did_you_mean, listed, shown

BUILT_IN = ("embedded", "kind", "existing")
ENTRY_POINT_GROUP = "harness.clusters"


def known() -> tuple[str, ...]:
    """Return the built-in providers and those that installed packages bring."""
    return (*BUILT_IN, *sorted(entry_points(group=ENTRY_POINT_GROUP).names - set(BUILT_IN)))


def check_cluster(name: str) -> str:
    """Return the name of a provider unchanged.

    Raises:
        ValueError: no such provider is known.
    """
    if name not in BUILT_IN and name not in known():
        raise ValueError(f"unknown cluster {shown(name)}{did_you_mean(name, known())} known: {listed(known())}")
    return name


# Editors complete the built-in ones; another name may come from an installed package.
SCHEMA: dict[str, JsonValue] = {"anyOf": [{"enum": [*BUILT_IN]}, {"type": "string"}]}

ClusterName = Annotated[str, AfterValidator(check_cluster), WithJsonSchema(SCHEMA)]


class Difference(Model):
    """What a scenario has to say differently on the clusters of one provider, and why."""

    noun = "a difference"

    because: str = Field(description="The reason, in one clause; reports show it.", min_length=1, max_length=300)
    parameters: Parameters = Field(default={}, description="Values that replace those of the scenario and its size.")
