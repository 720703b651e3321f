"""Whether values that were read are of the kinds that they are declared with: files may hold anything."""

import functools
import types
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

Value = TypeVar("Value")


def checked(value: Value) -> Value:
    """Return a dataclass's instance whose fields hold what they are declared with, and so do texts in tuples.

    Raises:
        TypeError: one does not.
    """
    kind: Any = type(value)
    for name, kinds, texts in _declared(kind):
        found = getattr(value, name)
        if not isinstance(found, kinds) or (texts and any(not isinstance(one, str) for one in getattr(value, name))):
            raise TypeError(f"{name}: {type(found).__name__} seen that does not fit")
    return value


@functools.cache
def _declared(kind: type) -> Sequence[tuple[str, tuple[type, ...], bool]]:
    hints = get_type_hints(kind)
    names = [one.name for one in fields(kind)]
    return [(name, tuple(_kinds(hints[name])), hints[name] == tuple[str, ...]) for name in names]


def _kinds(hint: Any) -> list[type]:
    """Return the classes whose instances a type allows."""
    origin = get_origin(hint)
    if hint is Any:
        return [object]
    if origin in (Union, types.UnionType):
        return [kind for part in get_args(hint) for kind in _kinds(part)]
    if origin is Literal:
        return [type(part) for part in get_args(hint)]
    if hint is float:
        # A whole number is written without a point.
        return [float, int]
    return [origin or hint]
