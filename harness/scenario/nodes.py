"""The nodes a scenario declares: groups as they are written, and the single nodes they stand for."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator
from pydantic_core.core_schema import ValidationInfo

from harness.scenario.fields import (
    CountOrZero,
    ExtendedResource,
    LabelKey,
    LabelPattern,
    LabelValue,
    Model,
    NameList,
    NamePattern,
    NodeCount,
    Quantity,
    WholeQuantity,
)
from harness.scenario.names import INDEX, check_label_value, check_name
from harness.scenario.words import shown

NAME_DEFAULT = "node-{index}"


class Taint(Model):
    """A taint as Kubernetes writes it."""

    noun = "a taint"

    key: LabelKey
    value: LabelValue = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]

    def to_json(self) -> dict[str, Any]:
        """Return the taint as it stands in a Node's spec."""
        return {"key": self.key, "effect": self.effect} | ({"value": self.value} if self.value else {})


def _distinct(taints: tuple[Taint, ...]) -> tuple[Taint, ...]:
    seen = set()
    for taint in taints:
        if (taint.key, taint.effect) in seen:
            raise ValueError(f"taint {shown(taint.key)} with effect {taint.effect} stands here twice")
        seen.add((taint.key, taint.effect))
    return taints


Taints = Annotated[tuple[Taint, ...], AfterValidator(_distinct)]


@dataclass(frozen=True)
class NodeSpec:
    """One node to be made; quantities are as written, `harness.scenario.quantity` reads them."""

    name: str
    cpu: str
    memory: str
    pods: int
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    extended: dict[str, str]

    @property
    def capacity(self) -> dict[str, str]:
        """Every resource by its Kubernetes name, as a Node's status holds it."""
        return {"cpu": self.cpu, "memory": self.memory, "pods": str(self.pods), **self.extended}


class NodeGroup(Model):
    """Nodes that are alike; `{index}` counts them from 1 in their names and label values."""

    noun = "a node group"

    count: NodeCount | None = Field(default=None, description="How many nodes; 1 unless told.")
    name: NamePattern | None = Field(default=None, description="Their name; {index} counts from 1.")
    names: NameList | None = Field(default=None, description="Their names, instead of count and name.")
    cpu: Quantity = Field(default="4", description="CPU of each node, such as 4 or 500m.")
    memory: Quantity = Field(default="16Gi", description="Memory of each node, such as 8Gi.")
    pods: CountOrZero = Field(default=110, description="How many pods fit on each node.")
    labels: dict[LabelKey, LabelPattern] = Field(default={}, description="Labels; a value may contain {index}.")
    taints: Taints = Field(default=(), description="Taints of each node.")
    extended: dict[ExtendedResource, WholeQuantity] = Field(
        default={}, description="Extended resources, such as nvidia.com/gpu: 2."
    )

    @field_validator("name")
    @classmethod
    def _counts_its_nodes(cls, name: str | None, info: ValidationInfo) -> str | None:
        count = info.data.get("count") or 1
        if name is not None and count > 1 and INDEX not in name:
            raise ValueError(f"{count} nodes would all be called {shown(name)}; put {INDEX} into the name")
        return name

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.names is not None and (self.count is not None or self.name is not None):
            raise ValueError("give either names, or count and name; both seen")
        last = len(self.names) if self.names is not None else self.count or 1
        for node in {1: self._node(1), last: self._node(last)}.values():
            check_name(node.name)
            for value in node.labels.values():
                check_label_value(value)
        return self

    def expand(self, start_index: int = 1) -> list[NodeSpec]:
        """Return the single nodes; `{index}` starts at `start_index`."""
        count = len(self.names) if self.names is not None else self.count or 1
        return [self._node(index, start_index) for index in range(1, count + 1)]

    def _node(self, index: int, start_index: int = 1) -> NodeSpec:
        shown_index = str(index + start_index - 1)
        name = self.names[index - 1] if self.names is not None else (self.name or NAME_DEFAULT)
        return NodeSpec(
            name=name.replace(INDEX, shown_index),
            cpu=self.cpu,
            memory=self.memory,
            pods=self.pods,
            labels={key: value.replace(INDEX, shown_index) for key, value in self.labels.items()},
            taints=self.taints,
            extended=dict(self.extended),
        )


def expand(groups: Iterable[NodeGroup]) -> list[NodeSpec]:
    """Return the single nodes of several groups, in order."""
    return [node for group in groups for node in group.expand()]
