"""Tables on a narrow terminal; without one they have every column."""

import json
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest

from harness.report.compare import HEADERS, comparison_text
from harness.report.section_text import section_text
from harness.report.summary import RunSummary
from harness.report.terminal import compact
from harness.report.text import CALL_HEADERS, calls_text, run_text
from harness.report.trend import gather
from harness.report.trend_text import trend_text
from harness.report.words import LANGUAGES, Words
from tests.unit.expect.records import RecordBuilder
from tests.unit.report.given import judged
from tests.unit.report.placing import builder, run
from tests.unit.report.test_compare import waiting
from tests.unit.report.test_differences_section import made

VARIANTS = ("default", "extender", "second-scheduler", "framework-plugin", "rebuilt-scheduler")


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def columns(text: str) -> int:
    """How many columns of a terminal a text takes; wide characters take two."""
    lines = [sum(1 + (unicodedata.east_asian_width(one) in "WF") for one in line) for line in text.splitlines()]
    return max(lines)


def called(name: str) -> RecordBuilder:
    made = RecordBuilder().node("node-1").pod("a", "node-1").extender(name)
    for turn in range(12):
        made.call("prioritize", "a", 1.0 + turn, seconds=0.0123, request_bytes=123_000, nodes_in=1000)
    return made


def compared(*scenarios: str) -> list[RunSummary]:
    runs = [waiting(*range(0, 2000, 100), variant=variant) for variant in VARIANTS]
    return [
        replace(one, record=replace(one.record, meta=replace(one.record.meta, scenario=name)))
        for name in scenarios
        for one in runs
    ]


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(
    "name", ["pass-through", "index-bind-misrouted", "an-extender-with-a-name-of-very-many-words-" * 3]
)
def test_calls_fit_and_what_is_left_out_is_told(name: str) -> None:
    text = calls_text(called(name).build())
    assert columns(text) <= 80
    assert text.split()[:6] == ["extender", "call", "calls", "failed", "p50", "ms"]
    assert "80 columns: received, sent" in " ".join(text.split())
    assert "`harness report` has them" in " ".join(text.split())


def test_a_pipe_gets_every_column() -> None:
    header, *_ = calls_text(called("index-bind-misrouted").build()).splitlines()
    assert header.split() == " ".join(CALL_HEADERS).split()
    header, *_ = comparison_text(compared("twenty-pause")).splitlines()
    assert header.split() == " ".join(HEADERS).split()
    assert "left out" not in run_text(judged(called("index-bind-misrouted")))


@pytest.mark.usefixtures("narrow")
def test_one_scenario_is_told_above_the_comparison() -> None:
    text = comparison_text(compared("spreads-over-three-zones"))
    assert columns(text) <= 80
    title, header, *_ = text.splitlines()
    assert title == "spreads-over-three-zones[default]:"
    assert header.split()[:3] == ["variant", "held", "run"]
    assert "cpu ms" in header
    assert all(variant in text for variant in VARIANTS)


@pytest.mark.usefixtures("narrow")
def test_several_scenarios_stay_beside_their_variants() -> None:
    text = comparison_text(compared("spreads-over-three-zones", "control-plane-repels-everything"))
    assert columns(text) <= 80
    assert text.split()[:3] == ["scenario", "variant", "held"]
    assert "p50" in text.splitlines()[0]
    assert "p99" in text.splitlines()[0]


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_comparison_of_records_fits(language: str) -> None:
    runs = [run((4, 4, 3), run_id=f"r-{variant}", variant=variant) for variant in VARIANTS]
    text = section_text(made(*runs, language=language), Words(language))
    assert columns(text) <= 80
    assert "second-\nscheduler" in text or "second-scheduler" in text or "second-  " in text


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_trend_fits(tmp_path: Path, language: str) -> None:
    for turn in range(9):
        path = builder((2, 1), slow=1000 + turn).write(tmp_path, f"run-{turn}")
        told = json.loads((path / "run.json").read_text())
        more = {"started_at": f"2026-11-16T05:{turn:02}:00+00:00", "machine": {"id": "3afa076a0a3a", "cores": 2}}
        (path / "run.json").write_text(json.dumps(told | more))
    figures = ["p50_ms", "p99_ms", "pods_per_second", "cpu_ms_per_pod"]
    assert columns(trend_text(gather(tmp_path, None, None), figures, Words(language))) <= 80


def test_a_compact_table_has_cells_of_several_lines() -> None:
    text = compact([["a\nb", "1"], ["c", "22"]], ["name", "count"], [False, True])
    assert text.splitlines() == ["name  count", "----  -----", "a         1", "b", "c        22"]
