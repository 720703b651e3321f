"""Figures that documents show are those of the file that was kept."""

import json
from collections import Counter
from pathlib import Path

from bench.regress import SORTS, wrong

DOCS = Path(__file__).parents[2] / "docs"


def test_the_checks_of_the_checker_are_shown_as_they_were_found() -> None:
    checks = json.loads((DOCS / "figures" / "regress.json").read_text())["checks"]
    shown = (DOCS / "explanation.md").read_text()
    assert set(checks) == {sort.title for sort in SORTS}
    for sort in SORTS:
        found = checks[sort.title]
        verdicts = Counter(one["verdict"] for one in found)
        counts = [verdicts[one] for one in ("PASS", "INCONCLUSIVE", "REGRESSION")]
        row = [sort.title, len(found), *counts, wrong(sort, found) if sort.figure else "-"]
        assert f"| {' | '.join(map(str, row))} |" in shown
