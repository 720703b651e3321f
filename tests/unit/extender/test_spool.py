"""What a run that was killed leaves of its traffic, and what becomes of it."""

import json
import multiprocessing
import os
import shutil
from pathlib import Path

import pytest
from filelock import FileLock

from harness.extender.cassette import file as cassette
from harness.extender.requests import extender_args, nodes, pod
from harness.extender.spool import note, owned, recover, recover_all
from harness.paths import runs_folder
from harness.record.call import CASSETTE, EXTENDERS, SPOOL, Extender
from harness.record.read import read
from harness.record.write import RecordWriter
from tests.unit.cli.conftest import Harness, harness
from tests.unit.expect.records import RecordBuilder
from tests.unit.extender.servers import serving
from tests.unit.extender.tapped import Tapped, entry

__all__ = ["harness"]

SECRET = "hunter2"
FACTS = {"scenario": "s", "kubernetes": "1.36"}


def _killed(record: Path) -> None:
    """Record one call, then end as by kill -9, with the lock held."""
    writer = RecordWriter(record, {})
    writer.write_json(EXTENDERS, [Extender("x", "ref:x", entry().to_json(), "http://x").to_json()])
    with owned(record) as folder:
        tapped = Tapped(folder / "x")
        note(writer, FACTS, {"x": -100.0})
        container = {"name": "c", "env": [{"name": "A", "value": SECRET}]}
        asked = extender_args(pod("p", containers=[container]), nodes(3), names_only=True)
        tapped.call("/s/filter", asked, {"NodeNames": []})
        # It was killed while it made its calls itself.
        writer.append("calls", {"half": "done"})
        os._exit(9)


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = RecordBuilder().node("n").pod("p", "n").write(tmp_path / "runs")
    run = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps({**run, "status": "running"}))
    process = multiprocessing.get_context("fork").Process(target=_killed, args=(path,))
    process.start()
    process.join()
    assert process.exitcode == 9
    return path


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_killed_runs_calls_are_put_into_its_record_without_secrets(record: Path) -> None:
    assert recover(record)
    assert not (record / SPOOL).exists()
    (call,) = read(record).calls
    assert (call.extender, call.kind, call.pod, call.t) == ("x", "filter", "default/p", 1.0)
    taped = cassette.read(record)
    assert (taped.header["scenario"], [one["name"] for one in taped.extenders]) == ("s", ["x"])
    (kept,) = taped.calls
    assert SECRET not in json.dumps(kept.request)
    assert not recover(record)


def test_what_a_living_run_writes_is_left_alone(record: Path) -> None:
    before = files(record)
    with FileLock(record / SPOOL / "owner.lock", timeout=0):
        assert not recover(record)
        assert files(record) == before
    assert recover(record)


def test_every_record_of_a_folder(record: Path) -> None:
    said: list[str] = []
    recover_all(record.parent, said.append)
    assert said == [f"{record}: its run was killed; what its taps had recorded is now in it, without secrets"]
    recover_all(record.parent, said.append)
    recover_all(record.parent / "none", said.append)
    assert len(said) == 1


def test_one_that_cannot_be_mended_is_told_and_stays(record: Path) -> None:
    (record / EXTENDERS).write_text("{")
    said: list[str] = []
    recover_all(record.parent, said.append)
    assert "cannot be made into calls" in said[0]
    assert (record / SPOOL / "x" / "bodies.zst").exists()


def test_a_reader_is_told_of_it(record: Path) -> None:
    (record / "calls.jsonl").unlink()
    assert any(warning.startswith("tap/: calls to extenders lie there") for warning in read(record).warnings)
    recover(record)
    assert not any(warning.startswith("tap/") for warning in read(record).warnings)


def test_a_replay_makes_the_cassette_first(record: Path, harness: Harness) -> None:
    with serving({"/s/filter": lambda _: {"NodeNames": []}}) as served:
        ended = harness("replay", record, f"{served.url}/s")
    assert ended.code == 0, ended.err
    assert (record / CASSETTE).is_file()


def test_a_replay_says_why_there_is_no_cassette(record: Path, harness: Harness) -> None:
    with FileLock(record / SPOOL / "owner.lock", timeout=0):
        going_on = harness("replay", record, "ref:pass-through")
    assert (going_on.code, "its run goes on, or was killed as it began" in going_on.err) == (2, True)
    shutil.rmtree(record / SPOOL)
    killed = harness("replay", record, "ref:pass-through")
    assert (killed.code, "its run was killed before it was made" in killed.err) == (2, True)


def test_cleaning_puts_it_into_the_record(tmp_path: Path, record: Path, harness: Harness) -> None:
    there = runs_folder() / record.name
    there.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(record, there)
    ended = harness("clean")
    assert (ended.code, f"{there}: its run was killed" in ended.out) == (0, True)
    assert not (there / SPOOL).exists()
