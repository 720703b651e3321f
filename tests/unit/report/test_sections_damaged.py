"""Half-written and damaged records: chapters tell what is there, and never raise."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.record.read import read
from harness.report.document import Section
from harness.report.sections import verdict
from harness.report.sources import Sources
from harness.report.summary import RunSummary
from tests.unit.report.large import Large
from tests.unit.report.reading import ENGLISH, rows
from tests.unit.report.test_sections_large import SECTIONS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return Large(30, 4, 5, calls=True, trace=True, cassette_calls=40, variant="extender").write(tmp_path)


def without(*names: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        for name in names:
            (path / name).unlink(missing_ok=True)

    return damage


def cut(name: str, share: float) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        data = (path / name).read_bytes()
        (path / name).write_bytes(data[: int(share * len(data))])

    return damage


def replaced(name: str, text: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        (path / name).write_text(text)

    return damage


DAMAGES = {
    "no metrics": without("metrics-before.txt", "metrics-after.txt"),
    "half of the metrics": without("metrics-after.txt"),
    "broken metrics": replaced("metrics-after.txt", 'scheduler_schedule_attempts_total{a="b} x'),
    "no calls": without("calls.jsonl"),
    "calls but no extenders": without("extenders.json"),
    "an entry that nobody knows": replaced(
        "extenders.json", '[{"name": "ext", "subject": "s", "entry": {"x": 1}, "url": ""}]'
    ),
    "no events": without("events.jsonl"),
    "no nodes": without("nodes.jsonl"),
    "no pods": without("pods.jsonl"),
    "nothing but the start": without(
        "pods.jsonl", "nodes.jsonl", "events.jsonl", "calls.jsonl", "trace.jsonl", "extenders.json"
    ),
    "pods cut": cut("pods.jsonl", 0.5),
    "calls cut": cut("calls.jsonl", 0.7),
    "cassette cut": cut("cassette.jsonl.zst", 0.5),
    "cassette of nothing": replaced("cassette.jsonl.zst", "nothing"),
    "trace cut": cut("trace.jsonl", 0.3),
    "trace of other things": replaced("trace.jsonl", '{"a": 1}\n[]\n7\nnull\n'),
    "no trace in it": replaced("trace.jsonl", ""),
    "configuration in another encoding": lambda path: (path / "scheduler-config.yaml").write_bytes(b"\xff\xfe\x00x"),
    "a folder where a file should be": lambda path: (path / "scheduler-config.yaml").mkdir(),
}


def sections(path: Path) -> dict[str, Section]:
    sources = Sources(runs=(RunSummary(read(path), ()),))
    assert verdict.sentence(sources, ENGLISH)[0] == "unclear"
    verdict.checks(sources, ENGLISH)
    made = [module.section(sources, ENGLISH) for module in SECTIONS]
    return {section.name: section for section in made if section}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_no_damage_keeps_the_rest_from_being_told(path: Path, damage: Callable[[Path], None]) -> None:
    whole = set(sections(path))
    damage(path)
    left = set(sections(path))
    assert {"verdict", "comparison", "environment"} <= left
    assert left <= whole | {"warnings"}


def test_the_rest_is_really_told(path: Path) -> None:
    cut("pods.jsonl", 0.5)(path)
    made = sections(path)
    told = rows(made["timeline"], "pods")
    assert 10 <= len(told) < 30
    assert "pods.jsonl" in str(rows(made["warnings"], "warnings"))


def test_a_record_that_is_gone_is_told_from_memory(path: Path) -> None:
    sources = Sources(runs=(RunSummary(read(path), ()),))
    shutil.rmtree(path)
    made = [module.section(sources, ENGLISH) for module in SECTIONS]
    assert {section.name for section in made if section} >= {
        "comparison",
        "placement",
        "timeline",
        "pending",
        "extenders",
    }


def test_a_run_that_says_little_about_itself(tmp_path: Path) -> None:
    path = Large(3, 2).write(tmp_path)
    least = '{"format": 1, "id": "x", "scenario": "s", "size": "", "variant": ""}'
    (path / "run.json").write_text(least)
    made = sections(path)
    assert rows(made["environment"], "environment")[0]["seed"] is None
    assert rows(made["verdict"], "runs")[0]["result"] == "not finished"
