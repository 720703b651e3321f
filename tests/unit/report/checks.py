"""Records of checks against baselines, decided and written as the harness does it, of pairs that a test knows."""

from collections.abc import Sequence
from pathlib import Path

from harness.load import baseline
from harness.load.baseline import YARDSTICK, CheckedWithPairs
from harness.load.regress.decide import starts
from harness.load.regress.keep import keep_check
from harness.load.regress.pairs import Pairs
from harness.load.stats.against import interval_of
from harness.record.baseline import BaselineCell, BaselineMetric
from harness.record.check import Checked, CheckedRow
from tests.unit.report.test_section_regress import measured

FILE = "kept/mine.json"
SAME = (measured(1.0),)
SLOW = (measured(1.5, seed=3), measured(1.5, seed=4))
NOISY = (measured(1.0, noise=3.0),)
FAILING = (measured(0.5, failing=60),)
NOTE = "it runs elsewhere"


def kept(folder: Path, *cells: Sequence[Pairs], tolerance: float = 0.05, notes: tuple[str, ...] = (NOTE,)) -> Checked:
    """A check of so many kinds of calls, each with its stages, against starts that cost what the yardstick costs."""
    found = [one for seed in (11, 12) for one in starts(measured(1.0, seed=seed), "cpu p50")]
    then = BaselineMetric(*interval_of(found), tuple(tuple(map(float, start)) for start in found))
    rows: list[CheckedRow] = []
    for nodes, stages in enumerate(cells, 100):
        cell = BaselineCell("filter", nodes, "names", "made up", "d", {"cpu p50": then})
        rows += baseline._rows(cell, stages, tolerance, None)
    result = Checked("go:./mine", FILE, YARDSTICK, tolerance, tuple(rows), notes)
    return keep_check(CheckedWithPairs(result, tuple(map(tuple, cells))), folder, {"command": ["harness", "baseline"]})


def row(verdict: str = "PASS", failure: str | None = None) -> CheckedRow:
    three = (1.0, 0.9, 1.1)
    return CheckedRow("filter, 3 names", "cpu p50", three, three, three, verdict, (0.5,), 0.2, 100, failure)


def checked(verdict: str = "PASS", failure: str | None = None) -> Checked:
    return Checked("ref:b", FILE, YARDSTICK, 0.05, (row(verdict, failure),))
