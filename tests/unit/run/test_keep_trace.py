"""What is kept of a trace, and which plugins are told to have done nothing."""

import json
from pathlib import Path

from harness.clock import unix_ns
from harness.record.write import RecordWriter
from harness.run import keep
from harness.testing import FakeCluster
from harness.variant.base import Installed


def kept(tmp_path: Path, *called: str) -> list[str]:
    tmp_path.mkdir(exist_ok=True)
    began = unix_ns()
    call = {"t_unix_ns": began, "pod": "default/a", "uid": "1", "point": "Filter", "code": "Success", "seconds": 0.1}
    trace = tmp_path / "trace.jsonl"
    trace.write_text("".join(json.dumps(call | {"plugin": name, "node": "n", "text": None}) + "\n" for name in called))
    installed = Installed("framework-plugin", {}, "", trace=trace, plugins=("Mine", "Inert"))
    writer = RecordWriter.create(tmp_path, "run", {})
    try:
        return keep.trace(writer, FakeCluster(tmp_path), installed, began)
    finally:
        writer.finish({})


def test_a_plugin_that_was_never_called_is_told(tmp_path: Path) -> None:
    (warning,) = kept(tmp_path, "NodeName", "Mine")
    assert warning.startswith("plugin Inert was never called; ")


def test_all_were_called_or_nobody_was(tmp_path: Path) -> None:
    assert kept(tmp_path / "all", "Mine", "Inert") == []
    assert kept(tmp_path / "none") == []
