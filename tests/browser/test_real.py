"""Pages of whole reports, as the sections make them: small, without complaint, and for everybody."""

import re
from pathlib import Path

import pytest

from harness.report.assemble import assemble
from harness.report.sources import gather
from harness.report.words import Words, catalogue
from tests.browser.conftest import written
from tests.browser.everything import VARIANTS
from tests.browser.page import Page
from tests.browser.test_access import faults
from tests.browser.test_languages import SHAPELESS
from tests.browser.test_reading import CUT, MARK, MARKS, STICKING_OUT
from tests.unit.report.large import Large

SAMPLE = Path(__file__).parents[2] / "reports" / "sample" / "record"
NAMED_MARKS = """return [...document.querySelectorAll(".drawn svg *")]
  .filter((part) => part.getAttributeNames().some((name) => name === "role" || name.startsWith("aria-")))
  .map((part) => part.outerHTML.slice(0, 200))"""
# Where the first and the last figure of a table end, and what of it is seen without scrolling.
FIGURES = """return [...document.querySelectorAll(".table")].map((table) => {
  const box = table.querySelector(".scroll"), row = [...table.querySelectorAll("tbody tr:first-child td.number")];
  const ends = row.map((cell) => cell.getBoundingClientRect().right - box.getBoundingClientRect().left);
  return [table.id, [ends[0], ends[ends.length - 1], box.clientWidth + 1]];
}).filter(([, [first]]) => first)"""
BYTES_MAX = 3_000_000
COMPARISON = "#table-comparison .scroll"
# Between the margins that pages are printed with.
A4_PIXELS = 688
LINES = """return [...document.querySelectorAll(arguments[0])].map((cell) => {
  const text = [...cell.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).pop(), lines = [];
  let last = null;
  [...text.data].forEach((character, place) => {
    const range = document.createRange();
    range.setStart(text, place); range.setEnd(text, place + 1);
    const top = Math.round(range.getBoundingClientRect().top);
    if (top === last) lines[lines.length - 1] += character; else lines.push(character);
    last = top;
  });
  return lines;
})"""


@pytest.fixture(scope="module", params=["en", "zh"])
def five(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report on twenty pods and five variants."""
    folder = tmp_path_factory.mktemp("five")
    shapes = [
        Large(20, 3, 2, variant == "extender", variant == "framework-plugin", 5, variant, f"20261116-12-{variant}-0001")
        for variant in VARIANTS
    ]
    sources = gather([shape.write(folder) for shape in shapes])
    return written(assemble(sources, Words(request.param)), folder)


@pytest.fixture(scope="module")
def thousands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report on ten thousand pods and a thousand nodes."""
    folder = tmp_path_factory.mktemp("thousands")
    shape = Large(10_000, 1000, 3000, calls=True, trace=True, cassette_calls=50, variant="extender")
    return written(assemble(gather([shape.write(folder)]), Words("en")), folder)


@pytest.fixture(scope="module", params=["sample", "all bound"])
def ordinary(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report on the sample's record as it is rendered now, and one on a run in which no pod had to wait."""
    folder = tmp_path_factory.mktemp("ordinary")
    bound = Large(20, 3, 0, calls=False, trace=False, cassette_calls=0, variant="default")
    record = SAMPLE if request.param == "sample" else bound.write(folder)
    return written(assemble(gather([record]), Words("en")), folder)


@pytest.mark.parametrize("width", [400, 1600])
def test_ordinary_reports_are_for_everybody(browser: Page, ordinary: Path, width: int) -> None:
    page = browser.open(ordinary, width=width)
    page.see_everything()
    assert faults(page) == []
    assert page.run(NAMED_MARKS) == []


@pytest.mark.parametrize("width", [400, 1600])
def test_figures_of_ordinary_tables_come_into_view(browser: Page, ordinary: Path, width: int) -> None:
    page = browser.open(ordinary, width=width)
    page.see_everything()
    shown = dict(page.run(FIGURES))
    assert {"table-runs", "table-pods", "table-metrics", "table-metrics-durations"} <= set(shown)
    assert {name for name, (first, _, seen) in shown.items() if first > seen} <= {"table-pods"}
    if width == 1600:
        hidden = {name for name, (_, last, seen) in shown.items() if last > seen}
        assert not hidden & {"table-runs", "table-pods", "table-metrics", "table-metrics-durations"}


def test_five_variants(browser: Page, five: Path) -> None:
    assert five.stat().st_size < BYTES_MAX
    page = browser.open(five, width=1600)
    page.see_everything()
    marks = page.run(MARKS, f".drawn {MARK}")
    assert marks
    assert all(marks)
    assert page.complaints() == []
    assert page.requests() == [f"file://{five}"]


def test_the_comparison_is_seen_without_scrolling(browser: Page, five: Path) -> None:
    page = browser.open(five, width=1400)
    wide, seen = page.run(f"const e = document.querySelector('{COMPARISON}'); return [e.scrollWidth, e.clientWidth]")
    assert wide <= seen


def test_on_paper_names_break_at_their_hyphens_only(browser: Page, five: Path) -> None:
    page = browser.open(five, width=A4_PIXELS)
    page.media(paper=True)
    assert page.run("return document.documentElement.scrollWidth") <= A4_PIXELS
    lines = page.run(LINES, f"{COMPARISON} td:first-child")
    assert {"".join(parts) for parts in lines} >= set(VARIANTS)
    assert [parts for parts in lines if any(not part.endswith("-") for part in parts[:-1])] == []


@pytest.mark.parametrize("width", [400, 1600])
def test_five_variants_fit(browser: Page, five: Path, width: int) -> None:
    page = browser.open(five, width=width)
    page.see_everything()
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert page.run(STICKING_OUT) == []
    assert page.run(CUT) == []
    assert faults(page) == []


def test_no_key_and_no_box_is_seen(browser: Page, five: Path) -> None:
    page = browser.open(five)
    page.see_everything()
    seen = page.run("return document.body.innerText")
    assert [key for key in catalogue() if re.search(rf"(?<![\w.]){re.escape(key)}(?![\w.])", seen)] == []
    if not page.run(SHAPELESS, "中"):
        assert page.run(SHAPELESS) == []


def test_thousands_of_pods(browser: Page, thousands: Path) -> None:
    page = browser.open(thousands, width=1600)
    page.see_everything()
    assert all(page.run(MARKS, f".drawn {MARK}"))
    assert page.run("return document.querySelectorAll('tbody tr').length") < 2000
    assert page.run("return document.documentElement.scrollWidth") <= 1600
    assert page.complaints() == []
    page.run("[...document.querySelectorAll('.more button')].find((one) => one.innerText.includes('10,000')).click()")
    seen = "[...document.querySelectorAll('output')].some((one) => one.innerText === '10,000 rows')"
    page.until(f"{seen} && document.querySelectorAll('tbody tr').length < 3000")
    assert page.complaints() == []
