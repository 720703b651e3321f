import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import vl_convert

from harness.record.check import Checked, Kept, read
from harness.report.assemble import assemble
from harness.report.document import Callout, Section
from harness.report.publish import Order, publish
from harness.report.sections.baseline import checks, section, sentence
from harness.report.sources import Sources
from harness.report.words import Words
from tests.unit.report.checks import FAILING, FILE, NOISY, SAME, SLOW, checked, kept, row
from tests.unit.report.loads import column, drawn, pictures, said, tables

EN, ZH = Words("en"), Words("zh")
EVERY = ("html", "md", "csv", "parquet", "junit", "json", "badge")


def shown(*found: Checked, words: Words = EN) -> Section:
    made = section(Sources(checked=found), words)
    assert made is not None
    return made


def written(found: Checked) -> dict[str, Any]:
    assert found.path is not None
    value: dict[str, Any] = json.loads((found.path / "baseline.json").read_text())
    return value


def test_without_a_check_there_is_no_chapter() -> None:
    assert section(Sources(), EN) is None


@pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
def test_the_table_has_the_numbers_of_the_record(tmp_path: Path, words: Words) -> None:
    found = kept(tmp_path, SAME, SLOW, NOISY, FAILING)
    table = tables(shown(read(found.path or tmp_path), words=words))["baseline"]
    rows = written(found)["rows"]
    assert len(table.rows) == len(rows) == 4
    titles = zip(column(table, "verb"), column(table, "nodes"), column(table, "wire"), strict=True)
    assert [f"{verb}, {nodes} {wire}" for verb, nodes, wire in titles] == [one["title"] for one in rows]
    for key in ("metric", "verdict", "pairs"):
        assert column(table, key) == [one[key] for one in rows]
    for key in ("then", "now", "change"):
        names = (key, f"{key}_low", f"{key}_high")
        assert [column(table, name) for name in names] == [[one[key][place] for one in rows] for place in range(3)]
    assert column(table, "p_first") == [one["p_values"][0] for one in rows]
    assert column(table, "p_second") == [one["p_values"][1] if len(one["p_values"]) > 1 else None for one in rows]
    assert column(table, "mde_percent") == [100 * one["mde"] for one in rows]
    assert column(table, "failure") == [words.phrase(one["failure"]) if one["failure"] else None for one in rows]
    assert not words.unknown
    assert [table.marks[place] for place in range(4)] == ["good", "bad", "warning", "bad"]
    assert column(table, "record") == [(found.path or tmp_path).name] * 4


VERDICTS = {
    "PASS": ("passed", "good", SAME),
    "REGRESSION": ("failed", "bad", SLOW),
    "INCONCLUSIVE": ("skipped", "warning", NOISY),
}


@pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_verdict_is_told_and_checked(tmp_path: Path, words: Words, verdict: str) -> None:
    outcome, level, stages = VERDICTS[verdict]
    found = kept(tmp_path, stages)
    sources = Sources(checked=(found,))
    assert found.verdict == verdict
    (check,) = checks(sources, words)
    assert check.outcome == outcome
    assert check.message or outcome == "passed"
    (value,) = written(found)["rows"]
    for key in ("then", "now", "change"):
        assert [check.facts[name] for name in (key, f"{key} low", f"{key} high")] == list(map(str, value[key]))
    assert check.facts["mde"] == str(value["mde"])
    whole, text = sentence(sources, words)
    assert whole == {"skipped": "unclear"}.get(outcome, outcome)
    assert text.startswith(verdict)
    assert ("PASS" in text) == (verdict == "PASS")
    for part in (FILE, "ref:pass-through", "+5 %", f"+{100 * value['mde']:.3g} %"):
        assert part in text
    (told, *_) = shown(found, words=words).blocks
    assert isinstance(told, Callout)
    assert (told.level, told.text) == (level, text)


