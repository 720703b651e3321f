import json
from pathlib import Path

import pytest

from harness.errors import ScenarioError
from harness.scenario.expectations import CountOf, Distribution
from harness.scenario.load import load
from harness.scenario.model import Scenario
from harness.scenario.steps import Create, CreatePods, Scale
from tests.unit.scenario.given import VALID, scenario, write

MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: pause}
spec: {replicas: $replicas}
---
---
apiVersion: v1
kind: ConfigMap
metadata: {generateName: "settings-${replicas}-"}
"""
SIZED = """\
name: sized
summary: Shows ${replicas} pods.
labels: [lab]
variants: [default, second-scheduler]
timeoutSeconds: 5
parameters: {nodes: 3, replicas: 20}
nodes:
- count: $nodes
  labels: {size: "${replicas}"}
steps:
- {op: create, file: manifests/pause.yaml}
- {op: scale, name: pause, replicas: $replicas}
expect:
- {kind: count, running: $replicas}
- {kind: distribution, counts: $counts, perNode: {max: $replicas}}
- {kind: staysPending, seconds: 2}
- {kind: staysPending, seconds: 1.5}
sizes:
- {name: lab, parameters: {counts: [7, 7, 6]}}
- {name: class, labels: [slow, lab], parameters: {nodes: 100, replicas: 2000, counts: null}}
"""


def test_minimal(tmp_path: Path) -> None:
    file = load(write(tmp_path, VALID))
    assert (file.path, file.name, file.sizes) == (tmp_path / "sample.yaml", "sample", ("default",))
    found = file.at()
    assert found is file.at("default")
    assert (found.name, found.size, found.summary) == ("sample", "default", "A sample.")
    assert (found.labels, found.variants, found.timeout_seconds, found.nodes) == ((), None, 60.0, ())
    assert found.steps == (CreatePods(count=1),)
    assert found.expect[0].kind == "count"
    assert (found.source, found.manifests, found.parameters, found.observe_seconds) == (VALID, {}, {}, 0.0)


def sized(folder: Path, size: str | None = None) -> Scenario:
    write(folder, MANIFEST, "manifests/pause.yaml")
    return scenario(folder, SIZED, size)


def test_first_size_is_the_default(tmp_path: Path) -> None:
    found = sized(tmp_path)
    assert found.size == "lab"
    assert found.parameters == {"nodes": 3, "replicas": 20, "counts": [7, 7, 6]}
    assert found.labels == ("lab",)
    assert found.variants == ("default", "second-scheduler")
    assert found.summary == "Shows 20 pods."
    assert len(found.nodes[0].expand()) == 3
    assert found.nodes[0].labels == {"size": "20"}
    assert found.steps[1] == Scale(name="pause", replicas=20)
    assert isinstance(found.expect[1], Distribution)
    assert found.expect[1].counts == (7, 7, 6)
    assert found.observe_seconds == 2.0


def test_another_size(tmp_path: Path) -> None:
    found = sized(tmp_path, "class")
    assert found.labels == ("lab", "slow")
    assert len(found.nodes[0].expand()) == 100
    assert isinstance(found.expect[0], CountOf)
    assert str(found.expect[0].running) == "exactly 2000"
    assert isinstance(found.expect[1], Distribution)
    assert found.expect[1].counts is None


def test_unknown_size(tmp_path: Path) -> None:
    write(tmp_path, MANIFEST, "manifests/pause.yaml")
    file = load(write(tmp_path, SIZED))
    with pytest.raises(ScenarioError) as caught:
        file.at("clas")
    assert str(caught.value) == (
        f'{tmp_path}/sample.yaml: scenario "sized" has no size "clas"; did you mean "class"? sizes: lab, class'
    )


def test_objects_of_a_manifest(tmp_path: Path) -> None:
    found = sized(tmp_path)
    step = found.steps[0]
    assert isinstance(step, Create)
    assert found.manifests == {"manifests/pause.yaml": MANIFEST}
    assert found.objects_of(step) == [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "pause"}, "spec": {"replicas": 20}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "settings-20-"}},
    ]


def test_objects_written_in_the_scenario(tmp_path: Path) -> None:
    inline = "{op: create, objects: [{apiVersion: v1, kind: Pod, metadata: {name: a}}]}"
    found = scenario(tmp_path, VALID.replace("{op: createPods, count: 1}", inline))
    step = found.steps[0]
    assert isinstance(step, Create)
    assert found.objects_of(step) == [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}]


@pytest.mark.parametrize("size", ["lab", "class"])
def test_round_trip_needs_no_files(tmp_path: Path, size: str) -> None:
    found = sized(tmp_path, size)
    (tmp_path / "manifests/pause.yaml").unlink()
    (tmp_path / "sample.yaml").unlink()
    again = Scenario.from_json(json.loads(json.dumps(found.to_json())))
    assert again == found
    step = again.steps[0]
    assert isinstance(step, Create)
    assert len(again.objects_of(step)) == 2


def test_json_speaks_like_the_file(tmp_path: Path) -> None:
    found = sized(tmp_path).to_json()
    assert found["timeoutSeconds"] == 5.0
    assert found["expect"][1]["perNode"] == {"min": None, "max": 20}
    assert found["path"] == f"{tmp_path}/sample.yaml"


def test_broken_json(tmp_path: Path) -> None:
    broken = sized(tmp_path).to_json()
    broken["steps"][1]["replicas"] = "many"
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_json(broken)
    assert str(caught.value) == 'saved scenario: steps[1].replicas: "many" seen, a whole number expected'


def test_is_frozen(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="frozen"):
        scenario(tmp_path, VALID).name = "other"


def test_on_is_a_key_and_not_true(tmp_path: Path) -> None:
    text = VALID.replace("{kind: count, running: 1}", "{kind: placement, on: {pod-1: node-1}}")
    assert scenario(tmp_path, text).to_json()["expect"][0]["on"] == {"pod-1": "node-1"}
