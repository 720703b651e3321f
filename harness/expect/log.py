"""Judges what a component logged during the run."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.expect.base import Verdict, counted, limited, status_of
from harness.record.model import Record
from harness.scenario.expectations_extender import Log
from harness.scenario.words import did_you_mean, listed

FOLDER = "logs"
LINE_CHARACTERS_MAX = 240


def log(expectation: Log, record: Record, peers: Sequence[Record] = ()) -> Verdict:
    """Judge how many lines of a log have the message; a component without a log is a rejection."""
    title = f"log of {expectation.part}"
    expected = f'{expectation.count} matching "{expectation.message}"'
    file = record.path / FOLDER / f"{expectation.part}.log"
    if not file.is_file():
        known = sorted(one.stem for one in file.parent.glob("*.log"))
        hint = did_you_mean(expectation.part, known)
        return Verdict(
            "log", title, "rejected", expected, "no such log", evidence=(f"no {file.name}{hint} logs: {listed(known)}",)
        )
    pattern = re.compile(expectation.message)
    total, found = 0, []
    for line in lines(file):
        total += 1
        if pattern.search(line):
            found.append(line[:LINE_CHARACTERS_MAX])
    return Verdict(
        kind=expectation.kind,
        title=title,
        status=status_of(expectation.count.holds(len(found))),
        expected=expected,
        seen=f"{len(found)} of {counted(total, 'line')}",
        evidence=limited(found),
    )


def lines(file: Path) -> Iterator[str]:
    """Yield the lines of a log one by one: it may be larger than what fits into memory."""
    with file.open(encoding="utf-8", errors="replace", newline="\n") as stream:
        for line in stream:
            yield line.rstrip("\r\n")
