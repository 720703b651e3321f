import json
import time
from pathlib import Path

import pytest

from harness.errors import RecordError
from harness.record.read import read, read_meta
from tests.unit.expect.records import NO_CPU, RecordBuilder


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    made = (
        RecordBuilder().node("node-1").pod("web-1", "node-1").event("web-1", "Scheduled", "ok").step(0.5, op="settle")
    )
    made.workload("ReplicaSet", "web", 1)
    record = read(made.write(tmp_path))
    assert record.warnings == ()
    assert (record.meta.variant, record.meta.settled, record.meta.status) == ("default", True, "finished")
    assert record.scenario == made.scenario()
    assert record.end_t == 10.0
    assert [node.name for node in record.nodes] == ["node-1"]
    assert record.workloads[0].desired == 1
    assert record.events_by_uid["uid-web-1"][0].reason == "Scheduled"
    assert [mark.phase for mark in record.steps] == ["start", "end"]


def test_a_pod_history_has_its_times(tmp_path: Path) -> None:
    made = RecordBuilder().node("node-1").pod("web-1", "node-1", message=NO_CPU, deleted_t=5.0)
    pod = read(made.write(tmp_path)).pods[0]
    assert (pod.created_t, pod.unschedulable_t, pod.scheduled_t, pod.bound_t) == (1.0, 1.1, 1.5, 1.5)
    assert (pod.running_t, pod.finished_t, pod.terminating_t, pod.deleted_t) == (1.75, None, 5.0, 5.0)
    assert (pod.node, pod.nodes, pod.phase, pod.pending, pod.exists) == ("node-1", ("node-1",), "Running", False, False)
    assert [condition.status for condition in pod.conditions] == ["False", "True"]


def test_a_pending_pod_keeps_its_condition(tmp_path: Path) -> None:
    pod = read(RecordBuilder().pod("web-1", message=NO_CPU).write(tmp_path)).pods[0]
    assert pod.pending
    assert pod.condition is not None
    assert (pod.condition.reason, pod.condition.message) == ("Unschedulable", NO_CPU)


def test_a_job_pod_first_seen_as_succeeded_did_run(tmp_path: Path) -> None:
    pod = read(RecordBuilder().pod("job-1", "node-1", phase="Succeeded").write(tmp_path)).pods[0]
    assert (pod.running_t, pod.finished_t, pod.finished) == (1.75, 1.75, True)


def test_a_node_is_known_as_it_was(tmp_path: Path) -> None:
    made = RecordBuilder().node("node-1", labels={"zone": "a"}).node_changes("node-1", 3.0, labels={"zone": "b"})
    node = read(made.write(tmp_path)).nodes[0]
    assert [node.at(t).labels["zone"] for t in (-1.0, 0.0, 2.9, 3.0, 9.0)] == ["a", "a", "a", "b", "b"]
    assert [seen.labels["zone"] for seen in node.between(2.5, 3.5)] == ["a", "b"]
    assert [seen.labels["zone"] for seen in node.between(-2.0, -1.0)] == ["a"]
    assert [seen.labels["zone"] for seen in node.between(4.0, 5.0)] == ["b"]


def test_a_node_added_again_has_two_lives(tmp_path: Path) -> None:
    made = RecordBuilder().node("node-1", removed_t=3.0).node("node-1", t=5.0, uid="again")
    record = read(made.write(tmp_path))
    found = [record.node_at("node-1", t) for t in (-1.0, 1.0, 4.0, 6.0)]
    assert [node.uid for node in found if node] == ["uid-node-1", "uid-node-1", "uid-node-1", "again"]
    assert record.node_at("node-2", 1.0) is None


def test_a_cut_last_line_is_left_out_and_said(tmp_path: Path) -> None:
    path = RecordBuilder().pod("web-1").pod("web-2", created_t=2.0).write(tmp_path)
    file = path / "pods.jsonl"
    file.write_bytes(file.read_bytes()[:-10])
    record = read(path)
    assert [pod.name for pod in record.pods] == ["web-1"]
    assert record.warnings == ("pods.jsonl:2: the last line was cut by a crash and is left out",)


def test_a_run_that_crashed_is_readable_and_says_so(tmp_path: Path) -> None:
    made = RecordBuilder().pod("web-1")
    made.status = "running"
    record = read(made.write(tmp_path))
    assert "never finished" in record.warnings[0]


def test_a_broken_line_in_the_middle_is_an_error_with_its_place(tmp_path: Path) -> None:
    path = RecordBuilder().pod("web-1").pod("web-2").write(tmp_path)
    file = path / "pods.jsonl"
    file.write_bytes(b"{oops\n" + file.read_bytes())
    with pytest.raises(RecordError, match=r"pods\.jsonl:1: broken JSON"):
        read(path)


@pytest.mark.parametrize("line", [b'{"t": 1}\n', b"[]\n", b'{"t": "x", "uid": "u", "event": "ADDED"}\n'])
def test_a_line_of_another_shape_is_an_error_with_its_place(tmp_path: Path, line: bytes) -> None:
    path = RecordBuilder().write(tmp_path)
    (path / "pods.jsonl").write_bytes(line)
    with pytest.raises(RecordError, match=r"pods\.jsonl:1: .*the record is damaged"):
        read(path)


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    path = RecordBuilder().write(tmp_path)
    meta = json.loads((path / "run.json").read_text()) | {"format": 7}
    (path / "run.json").write_text(json.dumps(meta))
    with pytest.raises(RecordError, match=r"run\.json: format 7 seen, 1 expected"):
        read(path)


def test_unknown_keys_of_run_json_are_kept(tmp_path: Path) -> None:
    path = RecordBuilder().write(tmp_path)
    meta = json.loads((path / "run.json").read_text()) | {"later": 1}
    (path / "run.json").write_text(json.dumps(meta))
    assert read_meta(path).extra == {"later": 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "list seen, an object expected"),
        ("{", "broken JSON"),
        ('{"format": 1}', "id, scenario, size, variant missing"),
    ],
)
def test_a_damaged_run_json_is_an_error(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(RecordError, match=message):
        read(tmp_path)


def test_a_missing_record_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no such record; `latest`"):
        read(tmp_path / "nowhere")
    with pytest.raises(RecordError, match=r"run\.json: missing"):
        read(tmp_path)


def test_a_scenario_of_another_version_is_an_error(tmp_path: Path) -> None:
    path = RecordBuilder().write(tmp_path)
    (path / "inputs" / "scenario.json").write_text("{}")
    with pytest.raises(RecordError, match=r"scenario\.json: saved scenario: name: .*and 8 more problems"):
        read(path)


def test_reading_grows_linearly(tmp_path: Path) -> None:
    def seconds(number: int) -> float:
        made = RecordBuilder()
        for index in range(number):
            made.pod(f"web-{index}", f"node-{index % 100}", created_t=index / 1000)
        path = made.write(tmp_path, f"run-{number}")

        def once() -> float:
            # Of this process alone, and the best of some: others may be busy.
            start = time.process_time()
            assert len(read(path).pods) == number
            return time.process_time() - start

        return min(once() for _ in range(3))

    # Eight times the pods: quadratic work would take 64 times as long.
    assert seconds(4000) < seconds(500) * 32
