from pathlib import Path

import numpy as np
import orjson
import pytest

from harness.errors import RecordError
from harness.load import samples
from harness.load.keep import LoadWriter
from harness.load.measure import Run
from harness.record.find import ids
from harness.record.load import Knee, LoadResult, read

RESULT = LoadResult(
    "s", "filter", 100, "names", "open", 100.0, 2, 0, 1.0, 2.0, 3.0, 4.0, 5.0, 4.0, 0.1, False, error_kinds={"cut": 1}
)
MAIN = samples.Samples({name: np.arange(3.0) for name in samples.COLUMNS})
RUN = Run(MAIN, samples.merged([]), [{"index": 0}], [], "complete")


def test_what_was_kept_is_read_back(tmp_path: Path) -> None:
    writer = LoadWriter(tmp_path, "s", {"machine": {"cores": 2}})
    (kept,) = writer.add(RUN, [RESULT], {"digest": "d"})
    knee = Knee("s", "filter", 1, "names", 50.0, 10.0, None, "bound", 3.0, ({"rate": 10.0},))
    writer.add_knee(knee)
    writer.finish("complete", ["w"], {})
    record = read(writer.path)
    assert record.results == (kept,)
    assert record.knees == (knee,)
    assert record.meta["machine"] == {"cores": 2}
    assert (record.meta["status"], record.meta["warnings"]) == ("complete", ["w"])
    assert record.samples(kept)["done"].tolist() == [0.0, 1.0, 2.0]


def test_a_crash_loses_no_measurement(tmp_path: Path) -> None:
    writer = LoadWriter(tmp_path, "s", {})
    writer.add(RUN, [RESULT], {})
    record = read(writer.path)
    assert record.meta["status"] == "running"
    assert len(record.results) == 1


def test_a_load_is_no_record_of_a_scenario(tmp_path: Path) -> None:
    LoadWriter(tmp_path, "s", {})
    assert ids(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "broken JSON"),
        ("{}", "no record of a load"),
        ('{"format": 99, "kind": "load", "id": "x", "results": []}', "format 99"),
        ('{"format": 1, "kind": "load", "id": "x", "results": [{}]}', "damaged"),
    ],
)
def test_what_is_damaged_is_told(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "load.json").write_text(text)
    with pytest.raises(RecordError, match=why):
        read(tmp_path)


def test_missing_samples_are_told(tmp_path: Path) -> None:
    writer = LoadWriter(tmp_path, "s", {})
    (kept,) = writer.add(RUN, [RESULT], {})
    (writer.path / kept.samples).unlink()
    with pytest.raises(RecordError, match="measure again"):
        read(writer.path).samples(kept)
    assert orjson.loads((writer.path / "load.json").read_bytes())["kind"] == "load"
