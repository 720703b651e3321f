"""Lets one tap begin and stop to record, and ties its clock to the run's."""

from math import inf
from pathlib import Path

from harness.clock import SYSTEM
from harness.errors import HarnessError
from harness.extender.tap import Tap

CLOCK_SAMPLES = 8


def begin(tap: Tap, folder: Path, start: float) -> float:
    """Start recording and return what turns the tap's time into the run's.

    Half a round trip is the doubt, so the shortest of several counts: calls to one extender follow those to another
    within a millisecond, and their order must not be lost.
    """
    tap.record_into(folder)
    best, offset = inf, 0.0
    for _ in range(CLOCK_SAMPLES):
        before = SYSTEM.now()
        tap_now = float(tap.state()["now"])
        after = SYSTEM.now()
        if after - before < best:
            best, offset = after - before, (before + after) / 2 - start - tap_now
    return offset


def stop(name: str, tap: Tap) -> list[str]:
    """Stop recording; return what is doubtful about what was recorded."""
    if not tap.alive:
        return []
    try:
        problem = tap.state().get("problem")
        tap.record_into(None)
    except HarnessError as error:
        return [f"the tap of {name} does not answer any more: {error}"]
    return [f"the tap of {name} could not record everything: {problem}"] if problem else []
