"""What the components of a run logged, cut down to what a person reads: the end, and the lines about errors."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = "logs"
LAST_MAX = 10
ERRORS_MAX = 10
LINE_CHARACTERS_MAX = 400
# A log of a long run under load may have gigabytes; the rest of it is told as left out.
READ_BYTES_MAX = 32 * 1024 * 1024
# klog begins a line with the letter of its level; others say it in a field or as the first word.
_ERROR = re.compile(
    r"^[EF]\d{4} |\"?level\"?[=:]\s*\"?(?:error|fatal)|^(?:ERROR|FATAL|CRITICAL)\b|^panic:|^Traceback ", re.IGNORECASE
)


@dataclass(frozen=True)
class Excerpt:
    """A part of one component's log.

    Args:
        lines: how many lines the log has, as far as it was read.
        errors: how many of them are about errors.
        first_errors: the first of those.
        last: its last lines.
        cut: it goes on after what was read.
    """

    component: str
    lines: int
    errors: int
    first_errors: tuple[str, ...]
    last: tuple[str, ...]
    cut: bool = False


def excerpts(record: Path) -> tuple[Excerpt, ...]:
    """Return the excerpt of every log of a record that is not empty; one that cannot be read is left out."""
    folder = record / FOLDER
    found = [_excerpt(file) for file in sorted(folder.glob("*.log"))] if folder.is_dir() else []
    return tuple(one for one in found if one is not None and one.lines)


def _excerpt(file: Path) -> Excerpt | None:
    count, errors = 0, 0
    first: list[str] = []
    last: deque[str] = deque(maxlen=LAST_MAX)
    try:
        size = file.stat().st_size
        for line in _lines(file):
            count += 1
            last.append(line)
            if _ERROR.search(line):
                errors += 1
                if len(first) < ERRORS_MAX:
                    first.append(line)
    except OSError:
        return None
    return Excerpt(file.stem, count, errors, tuple(first), tuple(last), size > READ_BYTES_MAX)


def _lines(file: Path) -> Iterator[str]:
    left = READ_BYTES_MAX
    with file.open("rb") as handle:
        while left > 0 and (line := handle.readline(left)):
            left -= len(line)
            text = line.decode("utf-8", "replace").rstrip()
            yield text if len(text) <= LINE_CHARACTERS_MAX else f"{text[:LINE_CHARACTERS_MAX]}…"
