"""Reads YAML into plain data that remembers where each value stands, so that every later complaint has a line.

Built from parser events instead of `yaml.load`: composing deeply nested text in C overflows the stack and ends the
process. Never executes a tag. Scalars follow Kubernetes, with the words of YAML 1.2: only `true` and `false` are
booleans (`on:` is a key of an expectation), and a date stays text.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from harness.scenario.problems import Path, Problem
from harness.scenario.words import shown

DEPTH_MAX = 64
VALUES_MAX = 200_000
MERGE_KEY = "<<"

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CORE = "tag:yaml.org,2002:"
_PLAIN_TAGS = {None, "!", *(_CORE + kind for kind in ("null", "bool", "int", "float", "str", "map", "seq"))}
_NULL = re.compile(r"~|null|Null|NULL|")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
# A leading zero means octal, as in every Kubernetes manifest that says defaultMode: 0644.
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)|0x[0-9a-fA-F]+|0o?[0-7]+")
_FLOAT = re.compile(r"[-+]?(?:(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)")
_NUMBER_CHARACTERS_MAX = 30


@dataclass(frozen=True)
class Document:
    """One YAML document: its data, and the line (from 1) of every key and list item by path."""

    data: Any
    lines: Mapping[Path, int]

    def line(self, path: Path) -> int:
        """Return the line of a path, or of its nearest ancestor that stands in the file."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def read(text: str, file: str) -> tuple[list[Document], list[Problem]]:
    """Return every document of a text, and what is wrong with the text.

    Text that cannot be parsed gives no documents; a repeated key gives a problem beside the documents.
    """
    reader = _Reader(file)
    try:
        events = yaml.parse(text, Loader=_LOADER)
        return list(reader.documents(events)), reader.problems
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = f"{error.context}, {error.problem}" if error.context and error.problem else error.problem
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        return [], [Problem(file, line, (), f"broken YAML: {what}", column)]
    except yaml.reader.ReaderError as error:
        # The parser in C counts bytes, the one in Python characters: look for the culprit instead.
        culprit = yaml.reader.Reader.NON_PRINTABLE.search(text)
        at = culprit.start() if culprit else 0
        what = f"broken YAML: character {text[at : at + 1]!a} is not allowed: {error.reason}"
        return [], [Problem(file, text.count("\n", 0, at) + 1, (), what, at - text.rfind("\n", 0, at))]
    except _UnreadableError as error:
        return [], [*reader.problems, error.problem]


