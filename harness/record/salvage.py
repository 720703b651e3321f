"""What stands in for parts of a record that are damaged, for those who only show what is left."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import orjson

from harness.record.model import RunMeta
from harness.record.shape import checked
from harness.scenario.model import Scenario

Built = TypeVar("Built")
Whole = TypeVar("Whole")
Make = Callable[[Iterable[Mapping[str, Any]]], tuple[Built, ...]]

UNKNOWN = "unknown"
# What a line of the wrong shape makes a builder raise.
SHAPES = (KeyError, TypeError, ValueError, AttributeError)


def unknown_meta(path: Path) -> RunMeta:
    """Return what is known about a run whose `run.json` cannot be read: its folder's name."""
    return RunMeta(
        id=path.name,
        scenario=UNKNOWN,
        size=UNKNOWN,
        variant=UNKNOWN,
        cluster=UNKNOWN,
        status="failed",
        started_at="",
        settled=False,
        error="run.json cannot be read",
    )


def unknown_scenario() -> Scenario:
    """Return a scenario that expects nothing of the run, where its own cannot be read."""
    return Scenario.from_json(
        {
            "name": UNKNOWN,
            "summary": "The scenario of this record cannot be read.",
            "size": UNKNOWN,
            "parameters": {},
            "source": "",
            "manifests": {},
            "path": "",
            "steps": [{"op": "settle"}],
            "expect": [{"kind": "count", "total": {"min": 0}}],
        }
    )


def sound_lines(file: Path, make: Make[Built]) -> tuple[tuple[Built, ...], str]:
    """Build what the lines of a stream hold that can be read, and say which cannot: `3 of 20 lines …`."""
    bad: list[int] = []
    count = 0

    def sound() -> Iterator[Mapping[str, Any]]:
        nonlocal count
        with file.open("rb") as handle:
            for number, line in enumerate(handle, start=1):
                count = number
                try:
                    value = orjson.loads(line)
                    for one in make([value]):
                        checked(one)
                except SHAPES:
                    bad.append(number)
                else:
                    yield value

    built = make(sound())
    first = f" (line {bad[0]} first)" if bad else ""
    return built, f"{file.name}: {len(bad)} of {count} lines cannot be read{first} and are left out"


def sound(
    values: Iterable[Any], make: Callable[[Mapping[str, Any]], Whole], file: str, problems: list[str] | None
) -> Iterator[Whole]:
    """Give what can be made of each value of a file; what cannot is an error, or a problem where they are gathered."""
    for number, value in enumerate(values, start=1):
        try:
            made = checked(make(value))
        except SHAPES as error:
            if problems is None:
                raise
            problems.append(f"{file}: measurement {number} cannot be read ({error}) and is left out")
        else:
            yield made
