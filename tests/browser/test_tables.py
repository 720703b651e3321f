"""Tables can be sorted, searched and narrowed, and 10,000 rows stay quick."""

from pathlib import Path

import pytest

from harness.report.render.cells import NOTHING, shown
from harness.report.words import Words
from tests.browser.everything import LONGEST, NODES, POD_NAMES, ROUNDED
from tests.browser.page import Page

SORT = "document.querySelectorAll(`#table-${arguments[0]} th .sort`)[arguments[1]].click()"
FIND = """const box = document.querySelector(`#table-${arguments[0]} input`);
box.value = arguments[1]; box.dispatchEvent(new Event('input'))"""
CHOOSE = """const box = document.querySelectorAll(`#table-${arguments[0]} select`)[arguments[1]];
box.value = [...box.options].find((option) => option.text === arguments[2]).value;
box.dispatchEvent(new Event('change'))"""
COUNT = "document.querySelector('#table-pods output').innerText"
MORE = "document.querySelector('#table-pods .more button')"


def column(page: Page, table: str, place: int) -> list[str]:
    return [row[place] for row in page.rows(table)]


def test_sorting_goes_up_down_and_back(browser: Page, english: Path) -> None:
    page = browser.open(english)
    original = page.rows("comparison")
    page.run(SORT, "comparison", 0)
    assert column(page, "comparison", 0) == sorted(row[0] for row in original)
    page.run(SORT, "comparison", 0)
    assert column(page, "comparison", 0) == sorted((row[0] for row in original), reverse=True)
    assert page.run("return document.querySelector('#table-comparison th').ariaSort") == "descending"
    page.run(SORT, "comparison", 0)
    assert page.rows("comparison") == original
    assert page.run("return document.querySelector('#table-comparison th').ariaSort") is None


def test_numbers_are_sorted_as_numbers_and_what_is_missing_comes_last(browser: Page, english: Path) -> None:
    page = browser.open(english)
    page.run(SORT, "pods", 3)
    # What is too small for its digits reads <0.01.
    seen = [0.0 if text[0] == "<" else float(text.replace(",", "")) for text in column(page, "pods", 3)]
    assert seen == sorted(seen)
    page.run(SORT, "pods", 3)
    assert column(page, "pods", 3)[0] == "1,234,567.89"
    for _ in range(2):
        page.run(SORT, "comparison", 3)
        assert column(page, "comparison", 3)[-1] == NOTHING


def test_names_are_sorted_by_their_numbers(browser: Page, english: Path) -> None:
    page = browser.open(english)
    page.run(FIND, "pods", "web-1")
    page.until(f"{COUNT}.includes('matching')")
    page.run(SORT, "pods", 0)
    assert column(page, "pods", 0)[:4] == ["web-1", "web-10", "web-11", "web-12"]
    assert column(page, "pods", 0)[11] == "web-100"


def test_a_row_reads_the_same_before_and_after(browser: Page, english: Path) -> None:
    page = browser.open(english)
    before = page.run("return document.querySelector('#table-pods tbody').innerHTML")
    assert column(page, "pods", 3)[: len(ROUNDED)] == [shown(number, 2, Words("en")) for number in ROUNDED]
    for _ in range(3):
        page.run(SORT, "pods", 1)
    after = page.run("return document.querySelector('#table-pods tbody').innerHTML")
    assert after.replace("\n", "") == before.replace("\n", "")


def test_searching(browser: Page, english: Path) -> None:
    page = browser.open(english)
    page.run(FIND, "pods", " WEB-19 ")
    page.until(f"{COUNT} === '8 of 8 matching rows, 200 in all'")
    assert column(page, "pods", 0) == ["web-19", *(f"web-{number}" for number in range(190, 197))]
    page.run(FIND, "pods", "nobody")
    page.until("document.querySelector('#table-pods .nothing').offsetHeight > 0")
    assert page.rows("pods") == []
    page.run(FIND, "pods", "")
    page.until(f"{COUNT} === '20 of 200 rows'")
    assert column(page, "pods", 0)[2] == LONGEST


def test_narrowing_by_two_columns(browser: Page, english: Path) -> None:
    page = browser.open(english)
    page.run(CHOOSE, "pods", 0, "extender")
    page.run(CHOOSE, "pods", 1, NODES[1])
    assert {tuple(row[1:3]) for row in page.rows("pods")} == {("extender", NODES[1])}
    assert page.run(f"return {COUNT}") == "14 of 14 matching rows, 200 in all"
    page.run(CHOOSE, "pods", 1, "Node: all")
    assert page.run(f"return {COUNT}") == "20 of 40 matching rows, 200 in all"


def test_all_rows_and_back(browser: Page, english: Path) -> None:
    page = browser.open(english)
    assert len(page.rows("pods")) == 20
    assert page.run(f"return {MORE}.innerText") == "Show all 200 rows"
    page.run(f"{MORE}.click()")
    assert len(page.rows("pods")) == 200
    assert page.run(f"return {COUNT}") == "200 rows"
    page.run(f"{MORE}.click()")
    assert len(page.rows("pods")) == 20


def test_marked_rows_keep_their_mark(browser: Page, english: Path) -> None:
    page = browser.open(english)
    page.run(SORT, "pods", 0)
    page.run(FIND, "pods", "web-4")
    page.until(f"{COUNT}.includes('matching')")
    assert page.run("return document.querySelector('#table-pods tr.bad').cells[0].textContent") == "Problem web-4"


def test_ten_thousand_rows(browser: Page, large: Path) -> None:
    page = browser.open(large)
    assert len(page.rows("pods")) == 20
    page.run(SORT, "pods", 0)
    assert page.run(f"return {COUNT}") == "20 of 10,000 rows"
    page.run(f"{MORE}.click()")
    assert page.run(f"return {COUNT}") == "10,000 rows"
    for helping in (300, 600, 900):
        page.until(f"document.querySelectorAll('#table-pods tbody tr').length === {helping}")
        page.run("const box = document.querySelector('#table-pods .scroll'); box.scrollTop = box.scrollHeight")
    names = column(page, "pods", 0)[len(POD_NAMES) :]
    assert names[-1] == f"web-{len(names) - 1}"
    page.run(FIND, "pods", "web-9996")
    page.until("document.querySelectorAll('#table-pods tbody tr').length === 1")
    assert page.rows("pods")[0][0] == "web-9996"
    assert page.complaints() == []


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_keys_are_enough(browser: Page, english: Path, key: str) -> None:
    page = browser.open(english)
    page.run("document.querySelector('#table-comparison th .sort').focus()")
    text = "\r" if key == "Enter" else " "
    for kind in ("keyDown", "keyUp"):
        page.command("Input.dispatchKeyEvent", type=kind, key=text if key == "Space" else key, code=key, text=text)
    assert page.run("return document.querySelector('#table-comparison th').ariaSort") == "ascending"
