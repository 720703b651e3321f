"""What a user of the plugin sees of extenders: options, which scenarios are left out, and runs to compare with."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.extender.tap import program
from tests.plugin.conftest import CACHE, Collect, RunPytest, write

OWN = "extenders: [{subject: 'ref:lucky'}]\n"


@pytest.fixture
def tap(folder: Path) -> None:
    """The tap is built before it is needed: a pytest inside this one should not wait for that."""
    assert program().is_relative_to(CACHE)


def records(folder: Path) -> dict[str, Path]:
    """Return the records there are, by variant."""
    found = (folder / "reports" / "runs").iterdir()
    return {json.loads((path / "run.json").read_text())["variant"]: path for path in found}


def verdicts(record: Path) -> dict[str, dict[str, Any]]:
    return {verdict["kind"]: verdict for verdict in json.loads((record / "verdicts.json").read_text())}


def test_a_scenario_that_brings_extenders_is_a_test_of_their_variant(collect: Collect, folder: Path) -> None:
    write(folder, "own", more=OWN)
    write(folder, "plain")
    variants = ("--sched-variant", "default", "--sched-variant", "extender")
    assert collect(*variants) == ["own/default-extender", "plain/default-default", "plain/default-extender"]
    assert collect("-m", "extender", *variants) == ["own/default-extender", "plain/default-extender"]


def test_ones_own_extender_leaves_out_scenarios_that_bring_theirs(collect: Collect, folder: Path) -> None:
    write(folder, "own", more=OWN)
    write(folder, "plain")
    mine = ("--extender", "ref:name-length", "--sched-variant", "extender")
    assert collect(*mine) == ["plain/default-extender"]
    assert collect(*mine, "--sched-variant", "default") == ["plain/default-extender", "plain/default-default"]


def test_scenarios_that_break_an_extender_can_be_chosen(collect: Collect, folder: Path) -> None:
    write(folder, "broken", more="labels: [faults]\n")
    write(folder, "plain")
    assert collect("-m", "faults", "--sched-variant", "default") == ["broken/default-default"]


@pytest.mark.usefixtures("tap")
def test_ones_own_extender_is_what_runs(run_pytest: RunPytest, folder: Path) -> None:
    write(folder, "plain")
    options = ("--sched-variant", "extender", "--extender", "ref:name-length", "--sched-entry", "weight=4")
    run_pytest(*options).assert_outcomes(passed=1)
    (told,) = json.loads((records(folder)["extender"] / "extenders.json").read_text())
    assert (told["name"], told["entry"]["weight"]) == ("name-length", 4)


def test_an_extender_that_cannot_be_used_is_an_error(run_pytest: RunPytest, folder: Path) -> None:
    write(folder, "plain")
    result = run_pytest("--sched-variant", "extender", "--extender", "ref:nobody")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(['*ref:nobody: no reference "nobody"*'])
    # Whoever mistyped a name has no use for the lines of the harness.
    assert "Traceback" not in result.stdout.str()
    assert "def bring" not in result.stdout.str()
    assert "harness/" not in result.stdout.str().split("ERRORS")[1]


SAME = """\
name: same
summary: Four pods on two nodes, with and without an extender.
nodes: [{count: 2}]
steps: [{op: createPods, count: 4}]
expect: [{kind: sameAs, relativeTo: default}]
"""


@pytest.mark.usefixtures("tap")
def test_what_is_compared_with_another_variant_is_run_there_too(run_pytest: RunPytest, folder: Path) -> None:
    (folder / "same.yaml").write_text(SAME)
    run_pytest("--sched-variant", "extender", "--sched-seed", "5").assert_outcomes(passed=1)
    found = records(folder)
    assert found.keys() == {"default", "extender"}
    assert verdicts(found["extender"])["sameAs"]["status"] == "held"
    seeds = {json.loads((path / "run.json").read_text())["seed"] for path in found.values()}
    assert seeds == {5}, "luck is compared with the same luck"


MOVED = """
import pytest
from harness.testing.cluster import FakeScheduler

@pytest.fixture(autouse=True)
def otherwise(monkeypatch):
    schedule = FakeScheduler._schedule

    def elsewhere(self, pod):
        if self._config.get("extenders") and pod["metadata"]["name"] == "pod-1":
            self._kube.patch(
                "/api/v1/namespaces/default/pods/pod-1",
                {"spec": {"nodeName": "node-2"}, "status": {"phase": "Running", "conditions": []}},
            )
        else:
            schedule(self, pod)

    monkeypatch.setattr(FakeScheduler, "_schedule", elsewhere)

def test_scenario(scenario_run):
    scenario_run.assert_held()
"""


@pytest.mark.usefixtures("tap")
def test_a_pod_that_is_elsewhere_with_the_other_variant_is_failed(run_pytest: RunPytest, folder: Path) -> None:
    (folder / "same.yaml").write_text(SAME)
    (folder / "test_it.py").write_text(MOVED)
    result = run_pytest("--sched-variant", "extender")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*pod-1*node-2*node-1*"])


def test_a_variant_is_not_compared_with_a_second_run_of_itself(run_pytest: RunPytest, folder: Path) -> None:
    (folder / "same.yaml").write_text(SAME)
    run_pytest("--sched-variant", "default")
    assert records(folder).keys() == {"default"}
    assert len(list((folder / "reports" / "runs").iterdir())) == 1
