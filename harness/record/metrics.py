"""Reads the metrics pages of a record: what every scheduler counted before the first and after the last step.

The pages are kept as the schedulers gave them, in Prometheus text format. A line `# scheduler: NAME` starts each page.
"""

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.errors import RecordError

BEFORE = "metrics-before.txt"
AFTER = "metrics-after.txt"

_PAGE = "# scheduler: "
_SAMPLE = re.compile(r"(?P<name>[A-Za-z_:][\w:]*)\s*(?:\{(?P<labels>.*)\})?\s*(?P<value>[^\s{}]+)(?:\s+-?\d+)?")
_LABEL = re.compile(r'\s*(?P<name>[A-Za-z_]\w*)\s*=\s*"(?P<value>(?:[^"\\]|\\.)*)"\s*(?:,|$)')
_ESCAPED = re.compile(r"\\(.)")
_MEANT = {"n": "\n"}


@dataclass(frozen=True, slots=True)
class Sample:
    """One line of a page: a series of one scheduler and its value."""

    scheduler: str
    name: str
    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True)
class Metrics:
    """All pages of one moment. `pages` are the schedulers that have one, though it may be empty."""

    samples: tuple[Sample, ...]
    pages: frozenset[str] = frozenset()

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """The names of all series; a counter that was never used has none."""
        return frozenset(sample.name for sample in self.samples)

    @functools.cached_property
    def schedulers(self) -> frozenset[str]:
        """The schedulers that told something."""
        return frozenset(sample.scheduler for sample in self.samples)

    def matching(self, name: str, labels: Mapping[str, str]) -> tuple[Sample, ...]:
        """Return the series of a name that have these labels, perhaps among others."""
        return tuple(
            sample for sample in self.samples if sample.name == name and labels.items() <= sample.labels.items()
        )


def read_metrics(record: Path, name: str) -> Metrics | None:
    """Read `metrics-before.txt` or `metrics-after.txt` of a record; None if the run did not get so far.

    Raises:
        RecordError: a line is not in the format.
    """
    file = record / name
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise RecordError(f"{file}: cannot be read: {error}") from error
    return parse(text, str(file))


# A scenario asks the same two pages about several metrics, a report those of all its runs in several chapters, and each
# page has thousands of lines.
@functools.lru_cache(maxsize=24)
def parse(text: str, where: str = "metrics") -> Metrics:
    """Take pages apart.

    Raises:
        RecordError: a line is not in the format.
    """
    lines = (line.strip() for line in text.split("\n"))
    pages = frozenset(line.removeprefix(_PAGE) for line in lines if line.startswith(_PAGE))
    return Metrics(tuple(_samples(text, where)), pages)


def _samples(text: str, where: str) -> Iterator[Sample]:
    scheduler = ""
    # Not splitlines: a label's value may hold any character that Python takes for a line break.
    for number, line in enumerate(text.split("\n"), start=1):
        stripped = line.strip()
        if stripped.startswith(_PAGE):
            scheduler = stripped.removeprefix(_PAGE).strip()
        elif stripped and not stripped.startswith("#"):
            found = _SAMPLE.fullmatch(stripped)
            labels = _labels(found["labels"]) if found else None
            if found is None or labels is None:
                raise RecordError(f"{where}:{number}: {stripped[:80]!r} seen, a metric expected; the record is damaged")
            yield Sample(scheduler, found["name"], labels, _number(found["value"], f"{where}:{number}"))


def _labels(text: str | None) -> dict[str, str] | None:
    """Return the labels of a series, None if they are not in the format."""
    labels: dict[str, str] = {}
    place = 0
    while text and place < len(text):
        found = _LABEL.match(text, place)
        if found is None:
            return labels if not text[place:].strip() else None
        labels[found["name"]] = _ESCAPED.sub(lambda one: _MEANT.get(one[1], one[1]), found["value"])
        place = found.end()
    return labels


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise RecordError(f"{where}: {text!r} seen, a number expected; the record is damaged") from error
