"""Parses and matches Kubernetes label selectors, so that a typo is an error at load and not an empty match later.

The grammar is that of `kubectl -l`: `a=b`, `a==b`, `a!=b`, `a in (x,y)`, `a notin (x,y)`, `a`, `!a`, with commas.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from harness.scenario import names
from harness.scenario.words import shown

_TOKEN = re.compile(r"\s*(?:(?P<operator>==|!=|=|!|\(|\)|,)|(?P<word>[^\s=!(),]+))")
_SYNTAX = "write a=b, a!=b, a in (x,y), a notin (x,y), a or !a, joined by commas"
_WORD_ENDS = ("", ",")


@dataclass(frozen=True)
class Requirement:
    """One part of a selector: `negated` turns "has one of values" (any value when None) around."""

    key: str
    values: frozenset[str] | None
    negated: bool

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether the labels meet this requirement; an absent key meets every negated one."""
        found = self.key in labels and (self.values is None or labels[self.key] in self.values)
        return found != self.negated


@dataclass(frozen=True)
class Selector:
    """A parsed selector; the empty one matches everything."""

    text: str
    requirements: tuple[Requirement, ...]

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether the labels meet every requirement."""
        return all(requirement.matches(labels) for requirement in self.requirements)

    def __str__(self) -> str:
        return self.text


@lru_cache(maxsize=256)
def parse(text: str) -> Selector:
    """Return the selector a text describes.

    Raises:
        ValueError: the text is no selector; the message says where it stops making sense.
    """
    reader = _Reader(text)
    requirements = []
    while reader.peek():
        requirements.append(_requirement(reader))
        if not reader.peek():
            break
        reader.take(",")
        if not reader.peek():
            raise reader.error("another requirement")
    return Selector(text, tuple(requirements))


def _requirement(reader: "_Reader") -> Requirement:
    if reader.peek() == "!":
        reader.take("!")
        return Requirement(_key(reader), None, negated=True)
    key = _key(reader)
    operator = reader.peek()
    if operator in _WORD_ENDS:
        return Requirement(key, None, negated=False)
    if operator in ("=", "==", "!="):
        reader.take(operator)
        value = "" if reader.peek() in _WORD_ENDS else _value(reader)
        return Requirement(key, frozenset({value}), negated=operator == "!=")
    if operator in ("in", "notin"):
        reader.take(operator)
        return Requirement(key, _values(reader), negated=operator == "notin")
    raise reader.error('"=", "!=", "in", "notin" or ","')


def _values(reader: "_Reader") -> frozenset[str]:
    reader.take("(")
    values = set()
    while True:
        # As in Kubernetes, `(x,)` and `()` include the empty value.
        values.add("" if reader.peek() in (",", ")") else _value(reader))
        if reader.peek() != ",":
            break
        reader.take(",")
    reader.take(")")
    return frozenset(values)


def _key(reader: "_Reader") -> str:
    key = reader.word("a label key")
    try:
        return names.check_label_key(key)
    except ValueError as error:
        raise ValueError(f"{shown(reader.text)} is not a label selector: {error}") from None


def _value(reader: "_Reader") -> str:
    value = reader.word("a label value")
    try:
        return names.check_label_value(value)
    except ValueError as error:
        raise ValueError(f"{shown(reader.text)} is not a label selector: {error}") from None


class _Reader:
    """Walks the tokens of one selector and phrases what it did not expect."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = [(match["operator"], match["word"]) for match in _TOKEN.finditer(text)]
        self._next = 0

    def peek(self) -> str:
        """Return the next token, or the empty string at the end."""
        if self._next == len(self._tokens):
            return ""
        operator, word = self._tokens[self._next]
        return operator or word

    def take(self, expected: str) -> None:
        """Step over a token that has to be there."""
        if self.peek() != expected:
            raise self.error(f'"{expected}"')
        self._next += 1

    def word(self, expected: str) -> str:
        """Return the next token, which has to be a word."""
        if self._next == len(self._tokens) or not self._tokens[self._next][1]:
            raise self.error(expected)
        self._next += 1
        return self._tokens[self._next - 1][1]

    def error(self, expected: str) -> ValueError:
        """Return an error that says what stands at the current place."""
        seen = shown(self.peek()) if self.peek() else "the end"
        return ValueError(f"{shown(self.text)} is not a label selector: {seen} seen, {expected} expected; {_SYNTAX}")
