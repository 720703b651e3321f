"""Steps that break an extender on purpose: faults that the tap injects, and the death and return of its process."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, StrictFloat, StrictInt, model_validator

from harness.scenario.extenders import CallKind
from harness.scenario.fields import SECONDS_MAX, Count, CountOrZero, Model, ObjectName, Seconds, Word

FaultKind = Literal[
    "delay", "hang", "refuse", "reset", "close", "status", "empty", "garbage", "body", "truncate", "slow", "huge",
    "ghost", "duplicate",
]  # fmt: skip

# What each kind cannot do without, and what else it understands.
_NEEDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "delay": (("seconds",), ("distribution", "spread_seconds")),
    "hang": ((), ()),
    "refuse": ((), ()),
    "reset": ((), ("after_bytes",)),
    "close": ((), ()),
    "status": (("status",), ("body", "location")),
    "empty": ((), ()),
    "garbage": ((), ()),
    "body": (("body",), ()),
    "truncate": ((), ("share_of_body",)),
    "slow": (("bytes_per_second",), ()),
    "huge": (("bytes",), ()),
    "ghost": ((), ("node",)),
    "duplicate": ((), ()),
}
_OWN = tuple(dict.fromkeys(name for needed, known in _NEEDS.values() for name in (*needed, *known)))
# These spoil what the extender itself answered, so it has to be asked first.
_AT_REPLY = frozenset({"truncate", "slow", "huge", "ghost", "duplicate"})
BODY_BYTES_MAX = 256 * 1024 * 1024

Share = Annotated[StrictFloat, Field(gt=0, le=1, allow_inf_nan=False)]


class Named(Model):
    """A step about one extender of the scenario."""

    extender: Word | None = Field(default=None, description="Name of the extender; every one unless told.")


class Fault(Named):
    """Makes the tap break calls from now on, until clearFaults; several faults add up, the first that fits wins."""

    op: Literal["fault"] = "fault"
    kind: FaultKind = Field(description="What goes wrong.")
    verb: CallKind | None = Field(default=None, description="Only calls of this kind; every call unless told.")
    share: Share = Field(default=1.0, description="Share of the calls, drawn with the run's seed.")
    skip: CountOrZero = Field(default=0, description="How many calls go well first.")
    calls: Count | None = Field(default=None, description="How many calls go wrong; every one unless told.")
    after_seconds: Annotated[StrictFloat, Field(ge=0, le=SECONDS_MAX, allow_inf_nan=False)] = Field(
        default=0.0, description="Begins so long after the step."
    )
    for_seconds: Seconds | None = Field(default=None, description="Lasts so long; until clearFaults unless told.")
    at: Literal["request", "reply"] | None = Field(
        default=None, description="request: the extender is not asked. reply: it is, and its answer is spoilt."
    )
    seconds: Seconds | None = Field(default=None, description="delay: how long.")
    distribution: Literal["fixed", "uniform", "exponential", "normal"] | None = Field(
        default=None, description="delay: how the time is drawn; fixed unless told."
    )
    spread_seconds: Seconds | None = Field(default=None, description="delay: half width, or standard deviation.")
    status: Annotated[StrictInt, Field(ge=200, le=599)] | None = Field(default=None, description="status: the code.")
    body: str | None = Field(default=None, description="status, body: the text; {call} in body is the call's number.")
    location: str | None = Field(default=None, description="status: the Location header of a redirect.")
    after_bytes: CountOrZero | None = Field(default=None, description="reset: bytes of the reply that still arrive.")
    share_of_body: Share | None = Field(default=None, description="truncate: what arrives; half unless told.")
    bytes_per_second: Count | None = Field(default=None, description="slow: how fast the reply's body comes.")
    bytes: Annotated[StrictInt, Field(ge=1, le=BODY_BYTES_MAX)] | None = Field(
        default=None, description="huge: size of the reply."
    )
    node: ObjectName | None = Field(default=None, description='ghost: name of the node; "ghost" unless told.')

    @model_validator(mode="after")
    def _check(self) -> Self:
        needed, known = _NEEDS[self.kind]
        missing = [name for name in needed if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{self.kind} needs {_spelled(missing)}")
        strange = [name for name in _OWN if getattr(self, name) is not None and name not in (*needed, *known)]
        if strange:
            raise ValueError(f"{self.kind} does not know {_spelled(strange)}")
        if self.kind == "refuse" and (self.verb or self.share != 1.0 or self.skip or self.calls or self.at):
            raise ValueError("refuse closes the port for every call: it knows only extender, afterSeconds, forSeconds")
        if self.kind in _AT_REPLY and self.at == "request":
            raise ValueError(f"{self.kind} spoils the extender's own answer: at can only be reply")
        return self

    def spelled(self) -> str:
        """Return the fault as `--fault` takes it: `status,status=500,verb=bind`."""
        given = self.model_dump(exclude_defaults=True, exclude={"op", "kind"}, by_alias=True, mode="json")
        return ",".join([self.kind, *(f"{key}={value}" for key, value in given.items())])

    def to_tap(self, seed: int, path_segment: str | None) -> dict[str, Any]:
        """Return the fault as the tap reads it; `path_segment` is how the configuration spells the verb."""
        values = self.model_dump(exclude_none=True, exclude={"op", "extender", "verb", "at"})
        at = self.at or ("reply" if self.kind in _AT_REPLY else "request")
        return {**values, "verb": path_segment, "at": at, "seed": seed}


class ClearFaults(Named):
    """Ends every fault."""

    op: Literal["clearFaults"] = "clearFaults"


class StopExtender(Named):
    """Ends an extender's process, as a crash or a rollout would."""

    op: Literal["stopExtender"] = "stopExtender"
    how: Literal["kill", "terminate"] = Field(default="kill", description="kill: at once. terminate: it may finish.")


class StartExtender(Named):
    """Starts an extender's process again, on the same port."""

    op: Literal["startExtender"] = "startExtender"


def _spelled(names: list[str]) -> str:
    return ", ".join(name.split("_")[0] + "".join(part.title() for part in name.split("_")[1:]) for name in names)
