"""What tests of loads start from: an extender with every trouble, and one way to load it."""

import sys
from pathlib import Path
from typing import Any

from harness.extender.subject.parse import Subject, parse
from harness.load.campaign import Options, carry_out
from harness.load.generate import Scale
from harness.record.load import LoadRecord

ROOT = Path(__file__).parents[3]
TROUBLE = ROOT / "tests" / "subjects" / "trouble" / "trouble.py"
ENTRY = {"filterVerb": "filter", "nodeCacheCapable": True}


def trouble(*options: str, **entry: Any) -> Subject:
    """Return the extender with some troubles."""
    command = " ".join([sys.executable, str(TROUBLE), "--port {port}", *options])
    return parse(f"cmd:{command}", {**ENTRY, **entry})


def loaded(subject: Subject, out: Path, *, processes: int = 1, **options: Any) -> LoadRecord:
    """Measure for about a second."""
    chosen = {"nodes": (10,), "seconds": 0.8, "warmup_seconds": 0.2, "floor": False, **options}
    return carry_out([subject], Options(**chosen), Scale(processes=processes), out)
