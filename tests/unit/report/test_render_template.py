from pathlib import Path

import pytest

from harness.errors import InputError
from harness.report.assemble import assemble
from harness.report.lab import write_up
from harness.report.render.template import output_name, render
from harness.report.sources import Sources, gather
from harness.report.words import Words
from tests.unit.expect.records import RecordBuilder
from tests.unit.report.given import mixed

EN = Words("en")


def filled(tmp_path: Path, text: str, name: str = "course.md.j2") -> str:
    (tmp_path / name).write_text(text)
    sources = Sources((mixed(),))
    document = assemble(sources, EN)
    files = render(tmp_path / name, document, write_up(sources, document, EN), sources, EN)
    return files[output_name(Path(name))].decode()


def test_a_template_gets_the_report_and_what_it_needs(tmp_path: Path) -> None:
    text = filled(
        tmp_path,
        "{{ report.title }}: {{ report.outcome }}\n"
        "{{ runs[0].pods.running }} of {{ runs[0].pods.total }}\n"
        "{% set t = table('runs') %}{{ file(t) }} {{ shown(t.rows[0][0], t.columns[0]) }} {{ kind(t) }}\n"
        "{{ markdown(section('aim')) }}"
        "{{ section('no such') is none }}\n",
    )
    lines = text.splitlines()
    assert lines[0].endswith("synthetic[default]: passed")
    assert lines[1] == "2 of 5"
    assert lines[2] == "tables/runs.csv synthetic[default] Table"
    assert lines[3] == "## 1. Aim"
    assert lines[-1] == "True"


def test_files_that_a_template_links_to_lie_beside_it(tmp_path: Path) -> None:
    (tmp_path / "course.md.j2").write_text("x")
    sources = Sources((mixed(),))
    document = assemble(sources, EN)
    files = render(tmp_path / "course.md.j2", document, write_up(sources, document, EN), sources, EN)
    assert files["course.md"] == b"x"
    assert "tables/runs.csv" in files


def test_a_run_with_damaged_metrics_still_has_its_pods(tmp_path: Path) -> None:
    path = RecordBuilder().node("n").pod("a", "n").write(tmp_path)
    for name in ("metrics-before.txt", "metrics-after.txt"):
        (path / name).write_text("scheduler_schedule_attempts_total oops\n")
    (tmp_path / "course.md.j2").write_text("{{ runs[0].pods.running }} {{ runs[0].variant }}")
    sources = gather([path])
    document = assemble(sources, EN)
    assert render(tmp_path / "course.md.j2", document, document, sources, EN)["course.md"] == b"1 default"


def test_html_is_escaped_and_other_text_is_not(tmp_path: Path) -> None:
    assert filled(tmp_path, "{{ '<b>' }}", "page.html.j2") == "&lt;b&gt;"
    assert filled(tmp_path, "{{ '<b>' }}", "page.html") == "&lt;b&gt;"
    assert filled(tmp_path, "{{ '<b>' }}", "page.md.j2") == "<b>"


def test_a_template_may_include_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "head.md").write_text("head of {{ report.language }}")
    assert filled(tmp_path, "{% include 'head.md' %}!") == "head of en!"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a\n{% if %}\n", r"course\.md\.j2:2: "),
        ("a\nb\n{{ nothing }}\n", r"course\.md\.j2:3: UndefinedError: 'nothing' is undefined"),
        ("a\n{{ report.no_such }}", r"course\.md\.j2:2: UndefinedError"),
        ("{{ ''.__class__.__mro__ }}", r"course\.md\.j2:1: SecurityError"),
        ("{{ runs.clear() }}", r"course\.md\.j2:1: SecurityError"),
        ("\n\n{{ 1 / 0 }}", r"course\.md\.j2:3: ZeroDivisionError"),
        ("{% for i in range(10 ** 9) %}{% endfor %}", r"course\.md\.j2:1: OverflowError"),
        ("{% include 'missing.md' %}", r"course\.md\.j2:1: TemplateNotFound"),
        ("{% include '../outside.md' %}", r"course\.md\.j2:1: TemplateNotFound"),
    ],
)
def test_a_fault_of_a_template_is_told_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        filled(tmp_path, text)


def test_a_missing_template_is_bad_input(tmp_path: Path) -> None:
    document = assemble(Sources(), EN)
    with pytest.raises(InputError, match="no such file"):
        render(tmp_path / "none.md.j2", document, document, Sources(), EN)


@pytest.mark.parametrize(
    ("name", "output"),
    [("a.md.j2", "a.md"), ("a.html.jinja", "a.html"), ("a.tex.jinja2", "a.tex"), ("a.md", "report-a.md")],
)
def test_the_result_has_the_name_of_the_template(name: str, output: str) -> None:
    assert output_name(Path("folder") / name) == output
