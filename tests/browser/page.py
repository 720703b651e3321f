"""A page in a real Chromium, as a test sees and touches it."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

WAIT_SECONDS = 30
# As root and in containers Chromium has no sandbox; the rest keeps it from calling home.
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def start(chromium: str, chromedriver: str, profile: Path) -> Chrome:
    """Start a browser that writes down what its console and its network do."""
    options = ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return Chrome(options=options, service=Service(chromedriver))


class Page:
    """One page at a time."""

    def __init__(self, browser: Chrome) -> None:
        self.browser = browser

    def open(self, path: Path, *, width: int = 1200, dark: bool = False, script: bool = True) -> "Page":
        """Open a file from disk."""
        self.browser.get("about:blank")
        self.command("Emulation.setScriptExecutionDisabled", value=not script)
        self.resize(width)
        self.media(dark=dark)
        # Pages from disk share one memory: no test should find what another chose.
        self.command("Storage.clearDataForOrigin", origin="file://", storageTypes="local_storage")
        self.logs("browser")
        self.logs("performance")
        self.browser.get(path.as_uri())
        return self

    def resize(self, width: int, height: int = 900) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.command("Emulation.setDeviceMetricsOverride", **size)

    def media(self, *, dark: bool = False, paper: bool = False) -> None:
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.command("Emulation.setEmulatedMedia", media="print" if paper else "", features=features)

    def command(self, name: str, **arguments: Any) -> Any:
        return self.browser.execute_cdp_cmd(name, arguments)

    def run(self, script: str, *arguments: Any) -> Any:
        """Run JavaScript in the page and return its value."""
        return self.browser.execute_script(script, *arguments)

    def until(self, condition: str, *arguments: Any) -> Any:
        """Wait until an expression of JavaScript is true, and return it."""
        told = f"still not true after {WAIT_SECONDS} s: {condition}"
        waiting = WebDriverWait(self.browser, WAIT_SECONDS, poll_frequency=0.05)
        return waiting.until(lambda _: self.run(f"return {condition}", *arguments), told)

    def until_here(self, condition: Callable[[], bool], told: str) -> None:
        """Wait until something outside of the page is true."""
        WebDriverWait(self.browser, WAIT_SECONDS, poll_frequency=0.05).until(
            lambda _: condition(), f"still not: {told}"
        )

    def see_everything(self) -> None:
        """Open all folds and make room for the whole page, until every picture is drawn."""
        self.run("document.querySelectorAll('details.fold').forEach((fold) => { fold.open = true; })")
        self.resize(self.run("return innerWidth"), self.run("return document.documentElement.scrollHeight"))
        self.until("[...document.querySelectorAll('.plot')].every((plot) => plot.classList.contains('live'))")

    def logs(self, kind: str) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = self.browser.get_log(kind)  # type: ignore[no-untyped-call]
        return entries

    def complaints(self) -> list[str]:
        """Return what the console said since the page was opened."""
        return [f"{entry['level']}: {entry['message']}" for entry in self.logs("browser")]

    def requests(self) -> list[str]:
        """Return the addresses that were asked for since the page was opened."""
        messages = [json.loads(entry["message"])["message"] for entry in self.logs("performance")]
        asked = [one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"]
        return [unquote(address) for address in asked if address != "about:blank"]

    def rows(self, table: str) -> list[list[str]]:
        """Return the texts of the rows that a table shows."""
        script = """const told = (node) => !node.classList || node.classList.contains('none');
            const text = (cell) => [...cell.childNodes].filter(told).map((node) => node.textContent).join('');
            const rows = document.querySelectorAll(`#table-${arguments[0]} tbody tr`);
            return [...rows].map((row) => [...row.cells].map(text))"""
        found: list[list[str]] = self.run(script, table)
        return found

    def pdf(self) -> bytes:
        return base64.b64decode(self.command("Page.printToPDF", printBackground=True)["data"])
