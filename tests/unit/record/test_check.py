import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import RecordError
from harness.record.check import Checked, read
from harness.report.assemble import assemble
from harness.report.sources import gather
from harness.report.words import Words
from tests.unit.report.checks import SAME, SLOW, checked, kept, row


def rewritten(found: Checked, **changes: Any) -> Path:
    assert found.path is not None
    file = found.path / "baseline.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    return found.path


@pytest.fixture
def both(tmp_path: Path) -> Checked:
    """One comparison that holds, and one that does not."""
    return kept(tmp_path, SAME, SLOW)


def test_a_check_is_read_as_it_was_kept(both: Checked) -> None:
    again = read(both.path or Path())
    assert again == both
    assert again.meta["command"] == ["harness", "baseline"]
    assert (again.verdict, again.ok, again.kept) == ("REGRESSION", False, None)
    assert again.rows[1].samples == ("pairs/2-1.npz", "pairs/2-2.npz")


def test_keys_of_later_versions_are_left_out(both: Checked) -> None:
    rows = [one | {"new": 1} for one in both.to_json()["rows"]]
    assert read(rewritten(both, rows=rows, newer=True)).rows == both.rows


@pytest.mark.parametrize(
    "damage",
    [
        {"verdict": "FINE"},
        {"change": [1.0]},
        {"now": ["much", 1.0, 2.0]},
        {"p_values": ["small"]},
        {"title": 7},
        {"samples": [7]},
        {"pairs": None},
    ],
)
def test_a_damaged_row_is_left_out_and_its_verdict_is_not_forgotten(both: Checked, damage: dict[str, Any]) -> None:
    first, second = both.to_json()["rows"]
    path = rewritten(both, rows=[first, second | damage])
    with pytest.raises(RecordError, match="no check against a baseline can be read from it"):
        read(path)
    problems: list[str] = []
    found = read(path, problems)
    assert [one.title for one in found.rows] == [first["title"]]
    assert problems[0].startswith("baseline.json: measurement 2 cannot be read (")
    assert (found.verdict, found.ok) == ("REGRESSION", False)
    for language in ("en", "zh"):
        words = Words(language)
        document = assemble(gather([path]), words)
        assert document.outcome == "failed"
        assert not words.unknown


def test_a_verdict_that_cannot_be_read_either_is_inconclusive(both: Checked) -> None:
    path = rewritten(both, rows=[both.to_json()["rows"][0], {}], verdict="?", ok=None)
    assert read(path, []).verdict == "INCONCLUSIVE"


@pytest.mark.parametrize(
    "content",
    ["", "{", "null", "[]", "{}", '{"format": "x"}', '{"format": 99}', '{"format": 1, "rows": [], "notes": []}'],
)
def test_what_is_none_says_so(tmp_path: Path, content: str) -> None:
    folder = tmp_path / "20261116-070000-baseline-x-0000"
    folder.mkdir()
    with pytest.raises(RecordError):
        read(folder, [])
    (folder / "baseline.json").write_text(content)
    with pytest.raises(RecordError, match="99 seen, at most 1 known" if "99" in content else "no check against"):
        read(folder, [])
    sources = gather([folder])
    assert sources.checked == ()
    assert sources.broken[0].startswith(f"{folder.name}: baseline.json: ")
    words = Words("zh")
    assert assemble(sources, words).outcome == "unclear"
    assert not words.unknown


@pytest.mark.parametrize("changes", [{"tolerance": "5 %"}, {"subject": None}, {"notes": [7]}, {"file": 3}])
def test_a_record_of_another_shape_says_so(both: Checked, changes: dict[str, Any]) -> None:
    with pytest.raises(RecordError, match="no check against a baseline can be read"):
        read(rewritten(both, **changes), [])


def test_the_worst_decides() -> None:
    found = replace(checked(), rows=(row(), row("INCONCLUSIVE")))
    assert (found.verdict, found.ok) == ("INCONCLUSIVE", True)
    assert replace(found, rows=(*found.rows, row("REGRESSION"))).verdict == "REGRESSION"
    assert not replace(found, rows=(row(failure="it burnt"),)).ok
    assert replace(found, rows=()).verdict == "INCONCLUSIVE"
