"""docs/reference/report.md knows every format, table, key and name that a template gets."""

import json
import re

from harness.report.assemble import assemble
from harness.report.lab import write_up
from harness.report.render import json as report_json
from harness.report.render.formats import FORMATS
from harness.report.render.template import given
from harness.report.sources import gather
from harness.report.words import Words
from tests.docs.pages import ROOT, names_code, page

REPORT = page("docs/reference/report.md")
WORDS = Words("en")
SOURCES = gather([ROOT / "reports" / "sample" / "record"])
DOCUMENT = assemble(SOURCES, WORDS)


def first_column(title: str) -> list[str]:
    rows = re.findall(r"^\| (`[^|]+) \|", REPORT.section(title), re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`([^`(]+)", row) if name.strip(" ,")]


def test_formats() -> None:
    assert re.findall(r"^\| `(\w+)` \|", REPORT.section("Formats").partition("###")[0], re.MULTILINE) == list(FORMATS)


def test_tables() -> None:
    told = first_column("Tables")
    prefixes = tuple(name.removesuffix("…") for name in told if name.endswith("…"))
    assert not [one.name for one in DOCUMENT.tables() if one.name not in told and not one.name.startswith(prefixes)]


def test_keys_of_json() -> None:
    value = json.loads(report_json.render(DOCUMENT)["report.json"])
    section = REPORT.section("report.json")
    told = [name.removesuffix("[]") for name in first_column("report.json")]
    assert sorted(told) == sorted(value)
    nested = {*value["checks"][0], *value["tables"][0], *value["tables"][0]["columns"][0]}
    assert not [key for key in nested if not names_code(section, key) and not names_code(section, f"{key}[]")]


def test_names_in_templates() -> None:
    assert first_column("Templates of your own") == list(given(DOCUMENT, DOCUMENT, SOURCES, WORDS))


def test_chapters() -> None:
    section = REPORT.section("Templates of your own")
    made = (*DOCUMENT.sections, *write_up(SOURCES, DOCUMENT, WORDS).sections)
    assert not [one.name for one in made if not one.name.startswith("result-") and not names_code(section, one.name)]
