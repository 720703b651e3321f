"""What a scenario demands of extenders and of what a run leaves beside its pods: calls, findings, metrics, logs."""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, StrictBool, StrictFloat, StrictInt, model_validator

from harness.scenario.choosing import Choosing, Selecting
from harness.scenario.extenders import CallKind
from harness.scenario.fields import SECONDS_MAX, Model, Range, Regex, Word
from harness.scenario.variants import VariantName

InvariantName = Literal[
    "settled", "schedulerAlive", "nodesAlive", "overcommit", "doubleBinding", "ghostNode", "missingPod"
]

_Chance = Annotated[StrictFloat, Field(gt=0, lt=1, allow_inf_nan=False)]
_EXTENDER = Field(default=None, description="Name of the extender; every one unless told.")
_Gap = Annotated[StrictFloat, Field(ge=0, le=SECONDS_MAX, allow_inf_nan=False)]


def _only_true(value: bool) -> bool:
    if not value:
        raise ValueError("false seen, true expected; that an invariant holds is judged without being written")
    return value


class Calls(Choosing):
    """How often, when and how extenders were called."""

    kind: Literal["calls"] = "calls"
    verb: CallKind = Field(description="What the calls are for: filter, prioritize, preempt or bind.")
    extender: Word | None = _EXTENDER
    count: Range | None = Field(default=None, description="How many calls there are in all.")
    per_pod: Range | None = Field(default=None, description="How many calls there are about every chosen pod.")
    status: Annotated[StrictInt, Field(ge=100, le=599)] | None = Field(
        default=None, description="Only calls that were answered with this HTTP status."
    )
    ending: Literal["answered", "aborted", "cut", "unreachable", "open"] | None = Field(
        default=None, description="Only calls that ended like this."
    )
    gaps_at_least: tuple[_Gap, ...] | None = Field(
        default=None, description="Seconds that lie at least between successive calls about a pod, gap by gap."
    )
    unfaulted: StrictBool = Field(default=False, description="true: only calls that no fault of the tap broke.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.count is None and self.per_pod is None and not self.gaps_at_least:
            raise ValueError("nothing is demanded; give at least one of count, perPod, gapsAtLeast")
        return self


class HighestScore(Choosing):
    """Every chosen pod is on the node that alone got the most points from extenders."""

    kind: Literal["highestScore"] = "highestScore"


class Attempts(Selecting):
    """How often pods were tried by an extender that decides by lot, within exact bounds of chance."""

    kind: Literal["attempts"] = "attempts"
    chance: _Chance = Field(description="Probability that one attempt finds a node.")
    node_chance: _Chance | None = Field(default=None, description="Probability that one node is kept.")
    false_alarms: Annotated[StrictFloat, Field(ge=1e-12, lt=1)] = Field(
        default=1e-6, description="Share of runs that luck alone may get rejected."
    )


class Findings(Model):
    """What the harness finds wrong with extenders: exactly these codes."""

    kind: Literal["findings"] = "findings"
    codes: tuple[Word, ...] = Field(description="The codes of all findings, in any order; an empty list for none.")
    extender: Word | None = _EXTENDER
    provoked: StrictBool = Field(
        default=False, description="true: also what faults and stopped extenders of the scenario itself caused."
    )


class Traced(Choosing):
    """Which extension points pods went through, in which order, and what was answered there."""

    kind: Literal["trace"] = "trace"
    points: Annotated[tuple[str, ...], Field(min_length=1)] = Field(
        description="Extension points, such as Filter and Unreserve, in the order they are first reached."
    )
    plugin: str | None = Field(default=None, description="Only calls of this plugin; of every plugin unless told.")
    codes: dict[str, str] = Field(default={}, description="Answer that is among those of a point, such as Success.")
    arguments: dict[str, Any] = Field(default={}, description="What the plugin understood of its pluginConfig.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.arguments and self.plugin is None:
            raise ValueError("arguments are those of one plugin; give plugin")
        return self


class Metric(Model):
    """What the schedulers' metrics say, summed over the series that match and over all schedulers."""

    kind: Literal["metric"] = "metric"
    name: Annotated[str, Field(min_length=1)] = Field(description="Name, such as scheduler_schedule_attempts_total.")
    labels: dict[str, str] = Field(default={}, description="Only series with these labels.")
    increase: Range | None = Field(default=None, description="By how much it grew during the run.")
    value: Range | None = Field(default=None, description="What it is at the end.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.increase is None and self.value is None:
            raise ValueError("nothing is demanded; give increase, value or both")
        return self


class Log(Model):
    """Lines that a component logged during the run."""

    kind: Literal["log"] = "log"
    part: Word = Field(default="kube-scheduler", description="Whose log; that of kube-scheduler unless told.")
    message: Regex = Field(description="Regular expression found in the line.")
    count: Range = Field(default=Range(min=1), description="How many lines; at least one unless told.")


class InvariantViolated(Model):
    """An invariant that this scenario breaks on purpose; its rejection is then what is expected."""

    kind: Literal["invariant"] = "invariant"
    name: InvariantName = Field(description="Which invariant.")
    violated: Annotated[StrictBool, AfterValidator(_only_true)] = Field(description="true: it has to be violated.")


class SameAs(Selecting):
    """Every chosen pod is on the node it is on with another variant."""

    kind: Literal["sameAs"] = "sameAs"
    relative_to: VariantName = Field(description="The variant to compare with.")
    unless: Word | None = Field(default=None, description="Code of a finding that excuses pods on other nodes.")
    differs: Word | None = Field(
        default=None, description="Code of a finding that has to show: with it, a pod is on another node."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.unless is not None and self.differs is not None:
            raise ValueError("give either unless or differs, both seen")
        return self
