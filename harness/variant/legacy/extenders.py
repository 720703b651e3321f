"""Extender entries as a Policy spelled them: keys in any case, and a timeout that counts nanoseconds."""

from collections.abc import Mapping
from typing import Any

from harness.scenario.problems import Path
from harness.scenario.words import shown
from harness.variant.legacy.base import Draft, Spot
from harness.variant.legacy.shape import DURATION, EXTENDER, spelled

_SECOND = 1_000_000_000
_SMALL = (("ms", 1_000_000), ("µs", 1_000), ("ns", 1))


def translate_extenders(draft: Draft, spot: Spot) -> None:
    """Add the extenders of an old configuration to the new one."""
    if not draft.items(spot):
        return
    extenders = draft.config.setdefault("extenders", [])
    for part in spot.parts():
        path = ("extenders", len(extenders))
        draft.kept(part, path)
        if draft.mapping(part):
            extenders.append(_mapping(draft, part, path, EXTENDER))
        else:
            extenders.append({})


def _mapping(draft: Draft, spot: Spot, path: Path, shape: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping with the keys of v1, in the order in which it was written."""
    made: dict[str, Any] = {}
    for part in spot.parts():
        key = spelled(part.key, list(shape))
        if key is None and part.key.lower() == "apiversion" and shape is EXTENDER:
            draft.change("dropped", part, "kube-scheduler looks at no version of an extender", path)
            continue
        if key is None:
            draft.unknown(part, list(shape))
            continue
        if key in made:
            draft.refuse(part, f"{shown(key)} is given twice, in different spellings; leave one out")
            continue
        inside = (*path, key)
        value = _value(draft, part, inside, shape[key])
        if value is _LEFT_OUT:
            continue
        made[key] = value
        draft.kept(part, inside)
        if key != part.key:
            draft.change("renamed", part, f"is {key}; v1 wants this spelling exactly", inside)
    return made


_LEFT_OUT = object()


def _value(draft: Draft, part: Spot, path: Path, shape: Any) -> Any:
    data = part.data
    if isinstance(shape, Mapping) and isinstance(data, Mapping):
        return _mapping(draft, part, path, shape)
    if isinstance(shape, list) and isinstance(data, list):
        return [_value(draft, part.at(index), (*path, index), shape[0]) for index in range(len(data))]
    if shape == DURATION and isinstance(data, int) and not isinstance(data, bool):
        return _timeout(draft, part, path, data)
    return data


def _timeout(draft: Draft, part: Spot, path: Path, nanoseconds: int) -> Any:
    if nanoseconds == 0:
        draft.change("dropped", part, "0 means the default of 5s, as no httpTimeout does", path)
        return _LEFT_OUT
    text = go_duration(nanoseconds)
    draft.change("converted", part, f"{nanoseconds} nanoseconds are written {text}; v1 wants a duration", path)
    return text


def go_duration(nanoseconds: int) -> str:
    """Return a duration as Go writes it: 5s, 250ms, 1m30s."""
    sign, left = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if left < _SECOND:
        unit, size = next((unit, size) for unit, size in (*_SMALL, ("", 0)) if left >= size)
        return f"{sign}{_decimal(left, size)}{unit}" if unit else "0s"
    minutes, rest = divmod(left, 60 * _SECOND)
    hours, minutes = divmod(minutes, 60)
    words = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{words}{_decimal(rest, _SECOND)}s"


def _decimal(value: int, size: int) -> str:
    whole, rest = divmod(value, size)
    digits = len(str(size)) - 1
    return f"{whole}.{rest:0{digits}d}".rstrip("0") if rest else str(whole)
