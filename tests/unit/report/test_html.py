"""The page, as text: complete, alone, and nothing from a record is more than text."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import orjson
import pytest

from harness.report.document import Column, Document, Section, Table, Text
from harness.report.render import cells, html
from harness.report.words import Words
from tests.browser.everything import ATTACK, EMOJI, LONGEST, everything

# Elements that have no end.
VOID = {"meta", "input", "br", "img", "link"}


class Reader(HTMLParser):
    """What a browser would find: elements with their attributes, and scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append((self.elements[-1][1], data))


def page_of(document: Document) -> str:
    files = html.render(document, Words(document.language))
    assert list(files) == ["report.html"]
    return files["report.html"].decode()


def fingerprint(program: str) -> str:
    return base64.b64encode(hashlib.sha256(program.encode()).digest()).decode()


def document_of(*blocks: Any, title: str = "t", language: str = "en") -> Document:
    return Document(title, "s", "unclear", language, (Section("one", "One", blocks),), ("id-1",))


def table_of(*rows: tuple[Any, ...], **more: Any) -> Table:
    columns = tuple(Column(f"c{place}", f"C{place}", 2) for place in range(len(rows[0])))
    return Table("numbers", "Numbers", columns, rows, **more)


@pytest.fixture(scope="module")
def whole() -> str:
    return page_of(everything())


def test_the_page_stands_alone(whole: str) -> None:
    reader = Reader(whole)
    assert reader.open == []
    assert not [tag for tag, _ in reader.elements if tag in {"link", "img", "iframe", "object", "embed", "base"}]
    addresses = [
        value for _, said in reader.elements for key, value in said.items() if key in {"src", "href"} and value
    ]
    assert addresses
    assert all(address.startswith("#") for address in addresses)


def test_the_policy_lets_only_the_page_s_own_programs_run(whole: str) -> None:
    reader = Reader(whole)
    policy = next(said["content"] for tag, said in reader.elements if said.get("http-equiv")) or ""
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe-eval" not in policy
    allowed = re.findall(r"'sha256-([^']+)'", policy)
    programs = [text for said, text in reader.scripts if "type" not in said]
    assert len(programs) == 3
    assert sorted(allowed) == sorted(map(fingerprint, programs))


def test_every_kind_of_block_is_there(whole: str) -> None:
    classes = {name for _, said in Reader(whole).elements for name in (said.get("class") or "").split()}
    assert {"text", "listing", "callout", "code", "facts", "table", "picture", "fold", "verdict"} <= classes


def test_addresses_inside_the_page_are_unique(whole: str) -> None:
    ids = [said["id"] or "" for _, said in Reader(whole).elements if "id" in said]
    assert sorted(ids) == sorted(set(ids))
    targets = {said["href"] for tag, said in Reader(whole).elements if tag == "a"}
    assert targets == {"#report", "#comparison", "#placement", "#details"}


def test_names_are_text_wherever_they_stand(whole: str) -> None:
    assert ATTACK not in whole
    assert EMOJI not in whole
    assert whole.count(ATTACK.replace("<", "&lt;").replace(">", "&gt;")) >= 2
    data = [orjson.loads(text) for said, text in Reader(whole).scripts if said.get("type") == "application/json"]
    pods = next(one for one in data if one.get("name") == "pods")
    assert [row[0] for row in pods["rows"][:3]] == [ATTACK, EMOJI, LONGEST]


def test_a_name_in_every_place() -> None:
    columns = (Column(ATTACK, ATTACK),)
    blocks = (Table(ATTACK, ATTACK, columns, ((ATTACK,), (ATTACK,)), ATTACK), Text(f"`{ATTACK}`"))
    document = Document(ATTACK, ATTACK, "failed", "en", (Section(ATTACK, ATTACK, blocks),) * 2, (ATTACK,))
    page = page_of(document)
    assert ATTACK not in page
    assert "<code>&lt;script&gt;" in page
    assert Reader(page).open == []


def test_data_cannot_end_its_element() -> None:
    value = {"a": "</script><!--\u2028&", "b": float("nan"), 3: [True, None]}
    text = html.data(value)
    assert not set(text) & set("<>&\u2028")
    assert orjson.loads(str(text)) == {"a": "</script><!--\u2028&", "b": None, "3": [True, None]}


def test_half_a_character_is_no_traceback() -> None:
    assert "half ?" in page_of(document_of(Text("half \ud800")))


def test_the_same_report_gives_the_same_page(whole: str) -> None:
    assert page_of(everything()) == whole


def test_the_page_is_small_enough(whole: str) -> None:
    assert len(whole.encode()) < 3_000_000


def test_without_pictures_there_is_no_program_for_them() -> None:
    assert len(page_of(document_of(Text("x")))) < 100_000


def test_a_long_table_is_written_in_part_and_given_as_data() -> None:
    rows = [(f"pod-{number}", number) for number in range(1000)]
    page = page_of(document_of(table_of(*rows, shown=7)))
    assert page.count("<td>pod-") == 7
    assert "These are the first 7 of 1,000 rows; all of them are in tables/numbers.csv." in page
    assert '["pod-999",999]' in page


def test_a_short_table_is_written_whole() -> None:
    rows = [(f"pod-{number}", number) for number in range(300)]
    page = page_of(document_of(table_of(*rows, shown=7)))
    assert page.count("<td>pod-") == 300
    assert 'class="first"' not in page


def test_columns_of_numbers_are_known() -> None:
    table = table_of((1, "a", None, 1.5, True), (2.5, 3, None, None, False))
    assert html.numbers(table) == [True, False, False, True, False]


@pytest.mark.parametrize(
    ("cell", "digits", "text"),
    [
        (None, 2, cells.NOTHING),
        (float("nan"), 2, cells.NOTHING),
        (float("inf"), None, cells.NOTHING),
        (True, None, "yes"),
        (1234567, None, "1,234,567"),
        (1234567, 1, "1,234,567.0"),
        (0.125, 2, "0.12"),
        (3.0, None, "3"),
        (3.14159, None, "3.142"),
        ("1.50", 1, "1.50"),
        (0.00001, 4, "<0.0001"),
        (0.00006, 4, "0.0001"),
        (0.0, 4, "0.0000"),
    ],
)
def test_values(cell: Any, digits: int | None, text: str) -> None:
    assert cells.shown(cell, digits, Words("en")) == text


def test_marked_rows_say_so_in_words() -> None:
    page = page_of(document_of(table_of(("a",), ("b",), marks={1: "warning"})))
    assert '<span class="unseen">Warning </span>b</td>' in page


def test_a_heading_is_not_shown_twice() -> None:
    table = table_of(("a",))
    section = Section("one", table.title, (table,))
    page = page_of(Document("t", "s", "passed", "en", (section,), ()))
    assert '<h3 id="table-numbers-title" class="unseen">Numbers</h3>' in page


def test_the_language_of_the_page() -> None:
    page = page_of(document_of(Text("文字"), language="zh"))
    assert '<html lang="zh">' in page
    assert "无法判断" in page


def test_files_of_the_page_are_part_of_the_package() -> None:
    needed = {*html.STYLES, *html.PROGRAMS, "start.js", "report.html.j2", "blocks.html.j2"}
    assert {path.name for path in Path(html.__file__).with_name("page").iterdir()} == needed


def test_what_no_xml_may_hold_is_in_no_data_of_the_page() -> None:
    assert orjson.loads(str(html.data({"pod": "a\x00b\x1b\uffff"}))) == {"pod": "a\ufffdb\ufffd\ufffd"}
