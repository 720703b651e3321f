"""The closed-loop trap as a picture: one extender that freezes, under an open and a closed load.

`python -m bench trap` measures both and draws docs/pictures/closed-loop-trap.svg again; docs/reference/load.md quotes
what it prints.
"""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.load import ENTRY, INJECTED, INJECTED_RATE, INJECTED_SECONDS, NODES, TRIES, TROUBLE
from harness.extender.subject.parse import parse
from harness.load.campaign import Options, carry_out
from harness.load.generate import Scale
from harness.progress import note
from harness.record.load import LoadRecord
from harness.report.render.pictures import svg
from harness.report.sections.load_pictures import percentile_picture
from harness.report.sections.load_samples import curves_of
from harness.report.words import Words

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "closed-loop-trap.svg"


def measure(picture: Path = PICTURE) -> dict[str, Any]:
    """Measure, draw, and return the percentiles of both loads."""
    with tempfile.TemporaryDirectory() as folder:
        records = loads(Path(folder))
        picture.parent.mkdir(parents=True, exist_ok=True)
        picture.write_text(drawn(records), encoding="utf-8")
    keys = ("model", "requests", "p50_ms", "p95_ms", "p99_ms", "max_ms", "generator_limited")
    shown = {result.model: {key: getattr(result, key) for key in keys} for one in records for result in one.results}
    return {"figures": {}, "loads": shown}


def describe(measured: dict[str, Any]) -> str:
    """Say the percentiles in one line."""
    points = ("p50_ms", "p95_ms", "p99_ms", "max_ms")
    told = [
        f"{model}: {', '.join(f'{point[:-3]} {one[point]:.3g} ms' for point in points)} of {one['requests']}"
        for model, one in measured["loads"].items()
    ]
    return "; ".join(told)


def loads(folder: Path) -> list[LoadRecord]:
    """Return the records of the open and of the closed load."""
    options, _ = INJECTED["freeze"]
    subject = parse(f"cmd:{sys.executable} {TROUBLE} --port {{port}} {' '.join(options)}", ENTRY)
    closed = Options(nodes=(NODES,), seconds=INJECTED_SECONDS["freeze"], warmup_seconds=0.0)
    opened = replace(closed, rates=(INJECTED_RATE,))
    # A neighbour's noise makes requests leave late, and the curve would not be the extender's.
    for _ in range(TRIES):
        record = carry_out([subject], opened, Scale(), folder)
        if not record.results[0].generator_limited:
            break
        note("the generator was late, and the open load is measured again")
    return [record, carry_out([subject], closed, Scale(), folder)]


def drawn(records: list[LoadRecord]) -> str:
    """Return the picture of both."""
    curves = curves_of(records).curves
    if len(curves) != len(records):
        raise SystemExit("the generator was late in every try: measure again when the machine is calm")
    return svg(percentile_picture("closed-loop-trap", curves, Words("en")).spec)
