from dataclasses import replace
from typing import Any

import pytest

from harness.errors import InputError
from harness.record.model import Record
from harness.report.likeness import refuse, scenario_digest, unlike
from tests.unit.report.placing import builder, run

COUNTS = (2, 1)


def record(**meta: Any) -> Record:
    return run(COUNTS, run_id="other", **meta).record


def keys(*records: Record) -> dict[str, tuple[bool, bool]]:
    return {one.key: (one.refuses, one.slows) for one in unlike(records)}


def test_repeats_are_alike() -> None:
    assert unlike([record(), record(), record()]) == ()


@pytest.mark.parametrize(
    ("changes", "key", "slows"),
    [
        ({"seed": 4}, "seed", False),
        ({"cluster": "kind"}, "cluster", True),
        ({"versions": {"kubernetes": "1.30.1"}}, "versions.kubernetes", False),
        ({"versions": {"kubernetes": "1.36.3", "harness": "2"}}, "versions.harness", False),
        ({"machine": {"id": "there", "cores": 2}}, "machine.id", True),
        ({"status": "failed"}, "status", True),
    ],
)
def test_what_differs_is_named_and_not_refused(changes: dict[str, Any], key: str, slows: bool) -> None:
    found = unlike([record(), record(**changes)])
    assert [(one.run, one.key, one.refuses, one.slows) for one in found] == [("other", key, False, slows)]
    refuse(found, "hint")


def test_a_busier_machine_is_named() -> None:
    calm, busy = ({"id": "here", "cores": 2, "load_at_start": load} for load in (0.5, 6.0))
    assert keys(record(machine=calm), record(machine=busy)) == {"machine.load_at_start": (False, False)}
    assert keys(record(machine=calm), record(machine={**calm, "load_at_start": 2.0})) == {}


def test_another_scenario_is_refused_with_its_key_and_both_values() -> None:
    other = builder(COUNTS).step(3.0, op="delete", kind="Pod", name="pod-9").build()
    other = replace(other, meta=replace(other.meta, id="longer", machine={"id": "here", "cores": 2}))
    found = unlike([record(), other])
    assert [one.key for one in found if one.refuses] == ["scenario.steps"]
    with pytest.raises(
        InputError, match=r"longer: scenario\.steps: .*delete.* seen, .*settle.* expected\nhint"
    ) as error:
        refuse(found, "hint")
    assert error.value.exit_code == 2


def test_other_expectations_only_make_verdicts_incomparable() -> None:
    other = builder(COUNTS)
    other.expect = ({"kind": "count", "running": 3},)
    made = other.build()
    made = replace(made, meta=replace(made.meta, machine={"id": "here", "cores": 2}))
    assert keys(record(), made) == {"scenario.expect": (False, False)}


def test_other_nodes_are_refused() -> None:
    more, less, smaller = run((2, 1, 0)).record, run((3,)).record, builder(COUNTS, cpu=2000).build()
    found = {one.key: one for each in (more, less, smaller) for one in unlike([record(), each]) if one.refuses}
    assert set(found) == {"nodes", "nodes.node-1.cpu"}
    assert found["nodes.node-1.cpu"].sentence().endswith("2000 (and 1 more nodes) seen, 4000 expected")
    assert any(one.seen == "3 with node-3" for one in unlike([record(), more]))
    assert any(one.seen == "1 without node-2" for one in unlike([record(), less]))


def test_a_real_node_counts_as_it_was_when_ready() -> None:
    """Its kubelet says what it has to give only after it has registered."""
    early = builder(COUNTS)
    for line in early.lines["nodes"]:
        line["allocatable"] = {}
    for name in ("node-1", "node-2"):
        early.node_changes(name, 0.5, allocatable={"cpu": 4000, "memory": 16 * 2**30, "pods": 110})
    made = early.build()
    made = replace(made, meta=replace(made.meta, machine={"id": "here", "cores": 2}))
    assert keys(record(), made) == {}


def test_a_digest_knows_what_is_done_and_not_how_it_is_written() -> None:
    written = record().scenario.to_json()
    same = {**written, "path": "elsewhere.yaml", "source": "# comment", "summary": "x", "expect": []}
    assert scenario_digest(written) == scenario_digest(same)
    assert scenario_digest(written) != scenario_digest({**written, "size": "large"})
