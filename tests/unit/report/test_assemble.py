"""The verdict on everything, and the checks for continuous integration."""

import importlib
import pkgutil
from pathlib import Path
from typing import Any

import pytest

from harness.record.load import LoadRecord
from harness.report import sections
from harness.report.assemble import SECTIONS, assemble
from harness.report.sources import Sources, gather
from harness.report.words import Words
from tests.unit.report.checks import FILE, checked
from tests.unit.report.documents import load_result, regression
from tests.unit.report.given import mixed

EN = Words("en")
ROOT = Path(__file__).parents[3]


def load(*results: Any) -> LoadRecord:
    return LoadRecord(Path("20261116-load"), {"status": "complete"}, results or (load_result(),))


@pytest.mark.parametrize(
    ("sources", "outcome"),
    [
        (Sources(), "unclear"),
        (Sources((mixed(),)), "passed"),
        (Sources((mixed({"kind": "count", "running": 9}),)), "failed"),
        (Sources(loads=(load(),)), "passed"),
        (Sources(loads=(load(load_result(errors=3)),)), "failed"),
        (Sources(regressions=(regression(),)), "passed"),
        (Sources(regressions=(regression("REGRESSION"),)), "failed"),
        (Sources(regressions=(regression("INCONCLUSIVE"),)), "unclear"),
        (Sources(checked=(checked(),)), "passed"),
        (Sources(checked=(checked("REGRESSION"),)), "failed"),
        (Sources(checked=(checked(failure="it burnt"),)), "failed"),
        (Sources(checked=(checked("INCONCLUSIVE"),)), "unclear"),
        (Sources(regressions=(regression(),), checked=(checked("INCONCLUSIVE"),)), "unclear"),
        (Sources((mixed(),), broken=("x: y",)), "unclear"),
        (Sources((mixed(),), regressions=(regression("INCONCLUSIVE"),)), "unclear"),
        (Sources((mixed(),), (load(load_result(errors=3)),), (regression("INCONCLUSIVE"),)), "failed"),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_worst_decides_how_it_went(sources: Sources, outcome: str, language: str) -> None:
    assert assemble(sources, Words(language)).outcome == outcome


def test_each_kind_of_record_has_its_sentence() -> None:
    sentence = assemble(Sources((mixed(),), (load(),), (regression(),), ("x: y",), (checked(),)), EN).sentence
    for part in ("synthetic[default]", "ref:x", "ref:b", FILE, "Remarks about damaged or unfinished records: 1."):
        assert part in sentence


def test_the_title_names_what_it_is_about() -> None:
    title = assemble(Sources((mixed(),), (load(),), (regression(),)), EN).title
    assert title == "Scheduler test report: synthetic[default], load on ref:x, ref:b against ref:a"
    assert assemble(Sources(), Words("zh")).title == "调度器测试报告"


def test_checks_have_names_of_their_own_and_the_time_once() -> None:
    run = mixed({"kind": "count", "running": 9}, {"kind": "count", "running": 9})
    checks = assemble(Sources((run,)), EN).checks
    assert len({(check.group, check.name) for check in checks}) == len(checks)
    assert [check.outcome for check in checks][:2] == ["failed", "failed"]
    assert sum(check.seconds for check in checks) == run.record.meta.duration_seconds


def test_measurements_and_comparisons_are_checks() -> None:
    checks = assemble(Sources(loads=(load(),), regressions=(regression(),), checked=(checked(),)), EN).checks
    assert [check.outcome for check in checks] == ["passed", "passed", "passed"]


def test_a_chapter_that_cannot_be_made_is_a_remark(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(sources: Sources, words: Words) -> None:
        raise KeyError("odd")

    monkeypatch.setattr("harness.report.sections.verdict.section", fails)
    first, second, *_ = assemble(Sources((mixed(),)), EN).sections
    assert "The chapter “verdict” cannot be made of these records: KeyError: 'odd'" in str(first.blocks)
    assert second.name == "comparison"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_chapter_can_be_made_of_a_sound_record(language: str) -> None:
    for module in SECTIONS:
        module.section(gather([ROOT / "reports" / "sample" / "record"]), Words(language))


def test_every_chapter_has_its_place() -> None:
    modules = [
        importlib.import_module(f"{sections.__name__}.{found.name}")
        for found in pkgutil.iter_modules(sections.__path__)
    ]
    assert {module for module in modules if hasattr(module, "section")} == set(SECTIONS)


def test_names_of_files_are_taken_once() -> None:
    document = assemble(Sources((mixed(), mixed(variant="extender")), (load(),), (regression(),)), EN)
    for items in (document.tables(), document.pictures()):
        names = [item.name for item in items]
        assert len(set(names)) == len(names)
