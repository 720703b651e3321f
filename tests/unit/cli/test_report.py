import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Harness
from tests.unit.expect.records import RecordBuilder

FIRST, SECOND = "20261116-053610-synthetic-default-default-0000", "20261116-053611-synthetic-default-extender-0000"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two records in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HARNESS_RUNS", raising=False)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    for run_id, variant in ((FIRST, "default"), (SECOND, "extender")):
        made = RecordBuilder({"kind": "count", "running": 1}, variant=variant).node("node-1")
        made.pod("<b>web</b>", "node-1").write(Path("reports/runs"), run_id)
    return tmp_path


def test_a_page_and_a_write_up_are_what_one_gets(harness: Harness, here: Path) -> None:
    ended = harness("report", "latest")
    assert (ended.code, ended.err) == (0, "")
    sentence, *files = ended.out.splitlines()
    assert sentence.startswith("The run synthetic[default] extender held")
    folder = Path("reports/pages") / SECOND
    assert {str(folder / name) for name in ("report.html", "report.md", "summary.md")} <= set(files)
    assert (folder / "report.html").read_text().startswith("<!doctype html>")


def test_without_a_name_it_is_the_newest_record(harness: Harness, here: Path) -> None:
    ended = harness("report", "--template", "lab", "--format", "md")
    assert (ended.code, ended.err) == (0, "")
    assert str(Path("reports/pages") / SECOND / "report.md") in ended.out.splitlines()
    assert "latest unless told" in " ".join(harness("report", "--help").out.split())


def test_every_format_is_written_where_it_is_wanted(harness: Harness, here: Path) -> None:
    ended = harness("report", FIRST, "20261116-053611", "--format", "md,csv,parquet,junit,json", "--out", "made")
    assert ended.code == 0
    assert json.loads(Path("made/report.json").read_text())["sources"] == [FIRST, SECOND]
    assert Path("made/junit.xml").read_text().count("<testsuite ") == 2
    assert "extender" in Path("made/tables/runs.csv").read_text()
    assert Path("made/tables/runs.parquet").stat().st_size
    assert not Path("made/report.html").exists()


def test_the_newest_few_are_named_together(harness: Harness, here: Path) -> None:
    assert harness("report", "latest:2", "--format", "json", "--out", "made").code == 0
    assert json.loads(Path("made/report.json").read_text())["sources"] == [FIRST, SECOND]


def test_a_verdict_that_failed_is_no_failure_of_the_report(harness: Harness, here: Path) -> None:
    RecordBuilder({"kind": "count", "running": 9}).write(Path("reports/runs"), "20261117-000000-bad-0000")
    ended = harness("report", "latest", "--format", "md")
    assert ended.code == 0
    assert ended.out.startswith("The run did not hold:")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nowhere",), "no such record"),
        (("latest", "--format", "pdf"), "--format pdf: pdf seen; choose from html,md,csv,parquet,junit,json"),
        (("latest", "--format", ","), "nothing seen"),
        (("latest", "--template", "missing.md.j2"), "no such file"),
        (("latest", "--lang", "fr"), "fr"),
    ],
)
def test_bad_input_has_code_2(harness: Harness, here: Path, arguments: tuple[str, ...], told: str) -> None:
    ended = harness("report", *arguments)
    assert ended.code == 2
    assert told in ended.err


def test_a_fault_of_a_template_has_code_2_and_its_line(harness: Harness, here: Path) -> None:
    Path("course.md.j2").write_text("a\n{{ oops }}\n")
    ended = harness("report", "latest", "--template", "course.md.j2")
    assert ended.code == 2
    assert "course.md.j2:2: UndefinedError: 'oops' is undefined" in ended.err


def test_a_course_brings_its_own_template(harness: Harness, here: Path) -> None:
    Path("course.md.j2").write_text("{{ report.sentence }}\n")
    ended = harness("report", "latest", "--template", "course.md.j2", "--out", "made")
    assert ended.code == 0
    assert Path("made/course.md").read_text().startswith("The run synthetic[default] extender held")
    assert not Path("made/report.html").exists()


def test_the_lab_write_up_comes_in_the_language_that_is_wanted(harness: Harness, here: Path) -> None:
    assert harness("report", "latest", "--template", "lab", "--format", "md", "--lang", "zh", "--out", "made").code == 0
    assert Path("made/report.md").read_text().startswith("# 实验报告")


def test_the_locale_chooses_the_language(harness: Harness, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert harness("report", "latest", "--format", "md", "--out", "made").code == 0
    assert Path("made/report.md").read_text().startswith("# 调度器测试报告")


def test_a_job_of_github_gets_the_short_form(harness: Harness, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = here / "step.md"
    page.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    assert harness("report", "latest", "--format", "md", "--out", "made").code == 0
    assert page.read_text() == "before\n" + Path("made/summary.md").read_text()
    page.write_text("x" * 1024 * 1024)
    assert harness("report", "latest", "--format", "md", "--out", "made").code == 0
    assert page.stat().st_size == 1024 * 1024
    page.unlink()
    assert harness("report", "latest", "--format", "json", "--out", "made").code == 0
    assert not page.exists()


def test_a_folder_that_cannot_be_written_is_told(harness: Harness, here: Path) -> None:
    Path("file").touch()
    ended = harness("report", "latest", "--format", "json", "--out", "file/below")
    assert ended.code == 2
    assert "the report cannot be written" in ended.err


def test_a_damaged_record_is_reported_as_far_as_it_goes(harness: Harness, here: Path) -> None:
    (here / "reports/runs" / SECOND / "pods.jsonl").write_bytes(b"{oops\n")
    ended = harness("report", "latest", "--out", "made")
    assert (ended.code, ended.err) == (0, "")
    assert "pods.jsonl: 1 of 1 lines cannot be read" in Path("made/report.md").read_text()
