"""The blocks of a comparison, from its raw pairs: how the ratio of the two sides went on over time. Pure.

A block is a stretch of pairs that follow each other. Each is made here as the verdict made it: the quantile of the
candidate over that of the base, of the pairs that both sides answered, and none reaches over a restart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.errors import RecordError
from harness.record.arrays import Arrays, read_arrays
from harness.record.regress import Comparison, Regression

# What is drawn, and decides: name -> what is measured, and the quantile.
METRICS = {"cpu p50": ("cpu", 0.5), "wall p50": ("wall", 0.5)}
USABLE_SHARE_MIN = 0.5


@dataclass(frozen=True)
class Block:
    """The ratio of one block; `number` counts over all stages, `restart` is in which start of the two it was made."""

    metric: str
    number: int
    stage: int
    restart: int
    ratio: float
    pairs: int


def blocks(regression: Regression, comparison: Comparison) -> list[Block] | None:
    """Return the blocks of a comparison in the order of time; None where its pairs are gone or damaged."""
    if regression.path is None or not comparison.samples:
        return []
    stages = [_arrays(regression.path, name) for name in comparison.samples]
    made: list[Block] = []
    for metric in METRICS:
        number = 0
        for stage, arrays in enumerate(stages, 1):
            if arrays is None:
                return None
            for restart, ratio, pairs in _ratios(arrays, metric):
                number += 1
                made.append(Block(metric, number, stage, restart, ratio, pairs))
    return made


def lost(folder: Path | None, samples: Sequence[str]) -> list[str]:
    """Return the files of raw pairs that are gone or damaged."""
    return [name for name in samples if folder is None or _arrays(folder, name) is None]


def _arrays(folder: Path, name: str) -> Arrays | None:
    if Path(name).is_absolute() or ".." in Path(name).parts:
        return None
    try:
        stored = read_arrays(folder / name)
        found = {key: stored[key] for key in ("cpu", "wall", "ending", "restart", "size")}
    except (RecordError, KeyError):
        return None
    count = found["restart"].shape[-1] if found["restart"].ndim == 1 else -1
    shapes = {found[key].shape for key in ("cpu", "wall", "ending")}
    return found if shapes == {(2, count)} and found["size"].ndim == 0 and int(found["size"]) > 0 else None


def _ratios(arrays: Arrays, metric: str) -> list[tuple[int, float, int]]:
    what, quantile = METRICS[metric]
    size = int(arrays["size"])
    answered = (arrays["ending"] == 0).all(axis=0)
    made = []
    for restart in np.unique(arrays["restart"]):
        mine = arrays["restart"] == restart
        sides, usable = arrays[what][:, mine], answered[mine]
        for start in range(0, sides.shape[1] - size + 1, size):
            block = sides[:, start : start + size]
            kept = usable[start : start + size] & np.isfinite(block).all(axis=0) & (block > 0).all(axis=0)
            if kept.mean() >= USABLE_SHARE_MIN:
                base, candidate = np.quantile(block[:, kept], quantile, axis=1)
                made.append((int(restart), float(candidate / base), int(kept.sum())))
    return made
