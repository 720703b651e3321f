"""A Chinese page has no text of another language of its own, no missing key, and no character without a shape."""

import re
from pathlib import Path

from harness.report.words import Words, catalogue
from tests.browser.conftest import unavailable
from tests.browser.page import Page

# Characters that are drawn as the box that stands for what a font does not have.
SHAPELESS = """
const labels = [...document.querySelectorAll('svg text')].map((text) => text.textContent);
const texts = arguments[0] || document.body.innerText + labels.join('');
const canvas = new OffscreenCanvas(40, 40);
const pen = canvas.getContext('2d', { willReadFrequently: true });
pen.font = `24px ${getComputedStyle(document.body).fontFamily}`;
const drawn = (character) => {
  pen.clearRect(0, 0, 40, 40);
  pen.fillText(character, 4, 30);
  return pen.getImageData(0, 0, 40, 40).data.join();
};
const box = drawn('\\u0378');
return [...new Set(texts)].filter((c) => c.trim() && !/\\p{Extended_Pictographic}/u.test(c) && drawn(c) === box)"""


def test_every_character_has_a_shape(browser: Page, chinese: Path) -> None:
    page = browser.open(chinese)
    if page.run(SHAPELESS, "中"):
        unavailable("no Chinese font is installed; apt-get install fonts-wqy-microhei")
    page.see_everything()
    # What must be found is found: no font has this one.
    assert page.run(SHAPELESS, "\u0379中") == ["\u0379"]
    assert page.run(SHAPELESS) == []


def test_the_page_knows_its_language(browser: Page, chinese: Path) -> None:
    assert browser.open(chinese).run("return document.documentElement.lang") == "zh"


def test_no_key_and_no_english_of_the_page_is_seen(browser: Page, chinese: Path) -> None:
    page = browser.open(chinese)
    page.see_everything()
    script = """const named = [...document.querySelectorAll('[title], [aria-label], [placeholder]')];
        const names = named.map((element) => [element.title, element.ariaLabel, element.placeholder].join(' '));
        return document.documentElement.innerText + names.join(' ')"""
    seen = page.run(script)
    assert [key for key in catalogue() if key in seen] == []
    assert re.findall(r"\{\w+\}", seen) == []
    english = {key: Words("en")(key) for key in catalogue() if key.startswith("page.") and "{" not in Words("en")(key)}
    said = [text for text in english.values() if re.search(rf"\b{re.escape(text)}\b", seen)]
    assert said == []
