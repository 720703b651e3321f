"""Which providers a scenario is for, and what differs on some of them."""

from pathlib import Path

import pytest

from harness.scenario.expectations import CountOf, Pending
from harness.scenario.model import Scenario
from harness.scenario.steps import CreatePods
from tests.unit.scenario.given import EXPECT, HEAD, STEPS, VALID, problems, scenario, write

MESSAGE = """\
name: sample
summary: A sample.
parameters: {pods: 2, message: "^0/3 nodes"}
nodes: [{count: 3}]
steps:
- {op: createPods, count: $pods}
expect:
- {kind: pending, message: $message}
on:
  kind:
    because: the control plane is one more node
    parameters:
      message: "^0/4 nodes"
"""
SIZES = """\
sizes:
- {name: small}
- {name: large, parameters: {pods: 9, message: "^0/3 "}}
"""


def demanded(made: Scenario) -> str | None:
    (expectation,) = made.expect
    assert isinstance(expectation, Pending)
    return expectation.message


def asked(made: Scenario) -> int:
    (step,) = made.steps
    assert isinstance(step, CreatePods)
    return step.count


def test_a_scenario_is_for_every_provider_unless_told(tmp_path: Path) -> None:
    anywhere = scenario(tmp_path, VALID)
    assert (anywhere.clusters, dict(anywhere.on)) == (None, {})
    assert anywhere.runs_on("kind")
    assert anywhere.runs_on("a-stranger")
    only = scenario(tmp_path, VALID + "clusters: [embedded, existing]\n")
    assert [name for name in ("embedded", "kind", "existing", "other") if only.runs_on(name)] == [
        "embedded",
        "existing",
    ]


def test_what_differs_counts_on_that_provider_only(tmp_path: Path) -> None:
    made = scenario(tmp_path, MESSAGE)
    assert demanded(made) == demanded(made.on_cluster("embedded")) == "^0/3 nodes"
    there = made.on_cluster("kind")
    assert (demanded(there), there.parameters["message"]) == ("^0/4 nodes", "^0/4 nodes")
    assert (asked(there), there.node_count) == (2, 3), "what does not differ is the same"
    assert there.on["kind"].because == made.on["kind"].because == "the control plane is one more node"
    assert there.on_cluster("kind") is there


def test_what_differs_stands_above_sizes(tmp_path: Path) -> None:
    for size, pods in (("small", 2), ("large", 9)):
        there = scenario(tmp_path, MESSAGE + SIZES, size).on_cluster("kind")
        assert (demanded(there), asked(there), there.size) == ("^0/4 nodes", pods, size)
    assert demanded(scenario(tmp_path, MESSAGE + SIZES, "large")) == "^0/3 "


def test_a_size_may_be_for_fewer_providers(tmp_path: Path) -> None:
    text = VALID + "clusters: [embedded, kind]\nsizes: [{name: small}, {name: huge, clusters: [embedded]}]\n"
    for size, there in (("small", ["embedded", "kind"]), ("huge", ["embedded"])):
        made = scenario(tmp_path, text, size)
        assert [name for name in ("embedded", "kind", "existing") if made.runs_on(name)] == there


def test_a_reason_alone_changes_nothing(tmp_path: Path) -> None:
    made = scenario(tmp_path, VALID + "on: {kind: {because: pods take a second to start}}\n")
    assert made.on_cluster("kind") is made
    assert made.on["kind"].because == "pods take a second to start"


def test_manifests_differ_too(tmp_path: Path) -> None:
    write(tmp_path, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: $name}\n", "manifests/map.yaml")
    text = f"""{HEAD}parameters: {{name: here}}
steps: [{{op: create, file: manifests/map.yaml}}]
{EXPECT}on: {{kind: {{because: why not, parameters: {{name: there}}}}}}
"""
    made = scenario(tmp_path, text)
    named = [
        one.objects_of(one.steps[0])[0]["metadata"]["name"]  # type: ignore[arg-type]
        for one in (made, made.on_cluster("kind"))
    ]
    assert named == ["here", "there"]


