"""Everybody can use a page: axe-core finds no serious fault, in any colours and at any width."""

import importlib.resources
from pathlib import Path
from typing import Any

import pytest

from tests.browser.page import Page

RUN = "const done = arguments[arguments.length - 1]; axe.run(document, {resultTypes: ['violations']}).then(done)"


def faults(page: Page) -> list[dict[str, Any]]:
    """Return the serious and critical faults that axe-core finds."""
    axe = importlib.resources.files("selenium_axe_python") / "axe-core" / "axe.min.js"
    page.command("Runtime.evaluate", expression=axe.read_text(encoding="utf-8"))
    page.browser.set_script_timeout(120)
    found = page.browser.execute_async_script(RUN)["violations"]
    return [
        {"rule": fault["id"], "impact": fault["impact"], "where": [node["html"][:200] for node in fault["nodes"][:5]]}
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1600])
def test_no_serious_fault(browser: Page, english: Path, width: int, dark: bool) -> None:
    page = browser.open(english, width=width, dark=dark)
    page.see_everything()
    assert faults(page) == []


def test_no_serious_fault_in_chinese(browser: Page, chinese: Path) -> None:
    page = browser.open(chinese)
    page.see_everything()
    assert faults(page) == []


def test_axe_does_find_faults(browser: Page, english: Path) -> None:
    page = browser.open(english)
    page.run("document.querySelector('#table-pods input').removeAttribute('aria-label')")
    page.run("document.querySelector('#table-pods input').removeAttribute('placeholder')")
    assert [fault["rule"] for fault in faults(page)] == ["label"]


def test_the_verdict_is_more_than_a_colour(browser: Page, english: Path) -> None:
    page = browser.open(english)
    assert page.run("return document.querySelector('.outcome').innerText") == "Passed"
    assert page.run("return document.querySelector('.outcome use').getAttribute('href')") == "#symbol-good"
