"""The catalogue: everything that reports say, by key, in every language; one file per topic beside this one.

A file maps a key to its texts: `placement.title: {en: Placement, zh: 调度结果}`. Values stand in braces, as in
`str.format`. Sentences that come from records (verdicts, warnings, findings) were written in English when the record
was made; `phrases` knows them by their forms, which stand in a folder per language.
"""

import functools
import locale
import os
import string
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.report.words.forms import WIDE_GAP, tight
from harness.report.words.phrases import phrases_of, texts_of

LANGUAGES = ("en", "zh")
RECORDED = "en"
"""The language of records."""
FOLDER = Path(__file__).parent


class Words:
    """The catalogue in one language; `unknown` gathers the sentences of records that have no form in it."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.unknown: set[str] = set()

    def __call__(self, key: str, **values: object) -> str:
        """Return a text with its values put in."""
        text = catalogue()[key][self.language]
        if not values:
            return text
        filled = text.format(**values)
        return tight(_parts(text, values)) if WIDE_GAP.search(filled) else filled

    def phrase(self, text: str) -> str:
        """Return a sentence of a record in this language; what is not known of it stays as it is."""
        if self.language == RECORDED:
            return text
        said = phrases_of(self.language).said(text)
        self.unknown.update(said.unknown)
        return said.text


def _parts(text: str, values: Mapping[str, object]) -> Iterator[str]:
    """Give a text in pieces, with values where the holes were."""
    formatter = string.Formatter()
    for literal, name, form, conversion in formatter.parse(text):
        yield literal
        if name is not None:
            value = formatter.convert_field(formatter.get_field(name, (), values)[0], conversion)
            yield formatter.format_field(value, form or "")


@functools.cache
def catalogue() -> Mapping[str, Mapping[str, str]]:
    """Return all texts by key and language."""
    texts: dict[str, Any] = {}
    for file in sorted(FOLDER.glob("*.yaml")):
        texts |= texts_of(file)
    return texts


def language_of_here() -> str:
    """Return the language of whoever sits here, as the environment tells it; English unless known."""
    told = next((os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), "")
    language = locale.normalize(told).split("_")[0].lower()
    return language if language in LANGUAGES else LANGUAGES[0]
