"""Holds the committed sample record to what the harness reads and judges today."""

import json
import re

from harness.expect.judge import judge
from harness.record.read import read
from tests.docs.pages import ROOT

SAMPLE = ROOT / "reports" / "sample" / "record"


def test_sample_is_read_and_holds() -> None:
    record = read(SAMPLE)
    assert record.warnings == ()
    assert (record.meta.scenario, record.meta.size, record.meta.variant) == ("twenty-pause", "lab", "default")
    assert record.meta.status == "finished"
    assert record.meta.extra == {}
    assert len(record.pods) == 20
    assert [verdict for verdict in judge(record) if verdict.status != "held"] == []


def test_saved_verdicts_are_todays() -> None:
    saved = json.loads((SAMPLE / "verdicts.json").read_text(encoding="utf-8"))
    assert saved == [verdict.to_json() for verdict in judge(read(SAMPLE))]


def test_sample_is_of_todays_scenario() -> None:
    source = ROOT / "scenarios" / "lab"
    for name in ("twenty-pause.yaml", "manifests/pause-deployment.yaml"):
        kept = SAMPLE / "inputs" / name.replace("twenty-pause.yaml", "scenario.yaml")
        assert kept.read_text(encoding="utf-8") == (source / name).read_text(encoding="utf-8")


def test_sample_tells_nothing_about_a_machine() -> None:
    for path in SAMPLE.rglob("*"):
        if path.is_file():
            assert not re.search(r"/(?:root|work|home|Users)/", path.read_text(encoding="utf-8")), path
