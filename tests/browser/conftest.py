"""Tests of pages in a real Chromium: Debian's `chromium` and `chromium-driver`, or whatever is on PATH."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.report.document import Document
from harness.report.render import html
from harness.report.words import Words
from tests.browser.everything import everything
from tests.browser.page import Page, start

HERE = Path(__file__).parent
REQUIRE = "HARNESS_REQUIRE_BROWSER"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "browser: opens pages in a real Chromium")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.browser)
            # One browser for all of them, whatever number of workers there is.
            item.add_marker(pytest.mark.xdist_group("browser"))


def unavailable(why: str) -> None:
    """Skip what cannot be tested here; where it must be tested, fail."""
    if os.environ.get(REQUIRE, "") not in ("", "0"):
        pytest.fail(f"a browser is required here ({REQUIRE}): {why}", pytrace=False)
    pytest.skip(f"browser: {why}")


def program(*names: str) -> str:
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        unavailable(f"none of {', '.join(names)} is on PATH; apt-get install chromium chromium-driver")
    return str(found)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A browser for the whole session."""
    chromium, chromedriver = program(*BROWSERS), program("chromedriver")
    driver = start(chromium, chromedriver, tmp_path_factory.mktemp("profile"))
    yield Page(driver)
    driver.quit()


def written(document: Document, folder: Path) -> Path:
    """Write a page as the command line does, and return its file."""
    for name, content in html.render(document, Words(document.language)).items():
        (folder / name).write_bytes(content)
    return folder / html.FILE


@pytest.fixture(scope="session")
def english(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page with every kind of block."""
    return written(everything("en"), tmp_path_factory.mktemp("english"))


@pytest.fixture(scope="session")
def chinese(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same in Chinese."""
    return written(everything("zh"), tmp_path_factory.mktemp("chinese"))


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a table of 10,000 rows."""
    return written(everything("en", pods=10_000), tmp_path_factory.mktemp("large"))
