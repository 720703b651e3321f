import json
from pathlib import Path

import pytest

from harness.errors import RecordError
from harness.record.baseline import Baseline, write
from harness.record.find import ANY, OTHERS, RUN, ids, kind_seen, newest, resolve
from tests.unit.expect.records import RecordBuilder

OLD = "20261115-120000-zones-default-default-aaaa"
NEW = "20261116-053610-twenty-pause-lab-default-3f2a"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for run_id in (OLD, NEW):
        RecordBuilder().write(tmp_path, run_id)
    return tmp_path


def test_a_record_is_found_by_path(root: Path) -> None:
    assert resolve(str(root / OLD), Path("elsewhere")) == root / OLD
    assert resolve(str(root / OLD / "run.json"), Path("elsewhere")) == root / OLD


@pytest.mark.parametrize(("name", "found"), [(OLD, OLD), ("20261115", OLD), ("20261116-05", NEW), ("latest", NEW)])
def test_a_record_is_found_by_name(root: Path, name: str, found: str) -> None:
    assert resolve(name, root) == root / found


def test_latest_of_the_same_second_is_the_one_that_started_last(root: Path) -> None:
    twin = NEW.removesuffix("3f2a") + "0001"
    path = RecordBuilder().write(root, twin)
    meta = json.loads((path / "run.json").read_text()) | {"started_at": "2026-11-16T05:36:10.900000+00:00"}
    (path / "run.json").write_text(json.dumps(meta))
    assert resolve("latest", root).name == twin


def test_an_ambiguous_beginning_lists_what_fits(root: Path) -> None:
    with pytest.raises(RecordError, match=f"2 records begin so, one expected; give more of the id: {OLD}, {NEW}"):
        resolve("2026", root)


def test_an_unknown_name_lists_the_nearest(root: Path) -> None:
    with pytest.raises(RecordError, match=f"no such record under .*; the nearest: {NEW}"):
        resolve("20261116-053610-twenty-pause-lab-extender-3f2a", root)


@pytest.mark.parametrize("name", ["latest", "x", ""])
def test_without_records_the_next_move_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecordError, match="make one with `harness run`"):
        resolve(name, tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("load.json", "a load"),
        ("regress.json", "a comparison of two extenders"),
        ("baseline.json", "a check against a baseline"),
    ],
)
def test_a_record_of_another_kind_is_called_so(root: Path, tmp_path: Path, file: str, kind: str) -> None:
    folder = root / "20261116-070000-load-aaaa"
    folder.mkdir()
    (folder / file).write_text("{}")
    for name in (folder, folder / file, folder.name):
        with pytest.raises(RecordError, match=f"a record of {kind} seen, of a run expected; .*report.*regress"):
            resolve(str(name), root)
    with pytest.raises(RecordError, match=f"a record of {kind} seen"):
        resolve(str(folder), tmp_path / "nowhere")


def test_other_folders_are_no_records(root: Path) -> None:
    (root / "scratch").mkdir()
    assert ids(root) == [OLD, NEW]


def test_records_of_other_kinds_are_found_where_they_are_meant(root: Path) -> None:
    load = root / "20261117-000000-load-extender-aaaa"
    load.mkdir()
    (load / "load.json").write_text("{}")
    assert resolve("latest", root).name == NEW
    assert resolve("latest", root, ANY) == load
    assert resolve("20261117", root, ANY) == load
    assert resolve(str(load / "load.json"), root, ANY) == load
    with pytest.raises(RecordError, match="a record of a load seen, of a run expected"):
        resolve(load.name, root)


def test_latest_among_damaged_records_is_no_error(root: Path) -> None:
    twin = root / NEW.replace("3f2a", "4000")
    twin.mkdir()
    (twin / "run.json").write_text("{")
    assert resolve("latest", root).name == NEW


def test_the_newest_are_the_last_ids(root: Path) -> None:
    assert newest(1, root) == [root / NEW]
    assert newest(9, root) == [root / OLD, root / NEW]


def test_a_check_against_a_baseline_is_a_record(root: Path) -> None:
    folder = root / "20261117-000000-baseline-extender-aaaa"
    folder.mkdir()
    (folder / "baseline.json").write_text("{}")
    for name in ("latest", "20261117", folder.name, str(folder), str(folder / "baseline.json")):
        assert resolve(name, root, ANY) == folder
    assert newest(1, root, ANY) == [folder]
    assert ids(root, OTHERS) == [folder.name]
    assert resolve("latest", root).name == NEW


def test_a_baseline_that_was_saved_is_no_record(root: Path) -> None:
    """People commit it under the name that the record's file has, also where records are."""
    folder = root / "20261117-000000-mine"
    folder.mkdir()
    write(Baseline(()), folder / "baseline.json")
    assert (kind_seen(folder), ids(root, ANY)) == (None, [OLD, NEW])
    assert resolve("latest", root, ANY).name == NEW
    for files in ((RUN,), ANY):
        with pytest.raises(
            RecordError, match=r"a baseline seen, a record expected; `harness baseline check` makes one"
        ):
            resolve(str(folder / "baseline.json"), root, files)
