"""Reads JSON as Go's `encoding/json` does, and says what is wrong in Go's own words.

kube-scheduler decodes replies with it, and its error texts end up in the conditions of pods. It never repairs anything.
"""

import codecs
import json
import re
from typing import Any, NoReturn

import orjson

DEPTH_MAX = 10_000
_LARGE_BYTES = 1 << 16

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"([^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*)')
_ESCAPE = re.compile(r"\\u([dD][89abAB]..)\\u([dD][c-fC-F]..)|\\u(....)|\\(.)", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LITERALS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}
_QUOTED = {"'": r"'\''", '"': "'\"'", "\\": r"'\\'", "\a": r"'\a'", "\b": r"'\b'", "\f": r"'\f'", "\n": r"'\n'"}
_QUOTED |= {"\r": r"'\r'", "\t": r"'\t'", "\v": r"'\v'"}
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\xa0\xad]")
_REPLACED = "\ufffd"


class GoError(Exception):
    """What Go would return as the error of `Decode`; its text is Go's."""


class Number(str):
    """A number as it stands in the text: Go quotes it so."""

    __slots__ = ()


class Object(list[tuple[str, Any]]):
    """The members of an object in the order of the text, repeated keys included."""

    __slots__ = ()


class _UnusualError(ValueError):
    """The text has something that only the exact reader sees as Go does."""


def members(value: Any) -> list[tuple[str, Any]] | None:
    """Return the members of an object as either reader gives it, or None if it is no object."""
    if isinstance(value, dict):
        return list(value.items())
    return value if isinstance(value, Object) else None


def quickly(body: bytes) -> Any:
    """Return the first JSON value of a usual text, with plain Python values.

    Raises:
        ValueError: the text is unusual or wrong; `exactly` knows more.
    """
    if len(body) > _LARGE_BYTES:
        # Ten times as fast, at the price of not seeing repeated keys, which only ever were seen in small replies.
        return orjson.loads(body)
    # Lone surrogates, repeated keys and values that are no containers are where Python and Go differ.
    text = body.decode().lstrip(" \t\r\n")
    if not text.startswith(("{", "[")) or "\\ud" in text or "\\uD" in text:
        raise _UnusualError
    try:
        return _DECODER.raw_decode(text)[0]
    except RecursionError as error:
        raise _UnusualError from error


def _plain(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) != len(pairs):
        raise _UnusualError
    return plain


def _no_constant(word: str) -> NoReturn:
    raise _UnusualError(word)


_DECODER = json.JSONDecoder(object_pairs_hook=_plain, parse_constant=_no_constant)


def exactly(body: bytes, cut: str | None = None) -> Any:
    """Return the first JSON value of a text, objects as `Object` and numbers as `Number`.

    Args:
        body: what was read.
        cut: what the connection said instead of a clean end, if it did not end cleanly.

    Raises:
        GoError: Go refuses the text.
    """
    return _Reader(body, cut).value()


