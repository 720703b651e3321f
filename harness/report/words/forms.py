"""One form of a sentence in English and what it is in another language; how a form is spelled.

A form is the sentence with holes: `{n:n} pod<s> matched, {bound:n} bound`. What stands in `<>` may be missing. A hole
has a name and a kind:

- none: a word without blanks, such as a name; `n`: a number; `verb`: a kind of call to an extender;
  `name`: a capitalised word as Kubernetes has them, such as a plugin; `path`: a path or an address; `code`: the code
  of a finding; `klog`: a line of a log of Kubernetes; `points`: extension points with arrows between them.
- `names`: names joined by commas. `text`: what somebody else wrote, any text at all; `words`: a clause of it. None of
  them is translated.
- `phrase`: a clause that is translated; `items`: several of them joined by commas; `phrases`: also with semicolons.
- `said`: several clauses, or else what somebody else wrote.
"""

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

KINDS = {
    "": r"\S+?",
    "n": r"[-+]?(?:\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?|inf|nan)%?",
    "verb": r"filter|prioritize|preempt|bind",
    "name": r"[A-Z][A-Za-z]+",
    "path": r"(?:[^\s:]|:(?=//|\d))+",
    "code": r"[a-z]+(?:-[a-z]+)+",
    "method": r"GET|POST|PUT|PATCH|DELETE",
    "klog": r"[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ .*",
    "points": r"[A-Z]\w+(?: → [A-Z]\w+)*",
    "names": r"(?:(?![;:] |, and ).)+?",
    "items": r"(?:(?!; ).)+?",
    "phrase": r"(?:(?!; ).)+?",
    "phrases": r".+?",
    "said": r".+?",
    "words": r"(?:(?!; ).)+?",
    "text": r".+?",
}
_STRICT = frozenset(KINDS) - {"", "names", "items", "phrase", "phrases", "said", "words", "text"}
_HOLE = re.compile(r"\{(?P<name>\w+)(?::(?P<kind>\w+))?\}")
_OPTIONAL = re.compile(r"<(?P<optional>[^<>]*)>")
_MARK = "\0"
_MARKED_WORD = re.compile(rf"[A-Za-z{_MARK}]+")
WIDE_GAP = re.compile(r"[\u2e80-\u9fff\uff00-\uffef] [\u2e80-\u9fff\uff00-\uffef]")
_WIDE = re.compile(r"[\u2e80-\u9fff\uff00-\uffef]")
_PART = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Form:
    """A form of a sentence.

    Args:
        english: the form as it is spelled in the data.
        expression: what such a sentence fits.
        kinds: the kind of each hole, by its name.
        parts: the other language, cut at its holes: text, name, text, name, text.
        words: the words that every such sentence has.
        weight: how many characters are no hole, and a little for holes that take little; the form that asks for the
            most is meant.
    """

    english: str
    expression: str
    kinds: dict[str, str]
    parts: tuple[str, ...]
    words: frozenset[str]
    weight: int

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        """What such a sentence fits; most forms are never asked for it."""
        return re.compile(self.expression, re.DOTALL)

    def filled(self, values: dict[str, str]) -> str:
        """Return the sentence in the other language; no blank is left between two wide characters."""
        return tight(values[part] if number % 2 else part for number, part in enumerate(self.parts))


def form(english: str, other: str) -> Form:
    """Return the form of a pair of the data.

    Raises:
        ValueError: its spelling is wrong, or a hole has no counterpart.
    """
    pattern, place = "", 0
    kinds: dict[str, str] = {}
    literals: list[str] = []
    for hole in _HOLE.finditer(english):
        literals.append(english[place : hole.start()])
        pattern += _literal(literals[-1])
        name, kind = hole["name"], hole["kind"] or ""
        if kind not in KINDS:
            raise ValueError(f"{english!r}: kind {kind!r} of a hole, one of {', '.join(KINDS)} expected")
        pattern += f"(?P={name})" if name in kinds else f"(?P<{name}>{KINDS[kind]})"
        kinds.setdefault(name, kind)
        place = hole.end()
    literals.append(english[place:])
    pattern += _literal(literals[-1])
    parts = tuple(_PART.split(other))
    if set(parts[1::2]) != set(kinds):
        raise ValueError(f"{english!r}: holes {sorted(kinds)}, {sorted(set(parts[1::2]))} in the translation")
    strict = sum(kind in _STRICT for kind in kinds.values())
    weight = strict + sum(len(_OPTIONAL.sub("", literal)) for literal in literals)
    return Form(english, pattern, kinds, parts, _words(literals), weight)


def _literal(text: str) -> str:
    """Return the pattern of what is no hole."""
    pieces = _OPTIONAL.split(text)
    return "".join(f"(?:{re.escape(one)})?" if number % 2 else re.escape(one) for number, one in enumerate(pieces))


def _words(literals: list[str]) -> frozenset[str]:
    """Return whole words that a sentence must have: those that no hole and nothing optional touches."""
    marked = _OPTIONAL.sub(_MARK, _MARK.join(literals))
    return frozenset(word for word in _MARKED_WORD.findall(marked) if _MARK not in word)


def tight(parts: Iterable[str]) -> str:
    """Join texts so that no blank is left between two wide characters: blanks stand between Chinese and other words."""
    made = ""
    for part in parts:
        text = part
        if made.endswith(" ") and _WIDE.match(made[-2:-1]) and _WIDE.match(text[:1]):
            made = made[:-1]
        elif text.startswith(" ") and _WIDE.match(made[-1:]) and _WIDE.match(text[1:2]):
            text = text[1:]
        made += text
    return made
