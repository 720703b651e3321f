"""What a scenario demands, one model per `kind`; the expect stage judges a record by them."""

import fnmatch
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, StrictFloat, model_validator

from harness.scenario import selector
from harness.scenario.choosing import Choosing, Selecting
from harness.scenario.expectations_extender import (
    Attempts,
    Calls,
    Findings,
    HighestScore,
    InvariantViolated,
    Log,
    Metric,
    SameAs,
    Traced,
)
from harness.scenario.fields import (
    Count,
    CountOrZero,
    LabelKey,
    Model,
    Namespace,
    ObjectName,
    PatternList,
    Range,
    Ratio,
    Regex,
    Seconds,
    SelectorText,
    exactly_one,
)
from harness.scenario.variants import VariantName

STATES = ("running", "pending", "succeeded", "failed", "total", "bound")
"""What a `count` can demand, in the order in which it is shown."""

_NODE_SELECTOR = Field(default=None, description="Label selector of the nodes that count; every node unless told.")


class NodeSet(Choosing):
    """An expectation about the nodes that chosen pods are bound to."""

    nodes: PatternList | None = Field(default=None, description="Names of the nodes; * matches anything.")
    node_selector: SelectorText | None = Field(default=None, description="Label selector instead of names.")

    @model_validator(mode="after")
    def _check_nodes(self) -> Self:
        exactly_one(self, "nodes", "node_selector")
        return self

    def picks_node(self, name: str, labels: Mapping[str, str]) -> bool:
        """Tell whether a node is one of those that are meant."""
        if self.nodes is not None:
            return any(fnmatch.fnmatchcase(name, pattern) for pattern in self.nodes)
        return selector.parse(self.node_selector or "").matches(labels)


class CountOf(Selecting):
    """How many pods are in which state at the end."""

    kind: Literal["count"] = "count"
    running: Range | None = Field(default=None, description="How many are running.")
    pending: Range | None = Field(default=None, description="How many are pending.")
    succeeded: Range | None = Field(default=None, description="How many have succeeded.")
    failed: Range | None = Field(default=None, description="How many have failed.")
    total: Range | None = Field(default=None, description="How many there are.")
    bound: Range | None = Field(default=None, description="How many have a node.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.demands:
            raise ValueError(f"nothing is demanded; give at least one of {', '.join(STATES)}")
        return self

    @property
    def demands(self) -> dict[str, Range]:
        """The demanded states, by name."""
        return {state: getattr(self, state) for state in STATES if getattr(self, state) is not None}


class Placement(Model):
    """Which pod is bound to which node, exactly."""

    kind: Literal["placement"] = "placement"
    on: Annotated[dict[str, ObjectName], Field(min_length=1)] = Field(
        description="Node by pod name; * in a pod name matches anything."
    )
    namespace: Namespace | None = Field(default=None, description="Only pods of this namespace.")


class OnlyOn(NodeSet):
    """Every bound pod that is meant is on one of these nodes."""

    kind: Literal["onlyOn"] = "onlyOn"


class NeverOn(NodeSet):
    """No pod that is meant was ever bound to one of these nodes."""

    kind: Literal["neverOn"] = "neverOn"


class Distribution(Selecting):
    """How many of the pods each node has."""

    kind: Literal["distribution"] = "distribution"
    per_node: Range | None = Field(default=None, description="How many of the pods every node has.")
    counts: tuple[CountOrZero, ...] | None = Field(default=None, description="The counts of all nodes, in any order.")
    node_selector: SelectorText | None = _NODE_SELECTOR

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.per_node is None and self.counts is None:
            raise ValueError("nothing is demanded; give perNode, counts or both")
        return self


class Spread(Selecting):
    """How evenly the pods are spread over the values of a node label."""

    kind: Literal["spread"] = "spread"
    over: LabelKey = Field(description="Node label whose values are the domains, such as topology.kubernetes.io/zone.")
    max_skew: Count = Field(default=1, description="The most by which two domains may differ.")
    node_selector: SelectorText | None = _NODE_SELECTOR


class Pending(Choosing):
    """Pods that are pending at the end, with the reason the scheduler gave."""

    kind: Literal["pending"] = "pending"
    count: Range = Field(default=Range(min=1), description="How many pods are meant; at least one unless told.")
    reason: str | None = Field(default=None, description="Reason of the PodScheduled condition, such as Unschedulable.")
    message: Regex | None = Field(default=None, description="Regular expression found in the condition's message.")


class StaysPending(Choosing):
    """Pods that are never bound, watched for a while."""

    kind: Literal["staysPending"] = "staysPending"
    seconds: Seconds = Field(description="How long the pods have to be seen pending.")


class Timing(Selecting):
    """How long pods take, as a multiple of what they take with another variant."""

    kind: Literal["timing"] = "timing"
    measure: Literal["createToScheduled", "createToBound", "createToRunning"]
    percentile: Annotated[StrictFloat, Field(gt=0, le=100, allow_inf_nan=False)] = 50.0
    at_most: Ratio = Field(description="The largest accepted ratio.")
    relative_to: VariantName = Field(description="The variant to compare with.")


Expectation = Annotated[
    CountOf
    | Placement
    | OnlyOn
    | NeverOn
    | Distribution
    | Spread
    | Pending
    | StaysPending
    | Timing
    | SameAs
    | Calls
    | HighestScore
    | Attempts
    | Findings
    | Metric
    | Traced
    | Log
    | InvariantViolated,
    Field(discriminator="kind"),
]

COMPARING = (Timing, SameAs)
"""The kinds that are judged beside other runs of the session."""
