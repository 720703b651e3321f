"""Looks at what a cassette holds before anybody works with it: a file of somebody else's may hold anything."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from harness.errors import InputError
from harness.extender.entry import VERBS

ENDINGS = ("answered", "aborted", "cut", "unreachable", "open")

_NUMBER = "a number"
_WHOLE = "a whole number"
_TEXT = "a string"
_TYPES: dict[str, tuple[type, ...]] = {_NUMBER: (int, float), _WHOLE: (int,), _TEXT: (str,)}
# What stands at each key of a call; null may stand where the second part says so.
_KEYS: dict[str, tuple[str, bool]] = {
    "extender": (_TEXT, False),
    "seq": (_WHOLE, False),
    "t": (_NUMBER, False),
    "kind": (_TEXT, True),
    "path": (_TEXT, False),
    "status": (_WHOLE, True),
    "seconds": (_NUMBER, True),
    "pod": (_TEXT, True),
    "uid": (_TEXT, True),
    "attempt": (_WHOLE, True),
    "raw": (_TEXT, True),
    "fault": (_TEXT, True),
    "ending": (_TEXT, False),
    "omitted": (_TEXT, True),
}


def check_call(line: Mapping[str, Any]) -> None:
    """Refuse a line whose values are none of a call's.

    Raises:
        TypeError, ValueError: says which is not, and what is expected there.
    """
    for key, (expected, may_be_null) in _KEYS.items():
        value = line.get(key)
        if key not in line or (value is None and may_be_null):
            continue
        # A bool is an int to Python, and no number to anybody else.
        if not isinstance(value, _TYPES[expected]) or isinstance(value, bool):
            raise TypeError(f"{key}: {_short(value)} seen, {expected}{' or null' * may_be_null} expected")
    if line.get("kind") is not None and line["kind"] not in VERBS:
        raise ValueError(f"kind: {_short(line['kind'])} seen, one of {', '.join(VERBS)} or null expected")
    if line.get("ending", ENDINGS[0]) not in ENDINGS:
        raise ValueError(f"ending: {_short(line['ending'])} seen, one of {', '.join(ENDINGS)} expected")


def check_header(header: Mapping[str, Any], where: str) -> None:
    """Refuse a header whose extenders are none; what stands in an entry is said by who reads it.

    Raises:
        InputError: says which is not, and what is expected there.
    """
    extenders = header.get("extenders")
    if not isinstance(extenders, list | None):
        raise InputError(f"{where}: extenders: {_short(extenders)} seen, a list expected; record it again")
    for index, one in enumerate(extenders or ()):
        place = f"{where}: extenders[{index}]"
        if not isinstance(one, dict):
            raise InputError(f"{place}: {_short(one)} seen, an object expected; record it again")
        if not isinstance(one.get("name"), str):
            raise InputError(f"{place}.name: {_short(one.get('name'))} seen, a string expected; record it again")
        entry = one.get("entry")
        if not isinstance(entry, dict):
            raise InputError(f"{place}.entry: {_short(entry)} seen, an object expected; record it again")
        try:
            urlsplit(str(entry.get("urlPrefix", "")))
        except ValueError as error:
            raise InputError(f"{place}.entry.urlPrefix: no address ({error}); record it again") from None


def _short(value: Any) -> str:
    """Return a value for a message: a whole body would hide what is said about it."""
    return repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
