"""Pictures have marks, fit, follow the colours of the page, and can be saved."""

from pathlib import Path

import pytest

from tests.browser.page import Page
from tests.browser.test_reading import MARK, MARKS

AXIS_INK = """const text = document.querySelector('#picture-bars .drawn .role-axis-title text');
return text && getComputedStyle(text).fill"""


@pytest.mark.parametrize("width", [400, 1600])
def test_every_picture_has_marks(browser: Page, english: Path, width: int) -> None:
    page = browser.open(english, width=width)
    page.see_everything()
    still, drawn = page.run(MARKS, f".still {MARK}"), page.run(MARKS, f".drawn {MARK}")
    assert drawn == still
    assert drawn == [15, 5, 1000]


def test_pictures_are_drawn_when_they_come_into_view(browser: Page, english: Path) -> None:
    page = browser.open(english)
    page.until("document.querySelector('#picture-bars .live') !== null")
    assert page.run("return document.querySelector('#picture-heat .live')") is None
    page.run("document.querySelector('.fold').open = true; document.querySelector('#picture-heat').scrollIntoView()")
    page.until("document.querySelector('#picture-heat .live') !== null")


@pytest.mark.parametrize("width", [400, 1600])
def test_a_picture_is_as_wide_as_there_is_room(browser: Page, english: Path, width: int) -> None:
    page = browser.open(english, width=width)
    page.see_everything()
    script = "return document.querySelector('#picture-bars .drawn svg').getBoundingClientRect().width"
    assert (width < 500) == (page.run(script) < 400)
    # A picture that was only made smaller would have letters nobody can read.
    scale = "const svg = document.querySelector('#picture-bars .drawn svg');"
    assert page.run(f"{scale} return svg.getBoundingClientRect().width / svg.viewBox.baseVal.width") > 0.95


def test_a_picture_is_drawn_anew_for_another_width(browser: Page, english: Path) -> None:
    page = browser.open(english, width=1200)
    page.until("document.querySelector('#picture-bars .live') !== null")
    page.resize(420)
    page.until("document.querySelector('#picture-bars .drawn svg').viewBox.baseVal.width < 420")


def test_readers_hear_one_sentence_about_a_picture(browser: Page, english: Path) -> None:
    page = browser.open(english)
    page.see_everything()
    for kind in ("still svg", "drawn"):
        holder = "#picture-bars .still" if kind == "still svg" else "#picture-bars .drawn svg"
        script = """const image = document.querySelector(arguments[0]);
            const text = (name) => document.getElementById(image.getAttribute(name)).textContent;
            return [image.getAttribute('role'), text('aria-labelledby'), text('aria-describedby')]"""
        told = ["img", "Placement", "Every variant spreads the pods evenly: 6 or 7 on each node."]
        assert page.run(script, holder) == told


def test_the_button_changes_the_colours_of_page_and_pictures(browser: Page, english: Path) -> None:
    page = browser.open(english)
    page.until("document.querySelector('#picture-bars .live') !== null")
    light = page.run("return getComputedStyle(document.body).backgroundColor"), page.run(AXIS_INK)
    page.run("document.querySelector('#theme').click()")
    dark = page.run("return getComputedStyle(document.body).backgroundColor"), page.run(AXIS_INK)
    assert light == ("rgb(255, 255, 255)", "rgb(36, 41, 46)")
    assert dark == ("rgb(20, 23, 26)", "rgb(228, 231, 234)")
    assert page.run("return document.querySelector('#theme').ariaPressed") == "true"
    page.browser.refresh()
    assert page.run("return getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    page.run("document.querySelector('#theme').click()")
    assert page.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_the_system_can_ask_for_the_dark(browser: Page, english: Path) -> None:
    page = browser.open(english, dark=True)
    page.until("document.querySelector('#picture-bars .live') !== null")
    assert page.run(AXIS_INK) == "rgb(228, 231, 234)"
    assert page.run("return document.querySelector('#theme').ariaPressed") == "true"


@pytest.mark.parametrize("form", ["svg", "png"])
def test_a_picture_can_be_saved(browser: Page, english: Path, tmp_path: Path, form: str) -> None:
    page = browser.open(english)
    page.until("document.querySelector('#picture-bars .saves') !== null")
    page.command("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page.run("document.querySelector(`#picture-bars .saves [aria-label$=${arguments[0]}]`).click()", form.upper())
    saved = tmp_path / f"bars.{form}"
    page.until_here(saved.is_file, f"{saved.name} saved")
    assert saved.read_bytes().startswith(b"<svg" if form == "svg" else b"\x89PNG")
    assert page.complaints() == []