def test_the_mde_is_that_of_what_decided(tmp_path: Path) -> None:
    found = kept(tmp_path, SAME, SLOW, NOISY)
    mde = written(found)["rows"][1]["mde"]
    assert f"MDE: +{100 * mde:.3g} %)" in sentence(Sources(checked=(found,)), EN)[1]


def test_a_slowdown_that_cannot_be_excluded_is_told(tmp_path: Path) -> None:
    found = kept(tmp_path, NOISY)
    high = written(found)["rows"][0]["change"][2]
    (check,) = checks(Sources(checked=(found,)), EN)
    assert check.message == f"a slowdown of up to {100 * (high - 1):.3g} % could not be excluded"


@pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
def test_a_subject_that_fails_is_no_pass_whatever_its_speed(tmp_path: Path, words: Words) -> None:
    found = kept(tmp_path, FAILING)
    assert found.verdict == "PASS"
    sources = Sources(checked=(found,))
    (check,) = checks(sources, words)
    assert (check.outcome, check.message) == ("failed", words.phrase(found.rows[0].failure or ""))
    whole, text = sentence(sources, words)
    assert (whole, text.startswith("PASS")) == ("failed", False)
    (told, again, *_) = shown(found, words=words).blocks
    assert [getattr(one, "level", None) for one in (told, again)] == ["bad", "bad"]
    assert check.message in getattr(again, "text", "")
    assert not words.unknown


def test_what_was_never_measured_is_inconclusive_and_drawn_nowhere() -> None:
    nothing = (None, None, None)
    bare = replace(row("INCONCLUSIVE"), now=nothing, change=nothing, mde=None, title="something else")
    made = shown(Checked("ref:b", FILE, "ref:y", 0.05, (bare,)))
    assert not pictures(made)
    assert column(tables(made)["baseline"], "verb") == ["something else"]
    assert "INCONCLUSIVE: it cannot be said" in said(made.blocks)
    assert "too little was measured" in said(made.blocks)
    assert "MDE: not known" in said(made.blocks)
    empty = Checked("ref:b", FILE, "ref:y", 0.05, ())
    assert sentence(Sources(checked=(empty,)), ZH)[0] == "unclear"
    assert shown(empty, words=ZH)


def test_the_picture_has_each_change_with_its_interval_and_the_tolerance(tmp_path: Path) -> None:
    found = kept(tmp_path, SAME, SLOW)
    (picture,) = pictures(shown(found)).values()
    rows = [one for one in drawn(picture) if "metric" in one]
    for one, value in zip(rows, written(found)["rows"], strict=True):
        assert [one[key] for key in ("ratio", "low", "high")] == pytest.approx(value["change"], rel=1e-5)
        assert one["verdict"] == value["verdict"]
    assert [one["from"] for one in drawn(picture) if "from" in one] == [1.05, 1.1]
    (wide,) = pictures(shown(kept(tmp_path, SAME, tolerance=0.1))).values()
    assert [one["from"] for one in drawn(wide) if "from" in one] == [1.1, 1.2]


@pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
def test_the_picture_can_be_drawn(tmp_path: Path, words: Words) -> None:
    (picture,) = pictures(shown(kept(tmp_path, SAME, SLOW), words=words)).values()
    assert vl_convert.vegalite_to_svg(dict(picture.spec), allowed_base_urls=[]).count("<path") > 10


def test_notes_and_the_files_of_raw_pairs_are_named(tmp_path: Path) -> None:
    found = kept(tmp_path, SAME, SLOW)
    blocks = shown(found, words=ZH).blocks
    assert Callout("info", ZH.phrase("it runs elsewhere")) in blocks
    facts = str(blocks[-1])
    for file in ("pairs/1-1.npz", "pairs/2-1.npz", "pairs/2-2.npz", FILE, (found.path or tmp_path).name):
        assert file in facts
    assert "缺失" not in said(blocks)


