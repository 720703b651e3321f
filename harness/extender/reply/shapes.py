"""The types that kube-scheduler decodes replies into, and how Go fills them.

Keys match in any letter case, null leaves the zero value, unknown keys are ignored, and a value of the wrong type
spoils the whole reply. Of a Node only what schedulers decide by is checked.
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from harness.extender.reply.golang import GoError, Number, exactly, members, quickly

_INTEGER = re.compile(r"-?[0-9]+")
_INT64 = range(-(2**63), 2**63)
_QUANTITY = re.compile(r"([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)")
_PLACE_NONE: "Place" = ("", ())

Place = tuple[str, tuple[str, ...]]
"""The innermost struct and the fields that lead to a value, which Go names in its errors."""


@dataclass(frozen=True)
class Shape:
    """A Go type; `go` is how Go writes it."""

    go: str

    def zero(self) -> Any:
        """Return what the type holds before anything is decoded into it."""
        return None

    def fill(self, value: Any, old: Any, place: Place) -> Any:
        """Return what the type holds after a value was decoded into it.

        Raises:
            GoError: the value is of another type.
        """
        raise NotImplementedError

    def _refuse(self, value: Any, place: Place, *, quote: bool = False) -> NoReturn:
        word = _word(value)
        if quote and word == "number":
            word = f"number {value}"
        struct, path = place
        where = f"struct field {struct}.{'.'.join(path)} of" if path else "value of"
        raise GoError(f"json: cannot unmarshal {word} into Go {where} type {self.go}")


@dataclass(frozen=True)
class Text(Shape):
    """A string."""

    go: str = "string"

    def zero(self) -> str:
        """Return the empty string."""
        return ""

    def fill(self, value: Any, old: Any, place: Place) -> Any:
        """Take a string; null changes nothing."""
        if value is None:
            return old
        if not isinstance(value, str) or isinstance(value, Number):
            self._refuse(value, place)
        return value


@dataclass(frozen=True)
class Boolean(Shape):
    """A bool."""

    go: str = "bool"

    def fill(self, value: Any, old: Any, place: Place) -> Any:
        """Take true or false; null changes nothing."""
        if value is None:
            return old
        if not isinstance(value, bool):
            self._refuse(value, place)
        return value


@dataclass(frozen=True)
class Integer(Shape):
    """An int64; a number with a point or an exponent is none, whatever its value."""

    go: str = "int64"

    def zero(self) -> int:
        """Return 0."""
        return 0

    def fill(self, value: Any, old: Any, place: Place) -> Any:
        """Take a whole number of 64 bits; null changes nothing."""
        if value is None:
            return old
        whole = isinstance(value, int) and not isinstance(value, bool)
        if isinstance(value, Number) and _INTEGER.fullmatch(value) and len(value) <= len(str(-(2**63))):
            whole, value = int(value) in _INT64, int(value)
        if not whole or value not in _INT64:
            self._refuse(value, place, quote=True)
        return value


@dataclass(frozen=True)
class Quantity(Shape):
    """An amount of a resource, which decodes itself."""

    go: str = "resource.Quantity"

    def fill(self, value: Any, old: Any, place: Place) -> Any:
        """Take what looks like a quantity, as a string or a number."""
        if value is not None and not (isinstance(value, str | int | float) and _QUANTITY.fullmatch(str(value))):
            raise GoError(f"quantities must match the regular expression '^{_QUANTITY.pattern}$'")
        return value


@dataclass(frozen=True)
class Slice(Shape):
    """A list."""

    of: Shape = field(default_factory=Text)

    def fill(self, value: Any, old: Any, place: Place) -> Any:
        """Take a list; null makes it nil."""
        if value is None:
            return None
        if not isinstance(value, list) or members(value) is not None:
            self._refuse(value, place)
        return [self.of.fill(one, self.of.zero(), place) for one in value]


@dataclass(frozen=True)
class Map(Shape):
    """A map with strings as keys, which are taken as they are."""

    of: Shape = field(default_factory=Text)

    def fill(self, value: Any, old: Any, place: Place) -> Any:
        """Take an object, into what is there already; null makes it nil."""
        if value is None:
            return None
        pairs = members(value)
        if pairs is None:
            self._refuse(value, place)
        filled = dict(old or {})
        for key, part in pairs:
            filled[key] = self.of.fill(part, self.of.zero(), place)
        return filled


@dataclass(frozen=True)
class Filled:
    """A struct after decoding: its fields, the keys that Go ignored with their values, and the object as it came."""

    fields: Mapping[str, Any]
    unknown: Mapping[str, Any] = field(default_factory=dict)
    raw: Any = None


@dataclass(frozen=True)
class Struct(Shape):
    """A struct, or a pointer to one (`nullable`)."""

    name: str = ""
    fields: Mapping[str, Shape] = field(default_factory=dict)
    nullable: bool = False

    def zero(self) -> Any:
        """Return a struct of zero values, or nil for a pointer."""
        return None if self.nullable else Filled({key: shape.zero() for key, shape in self.fields.items()})

    def fill(self, value: Any, old: Any, place: Place) -> Any:
        """Take an object, field by field in the order of the text."""
        if value is None:
            return None if self.nullable else old
        pairs = members(value)
        if pairs is None:
            self._refuse(value, place)
        filled = dict(old.fields) if old else {key: shape.zero() for key, shape in self.fields.items()}
        unknown: dict[str, Any] = dict(old.unknown) if old else {}
        for key, part in pairs:
            name = key if key in self.fields else self._folded(key)
            if name is None:
                unknown[key] = part
                continue
            below = (self.name, (*place[1], name))
            filled[name] = self.fields[name].fill(part, filled[name], below)
        return Filled(filled, unknown, value)

    def _folded(self, key: str) -> str | None:
        folded = fold(key)
        return next((name for name in self.fields if fold(name) == folded), None)


@functools.lru_cache(maxsize=4096)
def fold(key: str) -> str:
    """Return a key so that keys which Go takes for the same are equal."""
    return "".join(low if len(low := one.casefold()) == 1 else one for one in key)


def unmarshal(shape: Shape, body: bytes, cut: str | None = None) -> Any:
    """Decode the first JSON value of a reply.

    Args:
        shape: what to decode it into.
        body: what was read.
        cut: what the connection said instead of a clean end, if it did not end cleanly.

    Raises:
        GoError: Go refuses it; the text is Go's.
    """
    try:
        return shape.fill(quickly(body), shape.zero(), _PLACE_NONE)
    except (ValueError, GoError):
        return shape.fill(exactly(body, cut), shape.zero(), _PLACE_NONE)


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, Number | int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if members(value) is None else "object"


_STRINGS = Map("map[string]string")
_METADATA = Struct("v1.ObjectMeta", "ObjectMeta", {"name": Text(), "labels": _STRINGS, "annotations": _STRINGS})
_TAINT = Struct("v1.Taint", "Taint", {"key": Text(), "value": Text(), "effect": Text("v1.TaintEffect")})
_SPEC = Struct("v1.NodeSpec", "NodeSpec", {"unschedulable": Boolean(), "taints": Slice("[]v1.Taint", _TAINT)})
_AMOUNTS = Map("v1.ResourceList", Quantity())
_STATUS = Struct("v1.NodeStatus", "NodeStatus", {"capacity": _AMOUNTS, "allocatable": _AMOUNTS})
_NODE = Struct("v1.Node", "Node", {"metadata": _METADATA, "spec": _SPEC, "status": _STATUS})
_LIST_METADATA = Struct("v1.ListMeta", "ListMeta")
_NODES = Struct(
    "v1.NodeList", "NodeList", {"metadata": _LIST_METADATA, "items": Slice("[]v1.Node", _NODE)}, nullable=True
)
_FAILED = Map("v1.FailedNodesMap")

FILTER_RESULT = Struct(
    "v1.ExtenderFilterResult",
    "ExtenderFilterResult",
    {
        "Nodes": _NODES,
        "NodeNames": Slice("[]string"),
        "FailedNodes": _FAILED,
        "FailedAndUnresolvableNodes": _FAILED,
        "Error": Text(),
    },
)
_SCORE = Struct("v1.HostPriority", "HostPriority", {"Host": Text(), "Score": Integer()})
PRIORITY_LIST = Slice("v1.HostPriorityList", _SCORE)
_META_POD = Struct("v1.MetaPod", "MetaPod", {"UID": Text()}, nullable=True)
_META_VICTIMS = Struct(
    "v1.MetaVictims",
    "MetaVictims",
    {"Pods": Slice("[]*v1.MetaPod", _META_POD), "NumPDBViolations": Integer()},
    nullable=True,
)
PREEMPTION_RESULT = Struct(
    "v1.ExtenderPreemptionResult",
    "ExtenderPreemptionResult",
    {"NodeNameToMetaVictims": Map("map[string]*v1.MetaVictims", _META_VICTIMS)},
)
BINDING_RESULT = Struct("v1.ExtenderBindingResult", "ExtenderBindingResult", {"Error": Text()})
