"""How problems are put into words, so that every message quotes, lists and suggests in the same way."""

import difflib
import json
from collections.abc import Iterable
from typing import Any

SHOWN_CHARACTERS_MAX = 60


def shown(value: Any) -> str:
    """Return a value as it would stand in a YAML or JSON file, cut to a readable length."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    # A lone surrogate would break the terminal that prints the message.
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= SHOWN_CHARACTERS_MAX else text[: SHOWN_CHARACTERS_MAX - 1] + "…"


def listed(words: Iterable[str]) -> str:
    """Return words joined by commas, or "none" when there are none."""
    return ", ".join(words) or "none"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word a person most likely meant, or None if nothing is close."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(word[:SHOWN_CHARACTERS_MAX].lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[close[0]] if close else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean "x"?`, or `;` when nothing is close, to be followed by the choices."""
    close = nearest(word, known)
    return f"; did you mean {shown(close)}?" if close else ";"
