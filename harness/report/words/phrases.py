"""Knows the sentences of records by their form, and says them in another language.

Verdicts, findings and warnings were put into words when a record was made. Their forms stand in a folder per language
beside this file. What has no form of its own may be made of sentences that have: clauses after a semicolon, items of a
list, a sentence after a name and a colon. What somebody else wrote (Kubernetes, an extender, a name) stays as it is.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from harness.report.words.forms import Form, form

FOLDER = Path(__file__).parent
JOINTS = ("clause", "item", "name", "title", "more")
"""What `joints.yaml` names; no sentence is one of these words."""
CHARACTERS_MAX = 6000
"""What is longer is no sentence."""
_MEMORY = 50_000
# Ten times as fast, where it was built.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TITLE = re.compile(r"\S+(?: \S+)?(?:, \d+ \w+)?")
"""What may stand before a sentence and a colon: `pass-through filter, 100 names`."""
_LETTER = re.compile(r"[A-Za-z]")
_WORD = re.compile(r"[A-Za-z]+")
_MORE = re.compile(r"(?P<names>.*) and (?P<count>\d+) more", re.DOTALL)
_PAIRS = {'"': '"', "(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Said:
    """A sentence in the other language, with those parts of it that are not known and stayed English."""

    text: str
    unknown: tuple[str, ...] = ()

    @property
    def missing(self) -> int:
        """Return how many characters are not known."""
        return sum(map(len, self.unknown))


class Phrases:
    """All forms of one language."""

    def __init__(self, pairs: Mapping[str, str], joints: Mapping[str, str]) -> None:
        self._joints = joints
        forms = [form(english, other) for english, other in pairs.items()]
        common: dict[str, int] = {}
        for one in forms:
            for word in one.words:
                common[word] = common.get(word, 0) + 1
        self._anywhere: list[Form] = []
        self._by_word: dict[str, list[Form]] = {}
        for one in forms:
            # The rarest word of a form is the fewest other forms' word.
            rarest = min(one.words, key=lambda word: (common[word], word), default=None)
            (self._anywhere if rarest is None else self._by_word.setdefault(rarest, [])).append(one)
        self.said = functools.lru_cache(maxsize=_MEMORY)(self._said)

    def _said(self, text: str) -> Said:
        if not _LETTER.search(text):
            return Said(text)
        if len(text) > CHARACTERS_MAX:
            return Said(text, (text,))
        best = Said(text, (text,))
        for one in self._ways(text):
            if not one.unknown:
                return one
            if one.missing < best.missing:
                best = one
        return best

    def _ways(self, text: str) -> Iterator[Said]:
        """Yield what a sentence may be, the likeliest first."""
        for one in self._candidates(text):
            if found := one.pattern.fullmatch(text):
                yield self._filled(one, found)
        if len(clauses := _cut(text, "; ")) > 1:
            yield _joined(map(self.said, clauses), self._joints["clause"])
        names, count = _counted(text)
        items = _cut(names, ", ")
        if count or len(items) > 1:
            # A list is one only if all of it is: commas stand in names and in what others say.
            joined = _joined(map(self.said, items), self._joints["item"])
            yield Said(text, (text,)) if joined.unknown else self._more(joined, count)
        prefix, colon, rest = text.partition(": ")
        if colon and _TITLE.fullmatch(prefix) and not (said := self.said(rest)).unknown:
            yield Said(self._joints["title"].format(title=prefix, said=said.text))

    def _candidates(self, text: str) -> list[Form]:
        found = list(self._anywhere)
        for word in set(_WORD.findall(text)):
            found += self._by_word.get(word, ())
        return sorted(found, key=lambda one: -one.weight)

    def _filled(self, one: Form, found: re.Match[str]) -> Said:
        values: dict[str, str] = {}
        unknown: list[str] = []
        for name, kind in one.kinds.items():
            said = self._hole(kind, found[name])
            values[name] = said.text
            unknown += said.unknown
        return Said(one.filled(values), tuple(unknown))

    def _hole(self, kind: str, text: str) -> Said:
        match kind:
            case "phrase" | "phrases":
                return self.said(text)
            case "said":
                said = self.said(text)
                return Said(text) if said.unknown else said
            case "names" | "items":
                names, count = _counted(text)
                items = [self.said(one) if kind == "items" else Said(one) for one in _cut(names, ", ")]
                return self._more(_joined(items, self._joints["name"]), count)
            case _:
                return Said(text)

    def _more(self, names: Said, count: str | None) -> Said:
        """Return names with how many there are besides."""
        if count is None:
            return names
        return Said(self._joints["more"].format(names=names.text, count=count), names.unknown)


def texts_of(file: Path) -> dict[str, Any]:
    """Return what a file of texts holds."""
    texts: dict[str, Any] = yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER) or {}  # noqa: S506 - a safe one
    return texts


@functools.cache
def phrases_of(language: str) -> Phrases:
    """Return the forms of a language; English has none, since records speak it."""
    pairs: dict[str, str] = {}
    for file in sorted(FOLDER.glob(f"{language}/*.yaml")):
        pairs |= texts_of(file)
    return Phrases(pairs, {name: pairs.pop(name) for name in JOINTS})


def _cut(text: str, separator: str) -> list[str]:
    """Cut a text where a separator stands outside of quotes and brackets; if these do not pair, at every one."""
    if separator not in text:
        return [text]
    parts: list[str] = []
    waiting: list[str] = []
    start = place = 0
    while place < len(text):
        character = text[place]
        if waiting and character == waiting[-1]:
            waiting.pop()
        elif character in _PAIRS and not (waiting and waiting[-1] == '"'):
            waiting.append(_PAIRS[character])
        elif not waiting and text.startswith(separator, place):
            parts.append(text[start:place])
            start = place = place + len(separator)
            continue
        place += 1
    return text.split(separator) if waiting else [*parts, text[start:]]


def _counted(text: str) -> tuple[str, str | None]:
    """Take `a, b and 3 more` apart."""
    found = _MORE.fullmatch(text)
    return (found["names"], found["count"]) if found else (text, None)


def _joined(parts: Iterable[Said], separator: str) -> Said:
    every = list(parts)
    return Said(separator.join(one.text for one in every), tuple(text for one in every for text in one.unknown))
