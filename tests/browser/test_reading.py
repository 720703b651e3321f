"""A page can be read: from disk, without JavaScript, on paper, on a telephone, in the dark."""

import re
from pathlib import Path

import pytest

from tests.browser.everything import LONGEST, POD_NAMES
from tests.browser.page import Page

# Elements that stick out of the window, but for those in a box that scrolls.
STICKING_OUT = """return [...document.querySelectorAll('body *')].filter((element) => {
  if (element.closest('.scroll, .plot, pre, .symbols, .skip, .unseen, script, style')) return false;
  const box = element.getBoundingClientRect();
  return box.width && (box.right > innerWidth + 1 || box.left < -1);
}).map((element) => element.outerHTML.slice(0, 200))"""
# Boxes that hide a part of their text.
CUT = """return [...document.querySelectorAll('body *')].filter((element) => {
  const style = getComputedStyle(element);
  if (element.closest('.unseen, svg, script, style, .vega-embed') || style.display === 'inline') return false;
  const hides = (value) => value === 'hidden' || value === 'clip';
  return (hides(style.overflowX) && element.scrollWidth > element.clientWidth + 1)
    || (hides(style.overflowY) && element.scrollHeight > element.clientHeight + 1);
}).map((element) => element.outerHTML.slice(0, 200))"""
MARKS = "return [...document.querySelectorAll('.plot')].map((plot) => plot.querySelectorAll(arguments[0]).length)"
MARK = "[class*='role-mark'] > :is(path, line, rect, text)"


@pytest.mark.parametrize("width", [400, 1600])
def test_nothing_is_wrong_on_opening(browser: Page, english: Path, width: int) -> None:
    page = browser.open(english, width=width)
    page.see_everything()
    assert page.complaints() == []
    assert page.requests() == [f"file://{english}"]


def test_names_from_a_record_are_text(browser: Page, english: Path) -> None:
    page = browser.open(english)
    page.see_everything()
    assert not page.run("return window.attacked || document.querySelectorAll('img').length > 0")
    assert [row[0] for row in page.rows("pods")[:3]] == list(POD_NAMES)


def test_without_javascript(browser: Page, english: Path) -> None:
    page = browser.open(english, script=False)
    assert len(page.rows("pods")) == 200
    assert all(page.run(MARKS, f".still svg {MARK}"))
    assert page.run("return getComputedStyle(document.querySelector('#theme')).display") == "none"
    assert page.run("return document.querySelectorAll('.tools').length") == 0


def test_without_javascript_a_long_table_says_where_the_rest_is(browser: Page, large: Path) -> None:
    page = browser.open(large, script=False)
    assert len(page.rows("pods")) == 20
    note = page.run("return document.querySelector('#table-pods .first').innerText")
    assert note == "These are the first 20 of 10,000 rows; all of them are in tables/pods.csv."


@pytest.mark.parametrize("language", ["english", "chinese"])
@pytest.mark.parametrize("width", [400, 768, 1600])
def test_every_width(browser: Page, request: pytest.FixtureRequest, language: str, width: int) -> None:
    page = browser.open(request.getfixturevalue(language), width=width)
    page.see_everything()
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert page.run(STICKING_OUT) == []
    assert page.run(CUT) == []


def test_the_narrow_page_without_javascript(browser: Page, english: Path) -> None:
    page = browser.open(english, width=400, script=False)
    assert page.run("return document.documentElement.scrollWidth") <= 400
    assert page.run(STICKING_OUT) == []


@pytest.mark.parametrize("script", [True, False])
def test_paper(browser: Page, english: Path, script: bool) -> None:
    page = browser.open(english, width=760, dark=True, script=script)
    assert not page.run("return document.querySelector('.folded').checkVisibility()")
    page.media(paper=True, dark=True)
    assert page.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    unwanted = "nav, .tools, .more, button"
    assert not page.run("return [...document.querySelectorAll(arguments[0])].some((e) => e.offsetHeight)", unwanted)
    assert page.run("return document.querySelector('.folded').checkVisibility()")
    assert page.run("return document.documentElement.scrollWidth") <= 760
    # Chromium repeats a heading on the next sheet, but leaves out what stands in its buttons.
    assert not page.run("return document.querySelectorAll('thead button').length")
    inner = "[...document.querySelectorAll('.scroll, pre')].filter((e) => e.scrollWidth > e.clientWidth + 1).length"
    assert page.run(f"return {inner}") == 0


def test_printing_gives_a_pdf_and_leaves_the_page_as_it_was(browser: Page, english: Path) -> None:
    page = browser.open(english)
    pdf = page.pdf()
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 3
    assert page.run("return document.querySelectorAll('.fold[open]').length") == 0


def test_long_names_take_several_lines(browser: Page, english: Path) -> None:
    page = browser.open(english, width=400)
    script = """const lines = (e) => e.getBoundingClientRect().height / parseFloat(getComputedStyle(e).lineHeight);
        const texts = [...document.querySelectorAll('td, dd, li, p')];
        return texts.filter((e) => e.textContent.includes(arguments[0])).map(lines)"""
    lines = page.run(script, LONGEST)
    assert len(lines) == 4
    assert min(lines) > 4
