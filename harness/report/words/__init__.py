"""The catalogue: everything that reports say, by key, in every language; one file per topic beside this one.

A file maps a key to its texts: `placement.title: {en: Placement, zh: 调度结果}`. Values stand in braces, as in
`str.format`. Sentences that come from records (verdicts, warnings, findings) were written in English when the record
was made; `phrases` knows them by their form.
"""

import functools
import locale
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

LANGUAGES = ("en", "zh")
FOLDER = Path(__file__).parent


class Words:
    """The catalogue in one language."""

    def __init__(self, language: str) -> None:
        self.language = language

    def __call__(self, key: str, **values: object) -> str:
        """Return a text with its values put in."""
        text = catalogue()[key][self.language]
        return text.format(**values) if values else text

    def phrase(self, text: str) -> str:
        """Return a sentence of a record in this language; one that is not known stays as it is."""
        return text


@functools.cache
def catalogue() -> Mapping[str, Mapping[str, str]]:
    """Return all texts by key and language."""
    texts: dict[str, Any] = {}
    for file in sorted(FOLDER.glob("*.yaml")):
        texts |= yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    return texts


def language_of_here() -> str:
    """Return the language of whoever sits here, as the environment tells it; English unless known."""
    told = next((os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), "")
    language = locale.normalize(told).split("_")[0].lower()
    return language if language in LANGUAGES else LANGUAGES[0]
