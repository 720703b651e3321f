"""What a percentile is, wherever pods and calls are counted. Pure."""

import math
from collections.abc import Iterable


def percentile(values: Iterable[float], percent: float) -> float | None:
    """Return the value that so many percent lie at or below: one that was really seen; None without values."""
    ordered = sorted(values)
    # In whole numbers: 99 % of 100 values would be a little more than 99 of them, rounded as a computer does.
    place = math.ceil(round(percent * len(ordered), 6) / 100)
    return ordered[max(0, place - 1)] if ordered else None
