"""A report as a badge: the JSON that shields.io draws, for the page of a repository. Pure."""

from collections import Counter

import orjson

from harness.report.document import Document
from harness.report.words import Words

FILE = "badge.json"
_COLOURS = {"passed": "brightgreen", "failed": "red", "unclear": "lightgrey"}


def render(document: Document, words: Words) -> dict[str, bytes]:
    """Return the badge by its file's name."""
    counts = Counter(check.outcome for check in document.checks)
    told = {"passed": counts["passed"], "failed": counts["failed"], "total": len(document.checks)}
    badge = {
        "schemaVersion": 1,
        "label": words("formats.badge.label"),
        "message": words(f"formats.badge.{document.outcome}", **told),
        "color": _COLOURS[document.outcome],
    }
    return {FILE: orjson.dumps(badge, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)}
