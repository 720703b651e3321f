"""Puts a size's parameters into the plain data of a scenario or manifest, before anything is validated.

`$name` as a whole value becomes the parameter's value with its type, `${name}` inside text becomes its text, `$$` is a
dollar sign. A `$` that starts none of these (a regular expression's end, `$(VAR)`) stands for itself.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from harness.scenario.problems import Path
from harness.scenario.words import did_you_mean, listed, shown

NAME = r"[A-Za-z_][A-Za-z0-9_]*"

_WHOLE = re.compile(rf"\$({NAME})")
_INSIDE = re.compile(rf"\$(?:(?P<dollar>\$)|\{{(?P<braced>{NAME})\}}|(?P<bare>{NAME}))")
_KEY = re.compile(rf"\$(?:\{{{NAME}\}}|{NAME})")


@dataclass
class Substitution:
    """Replaces the references in one or more values, and remembers which parameters were used."""

    parameters: Mapping[str, Any]
    used: set[str] = field(default_factory=set)
    faults: list[tuple[Path, str]] = field(default_factory=list)

    def apply(self, value: Any, path: Path = (), keep: Iterable[str] = ()) -> Any:
        """Return a copy of a value with its references replaced, but for the top-level keys to `keep`."""
        if isinstance(value, str):
            return self._text(value, path)
        if isinstance(value, list):
            return [self.apply(item, (*path, index)) for index, item in enumerate(value)]
        if isinstance(value, dict):
            kept = frozenset(keep)
            for key in value:
                self._check_key(key, path)
            return {key: item if key in kept else self.apply(item, (*path, key)) for key, item in value.items()}
        return value

    def _text(self, text: str, path: Path) -> Any:
        whole = _WHOLE.fullmatch(text)
        if whole:
            return self._value(whole[1], path, text)
        return _INSIDE.sub(lambda match: self._part(match, path), text)

    def _part(self, match: re.Match[str], path: Path) -> str:
        if match["dollar"]:
            return "$"
        if match["braced"]:
            value = self._value(match["braced"], path, match[0])
            return value if isinstance(value, str) else shown(value)
        if match["bare"] in self.parameters:
            name = match["bare"]
            message = f"{shown('$' + name)} inside text stays as it is; write ${{{name}}} for the parameter"
            self.faults.append((path, f"{message} or $${name} for a dollar sign"))
        return match[0]

    def _value(self, name: str, path: Path, reference: str) -> Any:
        if name in self.parameters:
            self.used.add(name)
            return self.parameters[name]
        known = did_you_mean(name, self.parameters)
        message = f"undefined parameter {shown(reference)}{known} defined: {listed(self.parameters)}"
        self.faults.append((path, f"{message}; write ${reference} for a dollar sign"))
        return reference

    def _check_key(self, key: str, path: Path) -> None:
        reference = _KEY.search(key)
        if reference and reference[0].strip("${}") in self.parameters:
            self.faults.append(((*path, key), "a parameter cannot stand in a key; write the key out"))


def _literal(value: Any) -> Any:
    if is_reference(value):
        raise ValueError(f"{shown(value)} refers to a parameter; a parameter's value has to be written out")
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _literal(part)
    return value


ParameterName = Annotated[str, Field(pattern=rf"^{NAME}$")]
Parameters = dict[ParameterName, Annotated[Any, AfterValidator(_literal)]]
"""Values for parameters, as a scenario gives them: they refer to no other parameter."""


def is_reference(value: Any) -> bool:
    """Tell whether a value is text that refers to a parameter."""
    return isinstance(value, str) and _KEY.search(value.replace("$$", "")) is not None


def unbraced(value: Any) -> str | None:
    """Return `$name` for a value that is `${name}` as a whole, else None."""
    match = _INSIDE.fullmatch(value) if isinstance(value, str) else None
    return f"${match['braced']}" if match and match["braced"] else None
