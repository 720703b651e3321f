"""Reading what is left of a damaged record."""

import json
from pathlib import Path

import pytest

from harness.errors import RecordError
from harness.record.read import read
from tests.unit.expect.records import RecordBuilder

# Everything that is needed is there, but a name is no text.
NAMELESS = b'{"t": 1, "event": "ADDED", "uid": "u", "namespace": "default", "name": 7}\n'


@pytest.fixture
def record(tmp_path: Path) -> Path:
    made = RecordBuilder().node("node-1").extender().pod("web-1", "node-1").pod("web-2", "node-1", created_t=2.0)
    return made.call("filter", "web-1").event("web-1", "Scheduled", "ok").write(tmp_path)


def test_a_sound_record_has_no_problems(record: Path) -> None:
    problems: list[str] = []
    assert read(record, problems) == read(record)
    assert problems == []


@pytest.mark.parametrize("bad", [b"{oops\n", b"[]\n", b"7\n", b'{"t": 1}\n', b"\xff\xfe\n", NAMELESS])
def test_lines_that_cannot_be_read_are_left_out_and_counted(record: Path, bad: bytes) -> None:
    file = record / "pods.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([lines[0], bad, *lines[1:], bad]))
    with pytest.raises(RecordError):
        read(record)
    problems: list[str] = []
    assert [pod.name for pod in read(record, problems).pods] == ["web-1", "web-2"]
    assert problems == ["pods.jsonl: 2 of 8 lines cannot be read (line 2 first) and are left out"]


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"format": 1}', '{"format": 1, "id": 7}'])
def test_without_run_json_the_rest_is_there(record: Path, content: str) -> None:
    (record / "run.json").write_text(content)
    problems: list[str] = []
    found = read(record, problems)
    assert (found.meta.id, found.meta.scenario, found.meta.status) == (record.name, "unknown", "failed")
    assert len(found.pods) == 2
    assert len(problems) == 1
    assert problems[0].startswith("run.json:")


@pytest.mark.parametrize(("key", "value"), [("duration_seconds", "long"), ("warnings", 5), ("machine", []), ("id", 1)])
def test_values_of_another_kind_are_damage(record: Path, key: str, value: object) -> None:
    meta = json.loads((record / "run.json").read_text()) | {key: value}
    (record / "run.json").write_text(json.dumps(meta))
    with pytest.raises(RecordError, match=rf"run\.json: {key} not as it is written"):
        read(record)


@pytest.mark.parametrize("content", ["{", "[7]", "{}", '"x"'])
def test_a_lost_scenario_and_lost_extenders_are_told(record: Path, content: str) -> None:
    (record / "inputs" / "scenario.json").write_text(content)
    (record / "extenders.json").write_text(content if content != "{}" else '[{"odd": 1}]')
    problems: list[str] = []
    found = read(record, problems)
    assert (found.scenario.name, found.extenders) == ("unknown", ())
    assert len(found.calls) == 1
    assert [problem.partition(":")[0] for problem in problems] == ["inputs/scenario.json", "extenders.json"]


def test_a_record_of_another_format_stays_an_error(record: Path) -> None:
    meta = json.loads((record / "run.json").read_text()) | {"format": 7}
    (record / "run.json").write_text(json.dumps(meta))
    with pytest.raises(RecordError, match="format 7 seen"):
        read(record, [])
