"""Records of loads with samples that a test knows, written as the harness writes them."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.load.keep import LoadWriter
from harness.load.measure import Case, Run, results
from harness.load.samples import OUTCOMES, VERBS, Samples, merged
from harness.record.load import Knee, LoadRecord, read
from harness.report.document import Block, Fold, Picture, Section, Table

WORKER = {"cpu_seconds": 0.1, "window_seconds": 10.0, "unsent": 0, "opened": 1, "binds_held": 0}
WARMUP = 1.0


def asked(
    at: Sequence[float],
    took_ms: Sequence[float],
    *,
    late_ms: float = 0.0,
    outcomes: Mapping[int, str] | None = None,
    verb: str = "filter",
) -> Samples:
    """Requests to be sent at these seconds, sent a little later, each with its service time; some of them fail."""
    intended = np.array(at, dtype=np.float64)
    send = intended + late_ms / 1000
    codes = np.zeros(len(intended), dtype=np.int8)
    for place, name in (outcomes or {}).items():
        codes[place] = OUTCOMES.index(name)
    return Samples(
        {
            "intended": intended,
            "send": send,
            "done": send + np.array(took_ms) / 1000,
            "status": np.full(len(intended), 200, dtype=np.int16),
            "outcome": codes,
            "verb": np.full(len(intended), VERBS.index(verb), dtype=np.int8),
        }
    )


class Loads:
    """Writes one record, measurement by measurement."""

    def __init__(self, folder: Path, title: str = "s", **facts: Any) -> None:
        self.writer = LoadWriter(folder, title, facts)

    def add(  # noqa: PLR0913 - each may be what a test is about
        self,
        *samples: Samples,
        subject: str = "ref:one",
        nodes: int = 100,
        wire: str = "names",
        rate: float | None = 100.0,
        ended: str = "complete",
        verbs: tuple[str, ...] = ("filter",),
        cpu_seconds: float = 0.1,
        node_kib: float | None = None,
    ) -> "Loads":
        """Add a measurement of ten seconds, the first of which is the warm-up."""
        model = "closed" if rate is None else "open"
        case = Case(
            subject, nodes, wire, model, 1 if rate is None else None, WARMUP, 9.0, 5.0, 2000, verbs, node_kib=node_kib
        )
        run = Run(merged(samples), merged([]), [{**WORKER, "cpu_seconds": cpu_seconds}], [], ended)
        self.writer.add(run, results(case, run, [(0.0, 10.0, rate)]), {"corpus": "made up", "digest": "d1"})
        return self

    def knee(self, rates: Sequence[tuple[float, bool, bool]], verb: str = "filter", **values: Any) -> "Loads":
        """Add a search: what was tried, whether it was within the budget, and whether the generator limited it."""
        worst = {key: values.pop(key) for key in ("worst_verb",) if key in values}
        steps = tuple(
            {"rate": rate, "within": within, "p99_ms": rate / 10, "errors": 0, "achieved_rate": rate}
            | {"generator_limited": limited, "requests": 10, **worst}
            for rate, within, limited in rates
        )
        good = max((rate for rate, within, _ in rates if within), default=0.0)
        told = {"budget_ms": 50.0, "failed_rate": None, "limited_by": "extender", "pods_per_second": 123.5, **values}
        self.writer.add_knee(Knee("ref:one", verb, 100, "names", rate=good, steps=steps, **told))
        return self

    def record(self, status: str = "complete", warnings: Sequence[str] = ()) -> LoadRecord:
        self.writer.finish(status, warnings, {})
        return read(self.writer.path)


def even(count: int, start: float = WARMUP, end: float = 10.0) -> list[float]:
    return [start + (end - start) * place / count for place in range(count)]


def seen_at(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least so many percent do not exceed, counted out by hand."""
    order = sorted(values)
    return order[max(math.ceil(round(percent * len(order) / 100, 9)), 1) - 1]


def tables(section: Section) -> dict[str, Table]:
    return {block.name: block for block in section.all_blocks() if isinstance(block, Table)}


def pictures(section: Section) -> dict[str, Picture]:
    return {block.name: block for block in section.all_blocks() if isinstance(block, Picture)}


def column(table: Table, key: str) -> list[Any]:
    place = [one.key for one in table.columns].index(key)
    return [row[place] for row in table.rows]


def drawn(picture: Picture) -> list[dict[str, Any]]:
    """Return all rows of data in a specification, wherever they stand."""
    rows: list[dict[str, Any]] = []

    def gather(part: Any) -> None:
        if isinstance(part, dict):
            rows.extend(part.get("data", {}).get("values", ()) if isinstance(part.get("data"), dict) else ())
            for name, values in part.items():
                if name == "datasets":
                    rows.extend(row for dataset in values.values() for row in dataset)
                elif name != "data":
                    gather(values)
        elif isinstance(part, list):
            for one in part:
                gather(one)

    gather(picture.spec)
    return rows


def said(blocks: Sequence[Block]) -> str:
    """Return every text of callouts and paragraphs, those in folds too."""
    texts = (said(block.blocks) if isinstance(block, Fold) else str(getattr(block, "text", "")) for block in blocks)
    return "\n".join(texts)
