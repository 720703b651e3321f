import json

from tests.unit.expect.records import RecordBuilder
from tests.unit.report.given import judged, mixed


def test_pods_are_counted_by_how_they_ended_and_deleted_ones_are_not() -> None:
    assert mixed().counts() == {"running": 2, "pending": 1, "succeeded": 1, "failed": 1, "total": 5}


def test_placements_name_every_pod_that_has_a_node() -> None:
    assert mixed().placements() == {"a": "n1", "other/b": "n1", "done": "n2", "broken": "n2"}


def test_every_node_that_is_still_there_is_told_also_empty_ones() -> None:
    assert mixed().per_node() == {"n1": 2, "n2": 2}
    assert judged(RecordBuilder().node("idle")).per_node() == {"idle": 0}


def test_a_run_is_ok_when_nothing_is_contradicted() -> None:
    assert mixed().ok
    assert not mixed({"kind": "count", "running": 20}).ok


def test_a_bound_pod_that_does_not_run_yet_is_not_pending() -> None:
    """Pending means that no node was found, as `harness run` tells it."""
    run = judged(RecordBuilder().node("n").pod("p", "n", phase="Pending"))
    assert (run.counts()["running"], run.counts()["pending"]) == (0, 0)
    assert run.counts()["total"] == 1
    assert run.placements() == {"p": "n"}


def test_a_program_can_read_it() -> None:
    run = mixed({"kind": "count", "running": 2})
    value = json.loads(json.dumps(run.to_json()))
    assert value["ok"] is True
    assert (value["scenario"], value["size"], value["variant"]) == ("synthetic", "default", "default")
    assert (value["cluster"], value["seed"], value["ready_seconds"]) == ("embedded", 3, 2.0)
    assert value["pods"] == run.counts()
    assert value["placements"] == run.placements()
    assert value["record"] == "synthetic"
    assert value["warnings"] == ["something is odd"]
    (verdict,) = [one for one in value["verdicts"] if one["kind"] == "count"]
    assert verdict["ok"]
    assert {"status", "title", "expected", "seen", "evidence"} <= verdict.keys()
