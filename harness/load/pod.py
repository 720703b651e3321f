"""`python -m harness.load.pod`: one part of a load that pods make, its master or a worker; pods.py starts it."""

import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from harness.errors import HarnessError
from harness.extender.subject.parse import Subject
from harness.load.campaign import Options, carry_out
from harness.load.generate import Scale

VARIABLE = "HARNESS_LOAD_PART"
"""The environment variable that says what to do, as JSON."""


@dataclass(frozen=True)
class Part:
    """What a pod is told: whom to load, how, in which part, and where records go; `facts` are for the record."""

    text: str
    url: str
    entry: Mapping[str, Any]
    options: Options
    scale: Scale
    out: Path
    facts: Mapping[str, Any]

    def to_json(self) -> str:
        """Return it as a pod is given it."""
        return orjson.dumps(asdict(self), default=str).decode()

    @classmethod
    def from_json(cls, text: str) -> "Part":
        """Return what a pod was given."""
        value = orjson.loads(text)
        options: Any = {key: tuple(one) if isinstance(one, list) else one for key, one in value["options"].items()}
        return cls(
            text=value["text"],
            url=value["url"],
            entry=value["entry"],
            options=Options(**options),
            scale=Scale(**value["scale"]),
            out=Path(value["out"]),
            facts=value["facts"],
        )


def main() -> int:
    """Carry out a part; the master leaves a record."""
    part = Part.from_json(os.environ[VARIABLE])
    signal.signal(signal.SIGTERM, _interrupt)
    subject = Subject(part.text, "http", part.url, entry=part.entry or None)
    try:
        carry_out([subject], part.options, part.scale, part.out, facts=lambda: part.facts)
    except HarnessError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    return 0


def _interrupt(number: int, frame: Any) -> None:
    # As after Ctrl-C: what was measured is kept.
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
