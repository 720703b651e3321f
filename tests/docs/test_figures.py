"""Figures that documents show are those of the files that were kept."""

import json
from collections import Counter
from pathlib import Path

import pytest

from bench.regress import SORTS, equals, wrong

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(("file", "only"), [("regress.json", ""), ("tenth.json", "+10 %"), ("equals.json", "equal")])
def test_the_checks_of_the_checker_are_shown_as_they_were_found(file: str, only: str) -> None:
    checks = json.loads((DOCS / "figures" / file).read_text())["checks"]
    shown = (DOCS / "explanation.md").read_text()
    sorts = [sort for sort in SORTS if only in sort.title]
    assert set(checks) == {sort.title for sort in sorts}
    for sort in sorts:
        found = checks[sort.title]
        verdicts = Counter(one["verdict"] for one in found)
        counts = [verdicts[one] for one in ("PASS", "INCONCLUSIVE", "REGRESSION")]
        row = [sort.title, len(found), *counts, wrong(sort, found) if sort.figure else "-"]
        assert f"| {' | '.join(map(str, row))} |" in shown


def test_as_many_equals_were_compared_as_the_promise_takes() -> None:
    checks = json.loads((DOCS / "figures" / "regress.json").read_text())["checks"]
    assert equals(checks) == (0, 300)