class _Reader:
    """Go's scanner and a builder in one; works on bytes as Go does, so that its complaints name the same character."""

    def __init__(self, body: bytes, cut: str | None) -> None:
        self._text = body.decode("latin-1")
        self._at = 0
        self._out = cut or ("unexpected EOF" if self._text.strip(" \t\r\n") else "EOF")

    def value(self) -> Any:
        """Read one value, however deep it is nested."""
        stack: list[tuple[Any, str | None]] = []
        while True:
            value = self._open(stack)
            # A value is complete: put it into its container, and close containers as far as they end here.
            while stack:
                container, key = stack[-1]
                if value is not _NOTHING:
                    container.append(value if key is None else (key, value))
                if not self._closes(stack, first=value is _NOTHING):
                    break
                value = stack.pop()[0]
            else:
                return value

    def _open(self, stack: list[tuple[Any, str | None]]) -> Any:
        """Read a scalar, or begin a container and return that it has nothing in it yet."""
        character = self._next()
        if character in "{[":
            if len(stack) >= DEPTH_MAX:
                raise self._wrong("exceeded max depth")
            self._at += 1
            stack.append((Object(), "") if character == "{" else ([], None))
            return _NOTHING
        if character == '"':
            return self._string()
        if character in _LITERALS:
            return self._literal(*_LITERALS[character])
        if character in "-0123456789":
            return self._number()
        raise self._wrong("looking for beginning of value")

    def _closes(self, stack: list[tuple[Any, str | None]], *, first: bool) -> bool:
        """Tell whether the innermost container ends here; if not, stand at its next value."""
        container, key = stack[-1]
        character = self._next()
        if character == ("]" if key is None else "}"):
            self._at += 1
            return True
        if not first:
            if character != ",":
                raise self._wrong("after array element" if key is None else "after object key:value pair")
            self._at += 1
        if key is not None:
            if self._next() != '"':
                raise self._wrong("looking for beginning of object key string")
            stack[-1] = (container, self._string())
            if self._next() != ":":
                raise self._wrong("after object key")
            self._at += 1
        return False

    def _string(self) -> str:
        found = _STRING.match(self._text, self._at)
        end = found.end() if found else self._at
        if found and self._text[end : end + 1] == '"':
            self._at = end + 1
            raw = found[1].encode("latin-1").decode("utf-8", "one-by-one")
            return _ESCAPE.sub(_unescaped, raw) if "\\" in raw else raw
        self._at = end
        if self._here() != "\\":
            raise self._wrong("in string literal")
        self._at += 1
        if self._here() != "u":
            raise self._wrong("in string escape code")
        self._at += 1
        while self._here() in "0123456789abcdefABCDEF":
            self._at += 1
        raise self._wrong("in \\u hexadecimal character escape")

    def _literal(self, word: str, value: Any) -> Any:
        for letter in word:
            if self._here() != letter:
                raise self._wrong(f"in literal {word} (expecting '{letter}')")
            self._at += 1
        return value

    def _number(self) -> Number:
        found = _NUMBER.match(self._text, self._at)
        if not found:
            self._at += 1
            raise self._wrong("in numeric literal")
        self._at = found.end()
        rest = self._text[self._at : self._at + 1]
        if rest == "." and not found[1] and not found[2]:
            self._at += 1
            raise self._wrong("after decimal point in numeric literal")
        if rest and rest in "eE" and not found[2]:
            self._at += 1
            if self._here() in "+-":
                self._at += 1
            raise self._wrong("in exponent of numeric literal")
        return Number(found[0])

    def _next(self) -> str:
        found = _SPACE.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._here()

    def _here(self) -> str:
        if self._at >= len(self._text):
            raise GoError(self._out)
        return self._text[self._at]

    def _wrong(self, context: str) -> GoError:
        return GoError(f"invalid character {_quoted(self._here())} {context}")


_NOTHING = object()


def plain(value: Any) -> Any:
    """Return a value of either reader with plain Python values, as `quickly` gives them."""
    if isinstance(value, dict):
        # The quick reader gave it, which gives nothing else.
        return value
    if isinstance(value, Number):
        return int(value) if value.lstrip("-").isdigit() else float(value)
    if isinstance(value, Object):
        return {key: plain(part) for key, part in value}
    return [plain(part) for part in value] if isinstance(value, list) else value


def _quoted(character: str) -> str:
    if character in _QUOTED:
        return _QUOTED[character]
    if not _UNPRINTABLE.match(character):
        return f"'{character}'"
    number = ord(character)
    return f"'\\x{number:02x}'" if number <= 0x7F else f"'\\u{number:04x}'"  # noqa: PLR2004 - the end of ASCII


def _unescaped(match: re.Match[str]) -> str:
    high, low, single, short = match.groups()
    if short:
        return _SHORT.get(short, short)
    if high:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
    number = int(single, 16)
    return _REPLACED if 0xD800 <= number <= 0xDFFF else chr(number)  # noqa: PLR2004 - the range of surrogates


def _one_by_one(error: UnicodeError) -> tuple[str, int]:
    """Replace every byte that is no UTF-8 by itself, as Go does."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return _REPLACED, error.start + 1


codecs.register_error("one-by-one", _one_by_one)