class _UnreadableError(Exception):
    """The text is YAML, but nothing sensible can be built from it."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(str(problem))


@dataclass(frozen=True)
class _Built:
    """A value with its extent, so that aliases cannot blow up what few lines describe."""

    data: Any
    count: int = 1
    depth: int = 1


@dataclass
class _Reader:
    """Builds documents from parser events."""

    file: str
    problems: list[Problem] = field(default_factory=list)
    lines: dict[Path, int] = field(default_factory=dict)
    anchors: dict[str, _Built] = field(default_factory=dict)

    def documents(self, events: Iterator[yaml.Event]) -> Iterator[Document]:
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                self.lines, self.anchors = {}, {}
                first = next(events)
                self.lines[()] = _line(first)
                yield Document(self.value(first, events, ()).data, self.lines)

    def value(self, event: yaml.Event, events: Iterator[yaml.Event], path: Path) -> _Built:
        """Return the value that starts with this event, and take its events."""
        anchor: str | None = getattr(event, "anchor", None)
        if isinstance(event, yaml.AliasEvent):
            if anchor not in self.anchors:
                raise self.unreadable(event, path, f"alias {shown(f'*{anchor}')} has no anchor before it")
            return self.anchors[anchor]
        tag: str | None = getattr(event, "tag", None)
        if tag not in _PLAIN_TAGS:
            raise self.unreadable(event, path, f"tag {shown(tag)} is not accepted; write plain values")
        if len(path) >= DEPTH_MAX:
            raise self.unreadable(event, path[:3], f"nested deeper than {DEPTH_MAX} levels")
        if isinstance(event, yaml.SequenceStartEvent):
            built = self.sequence(events, path)
        elif isinstance(event, yaml.MappingStartEvent):
            built = self.mapping(events, path)
        else:
            built = _Built(self.scalar(event, tag, path))
        if built.count > VALUES_MAX or built.depth > DEPTH_MAX:
            raise self.unreadable(event, path, f"grows beyond {VALUES_MAX} values or {DEPTH_MAX} levels")
        if anchor is not None:
            self.anchors[anchor] = built
        return built

    def sequence(self, events: Iterator[yaml.Event], path: Path) -> _Built:
        items: list[_Built] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            item_path = (*path, len(items))
            self.lines[item_path] = _line(event)
            items.append(self.value(event, events, item_path))
        return _joined([item.data for item in items], items)

    def mapping(self, events: Iterator[yaml.Event], path: Path) -> _Built:
        values: dict[str, _Built] = {}
        merged: list[_Built] = []
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            if not isinstance(event, yaml.ScalarEvent):
                raise self.unreadable(event, path, "a key has to be a word, a list or mapping seen")
            # Keys are always text, as in JSON: `on`, `1` and `true` are themselves.
            key = event.value
            key_path = (*path, key)
            line = _line(event)
            if key in values:
                first = self.lines[key_path]
                problem = f"duplicate key; the first one stands in line {first}; remove one of them"
                self.problems.append(Problem(self.file, line, key_path, problem))
            self.lines.setdefault(key_path, line)
            value = self.value(next(events), events, key_path)
            if key == MERGE_KEY and event.implicit[0]:
                merged.append(value)
            else:
                values[key] = value
        for built in merged:
            self.merge(built, values, path)
        return _joined({key: built.data for key, built in values.items()}, [*values.values(), *merged])

    def merge(self, built: _Built, values: dict[str, _Built], path: Path) -> None:
        """Add what a `<<` key brings in, unless the mapping says otherwise itself."""
        for source in built.data if isinstance(built.data, list) else [built.data]:
            if not isinstance(source, dict):
                line = self.lines[(*path, MERGE_KEY)]
                raise _UnreadableError(Problem(self.file, line, path, f'"<<" merges mappings, {shown(source)} seen'))
            for key, value in source.items():
                values.setdefault(key, _Built(value, built.count, built.depth))

    def scalar(self, event: yaml.Event, tag: str | None, path: Path) -> Any:
        text: str = getattr(event, "value", "")
        plain = getattr(event, "implicit", (False,))[0]
        if tag in ("!", _CORE + "str") or (tag is None and not plain):
            return text
        try:
            return _typed(text)
        except ValueError as error:
            raise self.unreadable(event, path, str(error)) from None

    def unreadable(self, event: yaml.Event, path: Path, message: str) -> _UnreadableError:
        return _UnreadableError(Problem(self.file, _line(event), path, message))


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _joined(data: Any, parts: list[_Built]) -> _Built:
    return _Built(data, 1 + sum(part.count for part in parts), 1 + max((part.depth for part in parts), default=0))


def _typed(text: str) -> Any:
    """Return what an unquoted scalar stands for."""
    if _NULL.fullmatch(text):
        return None
    if _BOOL.fullmatch(text):
        return text.lower() == "true"
    is_int, is_float = _INT.fullmatch(text), _FLOAT.fullmatch(text)
    if not is_int and not is_float:
        return text
    if len(text) > _NUMBER_CHARACTERS_MAX:
        raise ValueError(f"{shown(text)} has too many digits; put it in quotes if it is text")
    if is_int:
        octal = text.startswith("0") and text.isdigit() and len(text) > 1
        return int(text, 8) if octal else int(text, 0)
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{shown(text)} is too large; put it in quotes if it is text")
    return number