def test_a_saved_scenario_keeps_what_was_declared(tmp_path: Path) -> None:
    there = scenario(tmp_path, MESSAGE + "clusters: [embedded, kind]\n").on_cluster("kind")
    again = Scenario.from_json(there.to_json())
    assert again == there
    assert (again.clusters, again.on["kind"].parameters) == (("embedded", "kind"), {"message": "^0/4 nodes"})
    assert "elsewhere" not in there.to_json()


def test_a_copy_that_was_changed_is_never_given_up_for_what_differs(tmp_path: Path) -> None:
    made = scenario(tmp_path, MESSAGE)
    changed = made.model_copy(update={"timeout_seconds": 1.0})
    assert changed.on_cluster("kind").timeout_seconds == 1.0
    assert demanded(made.model_copy().on_cluster("kind")) == "^0/4 nodes"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (
            "clusters: [knd]\n",
            'sample.yaml:7: clusters[0]: unknown cluster "knd"; did you mean "kind"? known: embedded, kind, existing',
        ),
        ("clusters: []\n", "sample.yaml:7: clusters: empty, at least one entry expected"),
        (
            "on:\n  knd: {because: x}\n",
            'sample.yaml:8: on.knd: unknown cluster "knd"; did you mean "kind"? known: embedded, kind, existing',
        ),
        ("on:\n  kind: {}\n", "sample.yaml:8: on.kind.because: missing; a difference needs it"),
        (
            "on:\n  kind: {because: x, parameter: {}}\n",
            (
                'sample.yaml:8: on.kind.parameter: unknown field; did you mean "parameters"? '
                "a difference accepts: because, parameters"
            ),
        ),
        (
            "clusters: [embedded]\non:\n  kind: {because: x}\n",
            "sample.yaml:9: on.kind: the scenario is not for it; clusters: embedded",
        ),
        (
            "on:\n  kind:\n    because: x\n    parameters:\n      pods: 1\n",
            "sample.yaml:11: on.kind.parameters.pods: unused parameter; used: none",
        ),
        ("on: [kind]\n", 'sample.yaml:7: on: ["kind"] seen, a mapping expected'),
    ],
)
def test_problems_are_told_with_their_line(tmp_path: Path, more: str, expected: str) -> None:
    assert problems(tmp_path, VALID + more) == [expected]


def test_a_value_that_only_one_provider_has_is_checked_too(tmp_path: Path) -> None:
    text = MESSAGE.replace('message: "^0/4 nodes"', "pods: -1")
    assert problems(tmp_path, text) == ["sample.yaml:6: steps[0].count: -1 seen, at least 1 expected (on kind)"]
    both = text.replace("{pods: 2, ", "{pods: -1, ")
    assert problems(tmp_path, both) == ["sample.yaml:6: steps[0].count: -1 seen, at least 1 expected"]
    one_size = text + "sizes: [{name: small}, {name: large, parameters: {pods: 3}}]\n"
    assert problems(tmp_path, one_size) == ["sample.yaml:6: steps[0].count: -1 seen, at least 1 expected (on kind)"]


def test_a_parameter_that_only_one_provider_defines_is_missing_on_the_others(tmp_path: Path) -> None:
    text = MESSAGE.replace(', message: "^0/3 nodes"', "")
    (problem,) = problems(tmp_path, text)
    assert problem.startswith('sample.yaml:8: expect[0].message: undefined parameter "$message"; defined: pods')


def test_counts_may_differ(tmp_path: Path) -> None:
    text = f"{HEAD}parameters: {{n: 3}}\n{STEPS}expect: [{{kind: count, running: $n}}]\n"
    made = scenario(tmp_path, f"{text}on: {{existing: {{because: fewer, parameters: {{n: 2}}}}}}\n")
    (there,) = made.on_cluster("existing").expect
    assert isinstance(there, CountOf)
    assert str(there.running) == "exactly 2"
