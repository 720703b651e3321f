"""The kinds of values a scenario is made of, each with its check, so that the models only say what goes where."""

import re
import warnings
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel

from harness.scenario import names, quantity, selector
from harness.scenario.words import shown

COUNT_MAX = 200_000
NODES_MAX = 20_000
SECONDS_MAX = 86_400


class Model(BaseModel):
    """A part of a scenario: frozen, strict about unknown keys, camelCase in YAML and snake_case in Python."""

    model_config = ConfigDict(
        frozen=True,
        # Every part is built as part of the scenario: building it alone at import would be time for nothing.
        defer_build=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_alias=True,
        validate_by_name=True,
    )
    noun: ClassVar[str] = "this"
    """What messages call it: `a node group accepts: …`."""


class Range(Model):
    """A number that is demanded: exact, or between bounds that are both included."""

    noun = "a range"

    min: Annotated[StrictInt, Field(ge=0)] | None = None
    max: Annotated[StrictInt, Field(ge=0)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_number(cls, value: Any) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            if value < 0:
                raise ValueError(f"{value} seen, at least 0 expected")
            return {"min": value, "max": value}
        if isinstance(value, dict | Range):
            return value
        raise ValueError(f"{shown(value)} seen, a whole number or {{min: …, max: …}} expected")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.min is None and self.max is None:
            raise ValueError("a range needs min, max or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min} is larger than max {self.max}")
        return self

    def holds(self, number: float) -> bool:
        """Tell whether a number lies in the range."""
        return (self.min is None or number >= self.min) and (self.max is None or number <= self.max)

    def __str__(self) -> str:
        if self.min == self.max:
            return f"exactly {self.min}"
        if self.max is None:
            return f"at least {self.min}"
        return f"at most {self.max}" if self.min is None else f"{self.min} to {self.max}"


def _quantity(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{shown(value)} seen, a quantity such as 2, 500m or 8Gi expected")  # noqa: TRY004 - pydantic gathers only ValueError
    if quantity.parse(value) < 0:
        raise ValueError(f"{shown(value)} seen, a quantity of at least 0 expected")
    return str(value)


def _whole_quantity(value: str) -> str:
    if quantity.millis(value) % 1000:
        raise ValueError(f"{shown(value)} seen, a whole number expected; extended resources are not divisible")
    return value


def _selector(value: str) -> str:
    selector.parse(value)
    return value


def _regex(value: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(value)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        raise ValueError(f"{shown(value)} is not a regular expression: {error}") from None
    return value


def _one_or_more(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


_NUMBER_OR_TEXT = WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]})

Quantity = Annotated[str, BeforeValidator(_quantity), _NUMBER_OR_TEXT]
"""An amount of a resource, kept as it was written; `harness.scenario.quantity` reads it."""
WholeQuantity = Annotated[Quantity, AfterValidator(_whole_quantity)]

ObjectName = Annotated[str, AfterValidator(names.check_name)]
Namespace = Annotated[str, AfterValidator(names.check_namespace)]
NamePattern = Annotated[str, AfterValidator(names.check_name_pattern)]
LabelKey = Annotated[str, AfterValidator(names.check_label_key)]
LabelValue = Annotated[str, AfterValidator(names.check_label_value)]
LabelPattern = Annotated[str, AfterValidator(names.check_label_pattern)]
Resource = Annotated[str, AfterValidator(names.check_resource)]
ExtendedResource = Annotated[str, AfterValidator(names.check_extended_resource)]
SelectorText = Annotated[str, AfterValidator(_selector)]
Regex = Annotated[str, AfterValidator(_regex)]

Word = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", max_length=63)]
"""A name of the harness itself (scenario, size, label): it becomes part of test ids and file names."""

Count = Annotated[StrictInt, Field(ge=1, le=COUNT_MAX)]
NodeCount = Annotated[StrictInt, Field(ge=1, le=NODES_MAX)]
CountOrZero = Annotated[StrictInt, Field(ge=0, le=COUNT_MAX)]
Seconds = Annotated[StrictFloat, Field(gt=0, le=SECONDS_MAX, allow_inf_nan=False)]
Ratio = Annotated[StrictFloat, Field(gt=0, allow_inf_nan=False)]

NameList = Annotated[tuple[ObjectName, ...], Field(min_length=1)]
PatternList = Annotated[
    tuple[Annotated[str, Field(min_length=1)], ...],
    Field(min_length=1),
    BeforeValidator(_one_or_more),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]
"""Names in which `*` stands for anything; one of them may be written without the list."""


def exactly_one(model: BaseModel, *fields: str) -> None:
    """Check that one of several fields is given.

    Raises:
        ValueError: none or more than one of them is there.
    """
    given = [field for field in fields if getattr(model, field) is not None]
    if len(given) != 1:
        choices = " or ".join(to_camel(field) for field in fields)
        raise ValueError(f"give either {choices}, {'both' if given else 'neither'} seen")
