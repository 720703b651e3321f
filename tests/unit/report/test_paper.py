import pytest

from harness.report.document import Column, Table
from harness.report.render.cells import shown
from harness.report.render.html import is_long
from harness.report.render.paper import closeness, unbroken
from tests.unit.report.reading import ENGLISH


def of(columns: int, text: str) -> str:
    table = Table("t", "t", tuple(Column(str(place), "") for place in range(columns)), ((text,) * columns,))
    return closeness(table, 1, lambda cell, digits: shown(cell, digits, ENGLISH), is_long)


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("second-scheduler", 9),
        ("twenty-pause[lab]", 10),
        ("pods bound per second", 6),
        ("-12.5", 5),
        ("调度尝试次数", 2),
        ("创建到绑定 p50", 3),
    ],
)
def test_what_stays_on_one_line(text: str, width: int) -> None:
    assert unbroken(text) == width


def test_tables_get_smaller_before_their_words_break() -> None:
    assert of(8, "1,234.5") == ""
    assert of(14, "1,234.5") == "crowded"
    assert of(30, "1,234.5") == "crowded overfull"


def test_long_texts_take_little_room() -> None:
    assert of(8, "x" * 60) == ""
