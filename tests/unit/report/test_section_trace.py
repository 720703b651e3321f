import json
from pathlib import Path
from typing import Any

import pytest

from harness.report.document import Fold
from harness.report.sections import trace
from harness.report.sources import Sources
from tests.unit.expect.records import RecordBuilder
from tests.unit.report.reading import ENGLISH, blocks, callouts, from_disk, of, rows


def line(
    point: str, plugin: str = "Fit", *, uid: str = "uid-a", seconds: float = 0.001, **more: object
) -> dict[str, object]:
    return {
        "t": 1.5,
        "point": point,
        "plugin": plugin,
        "code": "Success",
        "seconds": seconds,
        "pod": f"default/{uid[4:]}",
        "uid": uid,
        "attempt": 1,
    } | more


def traced(folder: Path, *lines: dict[str, object], more: str = "") -> Sources:
    path = RecordBuilder(variant="framework-plugin").node("n").pod("w").pod("a", "n").write(folder)
    (path / "trace.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines) + more)
    return from_disk(path)


def test_without_a_trace_there_is_nothing_to_say() -> None:
    assert trace.section(of(), ENGLISH) is None


def test_calls_are_added_up_per_point_and_plugin(tmp_path: Path) -> None:
    refused: dict[str, Any] = {
        "code": "Unschedulable",
        "count": 4,
        "codes": {"Unschedulable": 3, "Success": 1},
        "seconds": 0.004,
    }
    lines = (
        line("Filter"),
        line("Filter", uid="uid-w", seconds=0.003),
        line("Filter", **refused),
        line("Bind", "Binder"),
    )
    first, second = rows(trace.section(traced(tmp_path, *lines), ENGLISH), "trace")
    assert (first["point"], first["plugin"], first["calls"]) == ("Filter", "Fit", 6)
    assert first["codes"] == "Success 3, Unschedulable 3"
    assert first["total_ms"] == pytest.approx(8)
    assert first["mean_us"] == pytest.approx(8000 / 6)
    assert second["plugin"] == "Binder"


def test_one_pod_is_told_call_by_call(tmp_path: Path) -> None:
    sources = traced(tmp_path, line("Filter", uid="uid-w"), line("PreFilter"), line("Filter", node="n", text="it fits"))
    section = trace.section(sources, ENGLISH)
    (fold,) = blocks(section, Fold)
    assert "default/a" in fold.title
    told = rows(section, fold.blocks[0].name)
    assert [(row["place"], row["point"], row["node"], row["text"]) for row in told] == [
        (1, "PreFilter", None, ""),
        (2, "Filter", "n", "it fits"),
    ]
    assert told[0]["at_ms"] == pytest.approx(1500)
    assert told[0]["took_us"] == pytest.approx(1000)


def test_lines_that_cannot_be_read_are_counted_and_the_rest_is_told(tmp_path: Path) -> None:
    section = trace.section(traced(tmp_path, line("Filter"), {"point": "Bind"}, more='{"point": "Fil'), ENGLISH)
    assert [row["calls"] for row in rows(section, "trace")] == [1]
    ((level, text),) = callouts(section)
    assert level == "warning"
    assert "2 lines" in text