@pytest.mark.parametrize("content", [None, b"nothing"])
def test_raw_pairs_that_are_gone_are_named_and_the_rest_is_shown(tmp_path: Path, content: bytes | None) -> None:
    found = kept(tmp_path, SAME, SAME)
    file = (found.path or tmp_path) / "pairs" / "2-1.npz"
    file.unlink() if content is None else file.write_bytes(content)
    made = shown(found)
    assert "the raw pairs pairs/2-1.npz are missing or damaged" in said(made.blocks)
    assert (len(tables(made)["baseline"].rows), len(pictures(made))) == (2, 1)


def test_several_checks_keep_apart(tmp_path: Path) -> None:
    made = shown(kept(tmp_path, SAME), kept(tmp_path, SLOW))
    assert len(pictures(made)) == 2
    table = tables(made)["baseline"]
    assert len(set(column(table, "record"))) == 2
    assert "subject" in [one.key for one in table.for_people().columns]
    alone = tables(shown(kept(tmp_path, SAME)))["baseline"]
    assert "subject" not in [one.key for one in alone.for_people().columns]


@pytest.mark.parametrize(
    ("then", "outcome", "level", "told"),
    [
        (Kept("REGRESSION", ok=False), "failed", "bad", "FAILED: something spoke against"),
        (Kept("PASS", ok=False), "failed", "bad", "FAILED: something spoke against"),
        (Kept("INCONCLUSIVE", ok=True), "unclear", "warning", "INCONCLUSIVE: ref:b was compared"),
    ],
)
def test_what_was_lost_is_never_a_pass(then: Kept, outcome: str, level: str, told: str) -> None:
    sources = Sources(checked=(replace(checked(), kept=then),))
    assert sentence(sources, EN)[0] == outcome
    assert {one.outcome for one in checks(sources, EN)} == {"passed", "failed" if outcome == "failed" else "skipped"}
    (first, *_) = shown(*sources.checked).blocks
    assert isinstance(first, Callout)
    assert (first.level, first.text[: len(told)]) == (level, told)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("verdict", VERDICTS)
def test_every_format_has_the_verdict(tmp_path: Path, language: str, verdict: str) -> None:
    found = kept(tmp_path / "runs", VERDICTS[verdict][2])
    assert found.path is not None
    folder = tmp_path / "report"
    document = publish([found.path], folder, Order(EVERY, language)).document
    assert document.sources == (found.path.name,)
    outcome = {"PASS": "passed", "REGRESSION": "failed", "INCONCLUSIVE": "unclear"}[verdict]
    assert document.outcome == outcome
    for file in ("report.html", "report.md", "summary.md", "report.json"):
        text = (folder / file).read_text()
        assert verdict in text
        assert FILE in text
    assert verdict in (folder / "tables/baseline.csv").read_text()
    assert (folder / "tables/baseline.parquet").stat().st_size
    assert any((folder / "pictures").glob("baseline-changes-1.svg"))
    suite = next(ET.parse(folder / "junit.xml").iter("testsuite"))  # noqa: S314 - written above
    counts = [suite.get(name) for name in ("tests", "failures", "skipped")]
    assert counts == ["1", str(int(verdict == "REGRESSION")), str(int(verdict == "INCONCLUSIVE"))]
    assert json.loads((folder / "report.json").read_text())["outcome"] == outcome


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_write_up_has_the_chapter_the_question_and_the_command(tmp_path: Path, language: str) -> None:
    found = kept(tmp_path / "runs", SAME)
    publish([found.path or tmp_path], tmp_path / "lab", Order(("md",), language, "lab"))
    text = (tmp_path / "lab" / "report.md").read_text()
    words = Words(language)
    for part in (words("baseline.title"), words("formats.lab.ask.regress"), "harness baseline"):
        assert part in text


def test_the_title_names_subject_and_baseline() -> None:
    title = assemble(Sources(checked=(checked(),)), EN).title
    assert title == f"Scheduler test report: ref:b against the baseline {FILE}"
