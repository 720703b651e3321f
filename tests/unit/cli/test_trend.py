import json
from pathlib import Path
from typing import Any

import pytest

from harness.report.repeats import figure
from harness.report.sources import gather
from tests.unit.cli.conftest import Harness
from tests.unit.report.placing import builder

SLOW = (1.0, 1.02, 0.99, 1.01, 0.98, 1.0, 2.0, 2.02, 1.98)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for turn, slow in enumerate(SLOW):
        saved(tmp_path, turn, slow)
    return tmp_path


def saved(
    root: Path, turn: int, slow: float = 1.0, *, machine: str = "here", variant: str = "default", **meta: Any
) -> Path:
    path = builder((2, 1), slow=slow, variant=variant).write(root, f"run-{machine}-{variant}-{turn}")
    written = json.loads((path / "run.json").read_text())
    more = {"started_at": f"2026-11-16T05:{turn:02}:00+00:00", "machine": {"id": machine, "cores": 2}}
    (path / "run.json").write_text(json.dumps(written | more | meta))
    return path


def test_a_change_is_told_with_its_run(harness: Harness, runs: Path) -> None:
    ended = harness("trend", runs)
    assert ended.code == 0, ended.err
    assert "embedded on machine here (9 records)" in ended.out
    assert "- synthetic[default] default: p50 ms 102.0 → 204.0 (+100%) since run-here-default-6" in ended.out
    assert "significant" in ended.out.split("It never says ")[1]
    assert max(map(len, ended.out.splitlines())) <= 100


def test_figures_are_those_of_the_records(harness: Harness, runs: Path) -> None:
    (one,) = json.loads(harness("trend", runs, "--json").out)["courses"]
    assert [run["run"] for run in one["runs"]] == [f"run-here-default-{turn}" for turn in range(9)]
    for told in one["runs"]:
        (judged,) = gather([runs / told["run"]]).runs
        for name in ("p50_ms", "p99_ms", "pods_per_second", "cpu_ms_per_pod"):
            assert told[name] == figure(judged, name)


def test_machines_are_never_mixed(harness: Harness, runs: Path) -> None:
    for turn in range(3):
        saved(runs, turn, 9.0, machine="there")
    document = json.loads(harness("trend", runs, "--json").out)
    assert [(one["machine"], len(one["runs"])) for one in document["courses"]] == [("here", 9), ("there", 3)]
    assert "embedded on machine there (3 records)" in harness("trend", runs).out


def test_neither_are_scenarios_that_were_changed(harness: Harness, runs: Path) -> None:
    path = saved(runs, 9)
    scenario = path / "inputs" / "scenario.json"
    scenario.write_text(json.dumps(json.loads(scenario.read_text()) | {"parameters": {"nodes": 9}}))
    document = json.loads(harness("trend", runs, "--json").out)
    assert sorted(len(one["runs"]) for one in document["courses"]) == [1, 9]


def test_it_can_be_narrowed(harness: Harness, runs: Path) -> None:
    saved(runs, 0, variant="extender")
    document = json.loads(harness("trend", runs, "--variant", "default", "--metric", "p99", "--json").out)
    (one,) = document["courses"]
    assert {change["figure"] for change in one["changes"]} == {"p99_ms"}
    shown = harness("trend", runs, "--metric", "p99").out
    assert "p99 curve" in shown
    assert "p50" not in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--scenario", "nothing"], "--scenario nothing: no run in"),
        (["--variant", "controller"], "seen: default"),
        (["--metric", "p75"], "'p75' is not one of"),
    ],
)
def test_bad_input(harness: Harness, runs: Path, arguments: list[str], said: str) -> None:
    ended = harness("trend", runs, *arguments)
    assert (ended.code, said in ended.err) == (2, True), ended.err


def test_no_folder(harness: Harness, tmp_path: Path) -> None:
    ended = harness("trend", tmp_path / "nowhere")
    assert (ended.code, "no such folder" in ended.err) == (2, True)


def test_damaged_and_unfinished_records_are_skipped_and_counted(harness: Harness, runs: Path) -> None:
    (saved(runs, 20) / "run.json").write_text("{")
    (saved(runs, 21) / "pods.jsonl").write_text('{"uid": 1}\n{}\n')
    (saved(runs, 22) / "inputs" / "scenario.json").unlink()
    saved(runs, 23, status="running")
    (saved(runs, 24) / "verdicts.json").write_text("[}")
    ended = harness("trend", runs)
    assert ended.code == 0
    assert "damaged records that were skipped: 3, such as run-here-default-20" in ended.out
    assert "runs that did not finish and were skipped: 1" in ended.out
    assert "(10 records)" in ended.out


@pytest.mark.parametrize("left", [0.0, 0.6, None])
def test_pods_that_were_cut_or_lost_are_damage(harness: Harness, runs: Path, left: float | None) -> None:
    """A run that finished wrote every line, so that what is left says nothing about how long pods waited."""
    path = runs / "run-here-default-8"
    pods = path / "pods.jsonl"
    written = pods.read_bytes()
    (path / "events.jsonl").write_text('{"t":0.2,"reason":"Scheduled","object":{"kind":"Pod","name":"pod-1"}}\n')
    pods.unlink() if left is None else pods.write_bytes(written[: int(left * len(written))])
    document = json.loads(harness("trend", runs, "--json").out)
    assert len(document["courses"][0]["runs"]) == 8
    (told,) = document["skipped"]["damaged"]
    assert told.startswith("run-here-default-8 (")
    assert "pods.jsonl" in told
    assert "damaged records that were skipped: 1" in harness("trend", runs).out


def test_a_run_without_pods_is_no_damage(harness: Harness, runs: Path) -> None:
    (runs / "run-here-default-8" / "pods.jsonl").unlink()
    document = json.loads(harness("trend", runs, "--json").out)
    assert (len(document["courses"][0]["runs"]), document["skipped"]["damaged"]) == (9, [])


def test_records_of_loads_are_counted_and_called_so(harness: Harness, tmp_path: Path) -> None:
    folder = tmp_path / "loads"
    for name, file in (("one", "load.json"), ("two", "load.json"), ("three", "baseline.json")):
        (folder / name).mkdir(parents=True)
        (folder / name / file).write_text("{}")
    ended = harness("trend", folder, "--lang", "en")
    assert ended.code == 0
    assert "no runs and were skipped: 3; `harness report` shows" in " ".join(ended.out.split())
    assert json.loads(harness("trend", folder, "--json").out)["skipped"]["others"] == 3
    ended = harness("trend", folder / "one")
    assert ended.code == 2
    assert "a record of a load seen, a folder of records expected; `harness report` shows" in ended.err


def test_an_empty_folder_and_chinese(harness: Harness, tmp_path: Path, runs: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert harness("trend", empty, "--lang", "en").out.strip() == "nothing was run twice"
    assert "曲线" in harness("trend", runs, "--lang", "zh").out
