"""What a translation is made of: places in the old text, the changes that were needed, and the problems on the way."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from harness.scenario.positions import Document
from harness.scenario.problems import Path, Problem, dotted
from harness.scenario.words import did_you_mean, listed, shown

GROUP = "kubescheduler.config.k8s.io"
KIND = "KubeSchedulerConfiguration"
V1 = f"{GROUP}/v1"

Kind = Literal["renamed", "converted", "default", "dropped", "unsupported"]


@dataclass(frozen=True)
class Source:
    """A text and what to call it in messages."""

    text: str
    where: str


Files = Callable[[str], "Source | str | None"]
"""Finds the text that a configuration refers to, by path or as `configmap:NAMESPACE/NAME`; None if it is not there."""


@dataclass(frozen=True)
class Change:
    """One difference between the old text and the new one.

    Attributes:
        path: where it stood, such as `extenders[0].enableHttps`.
        text: one sentence about it.
        kind: `renamed` and `converted` keep the meaning; `default` tells of a default that differs now; `dropped` had
            no effect or needs no successor; `unsupported` is lost, and the text says what comes nearest.
        line: its line in `file`, from 1.
        file: the file that it stood in.
        beside: the place in the new configuration that it concerns.
    """

    path: str
    text: str
    kind: Kind
    line: int
    file: str = ""
    beside: Path = ()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.path + ': ' if self.path else ''}{self.text} ({self.kind})"


@dataclass(frozen=True)
class Translation:
    """A configuration that kube-scheduler reads today, and what a person should know about how it came about.

    Attributes:
        config: the configuration, v1.
        changes: what differs from the old one, in the order of the old text.
        text: the configuration as YAML, with a comment for every change; a v1 text is returned as it was.
        warnings: what kube-scheduler accepts but a person should look at, with file and line.
    """

    config: dict[str, Any]
    changes: tuple[Change, ...]
    text: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Spot:
    """A value of the old text, with its place."""

    where: str
    document: Document
    path: Path = ()

    @property
    def data(self) -> Any:
        """The value."""
        value = self.document.data
        for key in self.path:
            value = value[key]
        return value

    @property
    def line(self) -> int:
        """Its line, from 1."""
        return self.document.line(self.path)

    @property
    def key(self) -> str:
        """The last part of its path."""
        return str(self.path[-1]) if self.path else ""

    def at(self, key: str | int) -> "Spot":
        """Return the place of a part of it, whether that is there or not."""
        return Spot(self.where, self.document, (*self.path, key))

    def get(self, key: str) -> Any:
        """Return a part of a mapping, None when it is not there."""
        data = self.data
        return data.get(key) if isinstance(data, Mapping) else None

    def parts(self) -> Iterator["Spot"]:
        """Yield the places of all parts of a mapping or list."""
        data = self.data
        keys: Any = data if isinstance(data, Mapping) else range(len(data or ()))
        return (self.at(key) for key in keys)

    def problem(self, message: str) -> Problem:
        """Return a problem with this value."""
        return Problem(self.where, self.line, self.path, message)


@dataclass
class Draft:
    """The new configuration while it is made."""

    config: dict[str, Any] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    origins: dict[Path, Spot] = field(default_factory=dict)
    """Where in the old text a part of the new configuration comes from."""

    is_strict: bool = False
    """Whether the old text is v1, of which kube-scheduler wants every key to be right."""

    def change(self, kind: Kind, spot: Spot, text: str, beside: Path = ()) -> None:
        """Note a difference."""
        self.changes.append(Change(dotted(spot.path), text, kind, spot.line, spot.where, beside))

    def refuse(self, spot: Spot, message: str) -> None:
        """Note what makes the translation impossible."""
        self.problems.append(spot.problem(message))

    def unknown(self, spot: Spot, known: list[str]) -> None:
        """Refuse a key that nobody knows."""
        told = "unknown key, which kube-scheduler refuses to start with" if self.is_strict else "unknown key"
        self.refuse(spot, f"{told}{did_you_mean(spot.key, known)} known: {listed(known)}")

    def kept(self, spot: Spot, path: Path) -> None:
        """Note where a part of the new configuration comes from."""
        self.origins[path] = spot

    def origin(self, path: Path) -> Spot:
        """Return where a part of the new configuration comes from, or its nearest ancestor that has an origin."""
        rest: Path = ()
        while path not in self.origins:
            path, rest = path[:-1], (path[-1], *rest)
        spot = self.origins[path]
        for key in rest:
            data = spot.data
            if not (isinstance(data, Mapping) and key in data) and not (
                isinstance(data, list) and isinstance(key, int)
            ):
                break
            spot = spot.at(key)
        return spot

    def mapping(self, spot: Spot) -> bool:
        """Return whether a value is a mapping; refuse it when it is something else, but for null."""
        return self._is(spot, dict, "a mapping")

    def items(self, spot: Spot) -> bool:
        """Return whether a value is a list; refuse it when it is something else, but for null."""
        return self._is(spot, list, "a list")

    def _is(self, spot: Spot, wanted: type, word: str) -> bool:
        data = spot.data
        if data is not None and not isinstance(data, wanted):
            self.refuse(spot, f"{shown(data)} seen, {word} expected")
        return isinstance(data, wanted)
