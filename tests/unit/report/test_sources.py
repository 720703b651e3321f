import json
from dataclasses import asdict
from pathlib import Path

import pytest

from harness.errors import RecordError
from harness.record.write import save_verdicts
from harness.report.assemble import assemble
from harness.report.sources import gather
from harness.report.words import Words
from tests.unit.expect.records import NO_CPU, RecordBuilder
from tests.unit.report.checks import checked
from tests.unit.report.documents import load_result, regression

ID = "20261116-053610-synthetic-default-default-0000"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    made = RecordBuilder({"kind": "count", "running": 2}).node("node-1").extender()
    made.pod("web-1", "node-1").pod("web-2", message=NO_CPU).call("filter", "web-1").call("filter", "web-2")
    return made.write(tmp_path, ID)


@pytest.fixture
def load(tmp_path: Path) -> Path:
    folder = tmp_path / "20261116-060000-load-x-0000"
    folder.mkdir()
    results = [load_result().to_json(), {"odd": True}, load_result(errors=3).to_json()]
    document = {"format": 1, "kind": "load", "id": folder.name, "status": "running", "results": results, "knees": []}
    (folder / "load.json").write_text(json.dumps(document))
    return folder


@pytest.fixture
def compared(tmp_path: Path) -> Path:
    folder = tmp_path / "20261116-070000-regress-b-0000"
    folder.mkdir()
    value = regression().to_json()
    value["comparisons"].append({"odd": True})
    (folder / "regress.json").write_text(json.dumps({"format": 1, "id": folder.name, "command": ["x"], **value}))
    return folder


@pytest.fixture
def checked_one(tmp_path: Path) -> Path:
    folder = tmp_path / "20261116-080000-baseline-b-0000"
    folder.mkdir()
    value = checked().to_json()
    value["rows"].append({"odd": True})
    (folder / "baseline.json").write_text(json.dumps({"format": 1, "id": folder.name, "command": ["y"], **value}))
    return folder


def test_records_of_every_kind_are_read_in_their_order(
    run: Path, load: Path, compared: Path, checked_one: Path
) -> None:
    sources = gather([checked_one, compared, load, run])
    assert sources.ids == (run.name, load.name, compared.name, checked_one.name)
    assert sources.checked[0].rows == checked().rows
    assert sources.checked[0].meta["command"] == ["y"]
    assert [one.requests for one in sources.loads[0].results] == [200, 200]
    assert sources.regressions[0].comparisons == regression().comparisons
    assert sources.regressions[0].meta["command"] == ["x"]
    assert [sentence.partition(": ")[2].partition(" (")[0] for sentence in sources.broken] == [
        "load.json: measurement 2 cannot be read",
        "load.json: the load never finished; what was measured until then is there",
        "regress.json: measurement 2 cannot be read",
        "baseline.json: measurement 2 cannot be read",
    ]


def test_a_record_that_is_given_twice_counts_once(run: Path) -> None:
    assert len(gather([run, run / ".." / run.name]).runs) == 1


def test_verdicts_are_those_that_were_given_then(run: Path) -> None:
    judged = gather([run]).runs[0].verdicts
    assert judged[0].status == "rejected"
    saved = [asdict(verdict) | {"status": "held"} for verdict in judged]
    save_verdicts(run, saved)
    assert gather([run]).runs[0].ok


@pytest.mark.parametrize("content", ["[{", "[]", "7", "null", '[{"kind": 7}]', '[["x"]]'])
def test_verdicts_that_cannot_be_read_are_given_anew(run: Path, content: str) -> None:
    judged = gather([run]).runs[0].verdicts
    (run / "verdicts.json").write_text(content)
    again = gather([run])
    assert again.runs[0].verdicts == judged
    assert again.broken == (f"{ID}: verdicts.json: the verdicts that were saved cannot be read",)


@pytest.mark.parametrize(("key", "value"), [("title", 7), ("status", "odd"), ("evidence", [1]), ("evidence", 3)])
def test_verdicts_of_another_shape_are_not_shown(run: Path, key: str, value: object) -> None:
    saved = [asdict(verdict) for verdict in gather([run]).runs[0].verdicts]
    save_verdicts(run, [saved[0] | {key: value}, *saved[1:]])
    assert "cannot be read" in gather([run]).broken[0]


def test_a_damaged_run_is_shown_and_not_judged_again(run: Path) -> None:
    with (run / "pods.jsonl").open("ab") as file:
        file.write(b"{oops\n")
    sources = gather([run])
    assert [pod.name for pod in sources.runs[0].record.pods] == ["web-1", "web-2"]
    assert sources.runs[0].verdicts == ()
    assert sources.broken == (
        f"{ID}: pods.jsonl: 1 of 6 lines cannot be read (line 6 first) and are left out",
        f"{ID}: verdicts.json: missing, and a damaged record is not judged again",
    )


def test_what_cannot_be_read_at_all_is_a_sentence(run: Path, load: Path, compared: Path) -> None:
    (run / "run.json").write_text('{"format": 7}')
    (load / "load.json").write_text("{")
    (compared / "regress.json").write_text("null")
    sources = gather([run, load, compared])
    assert (sources.runs, sources.loads, sources.regressions) == ((), (), ())
    assert [sentence.partition(":")[0] for sentence in sources.broken] == [run.name, load.name, compared.name]
    assert "/" not in sources.broken[0].partition(":")[2]
    document = assemble(sources, Words("en"))
    assert document.outcome == "unclear"


def test_a_folder_that_is_no_record_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"no record of a run, a load, a comparison or a check is there"):
        gather([tmp_path])


@pytest.mark.parametrize(
    "file", ["run.json", "pods.jsonl", "nodes.jsonl", "calls.jsonl", "extenders.json", "inputs/scenario.json"]
)
@pytest.mark.parametrize("kept", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_report_is_made_of_whatever_is_left(run: Path, file: str, kept: float, language: str) -> None:
    content = (run / file).read_bytes()
    (run / file).write_bytes(content[: int(len(content) * kept)] + b"\xff")
    document = assemble(gather([run]), Words(language))
    assert document.outcome in ("unclear", "failed")
    assert document.sections
