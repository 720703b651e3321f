"""Formats for programs: CSV, Parquet, JSON, JUnit and a badge."""

import csv
import io
import json
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from harness.report.document import Check, Column, Section, Table
from harness.report.render import json as report_json
from harness.report.render import junit, tables
from harness.report.render.formats import render
from harness.report.words import Words
from tests.unit.report.documents import HOSTILE, LONG, document, table


def test_csv_has_keys_and_every_row() -> None:
    files = tables.render_csv(document())
    assert list(files) == ["tables/pods.csv", "tables/inner.csv"]
    rows = list(csv.reader(io.StringIO(files["tables/pods.csv"].decode(), newline="")))
    assert rows == [
        ["pod", "p99_ms", "ready", "count"],
        [HOSTILE, "1.25", "true", "3"],
        [LONG, "", "false", ""],
        ["two\nlines", "", "", "12345"],
    ]
    assert len(list(csv.reader(io.StringIO(files["tables/inner.csv"].decode(), newline="")))) == 121


def test_parquet_has_types_and_titles() -> None:
    import pandas as pd

    data = tables.render_parquet(document())["tables/pods.parquet"]
    frame = pd.read_parquet(io.BytesIO(data))
    assert frame["pod"].tolist() == [HOSTILE, LONG, "two\nlines"]
    assert frame["p99_ms"].dtype == "Float64"
    assert frame["count"].tolist()[2] == 12345
    assert frame["ready"].tolist() == [True, False, pd.NA]
    assert frame.attrs["titles"]["p99_ms"] == "p99 (ms)"


def test_parquet_takes_columns_of_several_kinds() -> None:
    import pandas as pd

    columns = tuple(Column(key, key) for key in ("mixed", "numbers", "huge", "nothing"))
    odd = Table("odd", "Odd", columns, (("a", 1, 2**80, None), (2, 1.5, 1, None), (True, None, None, None)))
    frame = pd.read_parquet(
        io.BytesIO(tables.render_parquet(document(Section("s", "S", (odd,))))["tables/odd.parquet"])
    )
    assert frame["mixed"].tolist() == ["a", "2", "true"]
    assert frame["numbers"].tolist()[:2] == [1.0, 1.5]
    assert frame["huge"].tolist()[0] == str(2**80)
    assert frame["nothing"].isna().all()
    assert (
        len(
            pd.read_parquet(
                io.BytesIO(tables.render_parquet(document(Section("s", "S", (table(rows=()),))))["tables/pods.parquet"])
            )
        )
        == 0
    )


def test_json_has_everything_and_no_number_that_is_none() -> None:
    text = report_json.render(document())["report.json"].decode()
    assert "NaN" not in text
    value = json.loads(text)
    assert list(value) == [
        "format", "kind", "title", "language", "outcome", "sentence", "sources", "checks", "tables",
    ]  # fmt: skip
    assert (value["outcome"], value["sentence"], value["sources"]) == ("passed", "It held.", ["id-1", "id-2"])
    pods, inner = value["tables"]
    assert pods["columns"][1] == {"key": "p99_ms", "title": "p99 (ms)"}
    assert pods["rows"][0] == [HOSTILE, 1.25, True, 3]
    assert pods["rows"][2] == ["two\nlines", None, None, 12345]
    assert len(inner["rows"]) == 120
    assert value["checks"][1]["outcome"] == "failed"


def test_junit_is_xml_that_counts_rightly() -> None:
    root = ET.fromstring(junit.render(document())["junit.xml"])  # noqa: S314 - written a line above
    assert root.attrib == {
        "name": "A title", "tests": "3", "failures": "1", "errors": "0", "skipped": "1", "time": "1.500",
    }  # fmt: skip
    first, second = root.findall("testsuite")
    assert (first.get("name"), first.get("tests"), first.get("failures")) == ("run 1", "2", "1")
    assert (second.get("skipped"), second.find("properties")) == ("1", None)
    assert [one.attrib for one in first.findall("properties/property")] == [{"name": "record", "value": "id-1"}]
    passed, failed = first.findall("testcase")
    assert (passed.get("classname"), passed.get("time"), passed.findtext("system-out")) == ("run 1", "1.500", "20 pods")
    failure = failed.find("failure")
    assert failure is not None
    assert failure.get("message") == HOSTILE.replace("\x00", "")
    assert (failure.text or "").endswith("first\nsecond")
    skipped = second.find("testcase/skipped")
    assert skipped is not None
    assert skipped.get("message") == "nothing to compare with"


def test_junit_drops_what_xml_cannot_hold() -> None:
    text = "a" + "".join(map(chr, range(0x20))) + "\ufffe\ud800é🐧"
    root = ET.fromstring(junit.render(document(checks=(Check("g", text, "failed", detail=text),)))["junit.xml"])  # noqa: S314
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None
    # A parser reads a carriage return as a line break.
    assert failure.text == "a\t\n\né🐧"


@pytest.mark.parametrize(
    ("outcome", "message", "colour"),
    [("passed", "1 passed", "brightgreen"), ("failed", "1 of 3 failed", "red"), ("unclear", "unclear", "lightgrey")],
)
def test_a_badge_is_what_shields_asks_for(outcome: Any, message: str, colour: str) -> None:
    checks = (Check("g", "a", "passed"), Check("g", "b", "failed"), Check("g", "c", "skipped"))
    files = render(document(outcome=outcome, checks=checks), Words("en"), ("badge",))
    told = {"schemaVersion": 1, "label": "scheduler tests", "message": message, "color": colour}
    assert {name: json.loads(content) for name, content in files.items()} == {"badge.json": told}
