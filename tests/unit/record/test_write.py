import errno
import json
import stat
import tempfile
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness.record.write import RecordWriter, new_id


def test_an_id_says_when_and_what() -> None:
    made = new_id("twenty-pause", "lab", "default", datetime(2026, 11, 16, 5, 36, 10, tzinfo=UTC))
    assert made.startswith("20261116-053610-twenty-pause-lab-default-")
    assert len(made.rpartition("-")[2]) == 4


def test_an_id_is_a_file_name_whatever_the_parts_are() -> None:
    made = new_id("../Zones & more", "x" * 300, "", datetime(2026, 11, 16, tzinfo=UTC))
    assert made.startswith("20261116-000000-zones-more-xxx")
    assert "/" not in made
    assert len(made) < 255


def test_a_new_record_is_private_and_provisional(tmp_path: Path) -> None:
    writer = RecordWriter.create(tmp_path / "runs", "one", {"scenario": "s"})
    assert stat.S_IMODE(writer.path.stat().st_mode) == 0o700
    meta = json.loads((writer.path / "run.json").read_text())
    assert meta == {"format": 1, "id": "one", "scenario": "s", "status": "running", "error": None}
    writer.close()


def test_a_line_is_on_disk_when_append_returns(tmp_path: Path) -> None:
    with RecordWriter.create(tmp_path, "one", {}) as writer:
        writer.append("pods", {"t": 0.5, "name": "a"})
        assert (writer.path / "pods.jsonl").read_text() == '{"t":0.5,"name":"a"}\n'


def test_lines_of_many_threads_do_not_mix(tmp_path: Path) -> None:
    with RecordWriter.create(tmp_path, "one", {}) as writer:

        def work(number: int) -> None:
            for index in range(200):
                writer.append("events", {"thread": number, "index": index, "pad": "x" * 500})

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    lines = [json.loads(line) for line in (writer.path / "events.jsonl").read_text().splitlines()]
    assert len(lines) == 800
    assert [line["index"] for line in lines if line["thread"] == 2] == list(range(200))


def test_finish_replaces_run_json_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    writer = RecordWriter.create(tmp_path, "one", {"scenario": "s", "variant": "default"})
    writer.append("pods", {"t": 0})
    writer.write_text("inputs/scenario.yaml", "name: ä\n")
    writer.finish({"status": "finished", "settled": True})
    meta = json.loads((writer.path / "run.json").read_text())
    assert (meta["status"], meta["variant"], meta["settled"]) == ("finished", "default", True)
    names = {path.relative_to(writer.path).as_posix() for path in writer.path.rglob("*") if path.is_file()}
    assert names == {"run.json", "pods.jsonl", "inputs/scenario.yaml"}


def test_verdicts_can_be_written_after_finish_but_lines_cannot(tmp_path: Path) -> None:
    writer = RecordWriter.create(tmp_path, "one", {})
    writer.finish({})
    writer.write_json("verdicts.json", [])
    with pytest.raises(HarnessError, match=r"pods\.jsonl: a line came after the record was finished"):
        writer.append("pods", {"t": 0})


def test_a_record_is_never_overwritten(tmp_path: Path) -> None:
    RecordWriter.create(tmp_path, "one", {}).close()
    with pytest.raises(HarnessError, match="one: cannot be written: File exists; take another run id"):
        RecordWriter.create(tmp_path, "one", {})


@pytest.mark.parametrize("name", ["../outside", "/etc/outside"])
def test_a_name_cannot_leave_the_record(tmp_path: Path, name: str) -> None:
    with (
        RecordWriter.create(tmp_path, "one", {}) as writer,
        pytest.raises(HarnessError, match="leads out of the record"),
    ):
        writer.write_text(name, "")


def test_a_stream_needs_a_plain_name(tmp_path: Path) -> None:
    with RecordWriter.create(tmp_path, "one", {}) as writer, pytest.raises(HarnessError, match="no name for a stream"):
        writer.append("../pods", {})


class _NearlyFull:
    """A file that takes a few bytes and then no more."""

    def __init__(self) -> None:
        self.data = b""

    def tell(self) -> int:
        return len(self.data)

    def write(self, data: memoryview) -> int:
        if len(self.data) >= 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.data += bytes(data[:5])
        return min(len(data), 5)

    def truncate(self, size: int) -> None:
        self.data = self.data[:size]

    def close(self) -> None:
        pass


def test_a_full_disk_is_named_with_the_next_move_and_leaves_no_half_line(tmp_path: Path) -> None:
    with RecordWriter.create(tmp_path, "one", {}) as writer:
        full = _NearlyFull()
        writer._streams["pods"] = full  # type: ignore[assignment]
        with pytest.raises(HarnessError, match=r"pods\.jsonl: cannot be written: No space left on device; free some"):
            writer.append("pods", {"name": "a longer line"})
        assert full.data == b""


def test_a_full_disk_while_replacing_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RecordWriter.create(tmp_path, "one", {}) as writer:

        def full(*_: object, **__: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(tempfile, "mkstemp", full)
        with pytest.raises(HarnessError, match=r"run\.json: cannot be written: No space left"):
            writer.finish({"status": "finished"})
    assert json.loads((writer.path / "run.json").read_text())["status"] == "running"
