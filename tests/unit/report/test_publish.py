import errno
import os
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.report.publish import write

OLD = {"report.html": b"old page", "tables/runs.csv": b"old rows"}
NEW = {"report.html": b"new page", "report.md": b"new text", "tables/runs.csv": b"new rows"}


def below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_report_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    write(OLD, tmp_path)
    write(NEW, tmp_path)
    assert below(tmp_path) == NEW


def test_a_full_disk_leaves_the_report_that_was_there_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(OLD, tmp_path)
    whole = Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        if data != NEW["tables/runs.csv"]:
            return whole(self, data)
        whole(self, data[:3])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match="cannot be written: No space left on device; choose another folder"):
        write(NEW, tmp_path)
    assert below(tmp_path) == OLD


def test_a_place_that_is_a_folder_is_refused_and_no_draft_stays(tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()
    with pytest.raises(InputError, match="the report cannot be written"):
        write(OLD, tmp_path)
    assert below(tmp_path) == {}
