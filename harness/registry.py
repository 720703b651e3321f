"""Finds an implementation by its name, built in or brought by an installed package; imported only when chosen."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from harness.errors import InputError


@dataclass(frozen=True)
class Registry:
    """Names and what they stand for ("module:Class"); strangers join through the entry point group."""

    noun: str
    group: str
    built_in: Mapping[str, str]

    def names(self) -> list[str]:
        """Return every name that `make` accepts."""
        return [*self.built_in, *sorted(set(entry_points(group=self.group).names) - set(self.built_in))]

    def make(self, name: str) -> Any:
        """Return a new instance.

        Raises:
            InputError: there is none of that name; the message lists what there is.
        """
        if name in self.built_in:
            module, _, attribute = self.built_in[name].partition(":")
            return getattr(importlib.import_module(module), attribute)()
        for point in entry_points(group=self.group, name=name):
            return point.load()()
        raise InputError(f'{self.noun} "{name}": not available; choose from: {", ".join(self.names())}')
