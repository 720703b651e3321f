from dataclasses import replace

import pytest

from harness.load import insitu
from harness.record.call import Extender
from harness.record.load import LoadRecord
from harness.report.load import load_text
from tests.unit.expect.records import RecordBuilder
from tests.unit.load.test_record import RESULT


def run() -> RecordBuilder:
    made = RecordBuilder()
    made.extenders = [Extender("mine", "ref:lucky", {"filterVerb": "filter"}, "http://127.0.0.1:1")]
    for number in range(100):
        made.call("filter", f"pod-{number}", seconds=(number + 1) / 1000, extender="mine", nodes_in=3)
    return made.call("bind", "pod-1", seconds=0.5, extender="mine", nodes_in=None, error="no", status=500)


def test_percentiles_are_values_that_were_seen() -> None:
    filtered, bound = insitu.rows(run().build())
    points = [filtered[f"{point}_ms"] for point in ("p50", "p90", "p95", "p99", "max")]
    assert points == pytest.approx([50.0, 90.0, 95.0, 99.0, 100.0])
    assert (filtered["subject"], filtered["verb"], filtered["nodes"]) == ("ref:lucky", "filter", 3)
    assert (filtered["calls"], filtered["failed"]) == (100, 0)
    assert (bound["calls"], bound["failed"], bound["nodes"]) == (1, 1, None)


def test_a_run_that_says_nothing_about_the_load_is_told() -> None:
    record = run().build()
    assert insitu.doubts(record, ["ref:lucky"]) == []
    assert "ran ref:lucky, which is no subject of this load" in insitu.doubts(record, ["ref:other"])[0]
    assert "no call to an extender" in insitu.doubts(RecordBuilder().build(), ["ref:lucky"])[0]
    broken = replace(record, calls=(replace(record.calls[0], fault="status 500"),))
    assert "faults were put" in insitu.doubts(broken, ["ref:lucky"])[0]


def test_it_stands_below_the_load(tmp_path_factory: pytest.TempPathFactory) -> None:
    record = run().build()
    loaded = LoadRecord(tmp_path_factory.mktemp("load"), {"in_situ": insitu.rows(record)}, (RESULT,))
    text = load_text(loaded)
    assert f"in situ, in milliseconds at the tap of {record.meta.id}" in text
    row = next(line for line in text.splitlines() if line.startswith("ref:lucky") and " filter " in line)
    assert row.split()[2:] == ["3", "100", "0", "50.0", "90.0", "95.0", "99.0", "100"]
