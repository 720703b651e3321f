"""Which variants a scenario may name; the variants themselves live in a later stage, which this one never imports."""

from importlib.metadata import entry_points
from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema

from harness.scenario.words import did_you_mean, listed, shown

BUILT_IN = ("default", "extender", "second-scheduler", "framework-plugin", "controller", "rebuilt-scheduler")
ENTRY_POINT_GROUP = "harness.variants"


def known() -> tuple[str, ...]:
    """Return the built-in variants and those that installed packages bring."""
    return (*BUILT_IN, *sorted(entry_points(group=ENTRY_POINT_GROUP).names - set(BUILT_IN)))


def check_variant(name: str) -> str:
    """Return the name of a variant unchanged.

    Raises:
        ValueError: no such variant is known.
    """
    # Installed packages are only searched for a stranger: that costs more than reading the scenario.
    if name not in BUILT_IN and name not in known():
        raise ValueError(f"unknown variant {shown(name)}{did_you_mean(name, known())} known: {listed(known())}")
    return name


# Editors complete the built-in ones; another name may come from an installed package.
_SCHEMA = WithJsonSchema({"anyOf": [{"enum": list(BUILT_IN)}, {"type": "string"}]})

VariantName = Annotated[str, AfterValidator(check_variant), _SCHEMA]
