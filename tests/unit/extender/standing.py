"""Extenders that stand behind their taps, and records of runs with them; kube-scheduler is played by single calls."""

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.clock import SYSTEM
from harness.extender.connect import Place, connected
from harness.extender.subject.parse import parse
from harness.extender.traffic import Connected, Traffic
from harness.record.call import Call, calls
from harness.record.write import RecordWriter

Make = Callable[..., contextlib.AbstractContextManager["Bench"]]


@dataclass
class Bench:
    """Extenders that stand, and one record per run of them."""

    folder: Path
    traffic: Traffic
    warnings: list[str] = field(default_factory=list)
    path: Path = Path()

    @property
    def first(self) -> Connected:
        return self.traffic.extenders[0]

    @contextlib.contextmanager
    def run(self, seed: int = 0) -> Iterator[None]:
        number = len(list(self.folder.iterdir()))
        with RecordWriter.create(self.folder, f"run-{number}", {}) as writer:
            self.path = writer.path
            facts = {"scenario": "made", "kubernetes": "1.36"}
            with self.traffic.recorded(writer, SYSTEM.now(), seed, facts) as self.warnings:
                yield

    def calls(self) -> tuple[Call, ...]:
        lines = (self.path / "calls.jsonl").read_text().splitlines()
        return calls(map(json.loads, lines))


@contextlib.contextmanager
def standing(folder: Path, *texts: str, tap: bool = True, **entry: Any) -> Iterator[Bench]:
    """Start extenders, called x1, x2 and so on, with the same keys of their entries."""
    (folder / "runs").mkdir()
    place = Place(folder / "extenders", None, 0, tap)
    with contextlib.ExitStack() as stack:
        extenders = [
            stack.enter_context(connected(f"x{number}", parse(text, entry), place))
            for number, text in enumerate(texts, 1)
        ]
        yield Bench(folder / "runs", Traffic(extenders))
