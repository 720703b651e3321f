"""Writes a configuration as YAML with a comment for every change, beside the line that the change concerns."""

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from harness.scenario import positions
from harness.scenario.problems import Path
from harness.variant.legacy.base import Change

WIDTH = 120


def render(config: Mapping[str, Any], changes: Sequence[Change], head: str, file: str) -> str:
    """Return a configuration as YAML; `head` is a comment at its top, `file` the one that lines are meant of."""
    comments: dict[Path, list[str]] = {}
    for change in changes:
        comments.setdefault(_present(config, change.beside), []).append(_comment(change, file))
    lines = [*_wrapped([head, *comments.pop((), [])], ""), *_mapping(config, (), "", comments)]
    return "\n".join(lines) + "\n"


def _comment(change: Change, file: str) -> str:
    where = f"{change.path}: " if change.path else ""
    line = f"line {change.line}" if change.file == file else f"{change.file} line {change.line}"
    text = f"{change.kind}: {line}: {where}{change.text}"
    # A line break in a key of the old text would end the comment.
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _present(config: Any, path: Path) -> Path:
    """Return the longest beginning of a path that is there."""
    for count, key in enumerate(path):
        try:
            config = config[key]
        except (KeyError, IndexError, TypeError):
            return path[:count]
    return path


def _wrapped(comments: Sequence[str], indent: str) -> Iterator[str]:
    for comment in comments:
        yield from textwrap.wrap(
            comment, WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}#   ", break_on_hyphens=False
        )


def _line(line: str, comments: Sequence[str], indent: str) -> Iterator[str]:
    """Yield a line with its comments: behind it when there is one and it fits, else above it."""
    beside = f"{line}  # {comments[0]}" if len(comments) == 1 else None
    if beside and len(beside) <= WIDTH:
        yield beside
    else:
        yield from _wrapped(comments, indent)
        yield line


def _mapping(value: Mapping[str, Any], path: Path, indent: str, comments: dict[Path, list[str]]) -> Iterator[str]:
    for key, part in value.items():
        inside = (*path, key)
        told = comments.get(inside, [])
        word = f"{indent}{_scalar(key)}:"
        if isinstance(part, Mapping) and part:
            yield from _line(word, told, indent)
            yield from _mapping(part, inside, f"{indent}  ", comments)
        elif isinstance(part, list) and part:
            yield from _line(word, told, indent)
            yield from _sequence(part, inside, indent, comments)
        else:
            yield from _line(f"{word} {_scalar(part)}", told, indent)


def _sequence(value: Sequence[Any], path: Path, indent: str, comments: dict[Path, list[str]]) -> Iterator[str]:
    for index, part in enumerate(value):
        inside = (*path, index)
        told = comments.get(inside, [])
        if isinstance(part, Mapping) and part:
            yield from _wrapped(told, indent)
            # The first key that is not a comment shares its line with the dash.
            body = list(_mapping(part, inside, f"{indent}  ", comments))
            first = next(number for number, line in enumerate(body) if not line.lstrip().startswith("#"))
            body[first] = f"{indent}- {body[first][len(indent) + 2 :]}"
            yield from (line if number >= first else line[2:] for number, line in enumerate(body))
        elif isinstance(part, list) and part:
            yield from _line(f"{indent}-", told, indent)
            yield from _sequence(part, inside, f"{indent}  ", comments)
        else:
            yield from _line(f"{indent}- {_scalar(part)}", told, indent)


def _scalar(value: Any) -> str:
    text = _dumped(value, None)
    documents, _ = positions.read(text, "")
    # Quoted where another parser would see a number: `1e3` is text to some and a thousand to others.
    same = documents and documents[0].data == value and "\n" not in text
    return text if same else _dumped(value, '"')


def _dumped(value: Any, style: str | None) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, default_style=style, width=math.inf, allow_unicode=True)
    return text.removesuffix("\n").removesuffix("\n...").removesuffix("\n")
