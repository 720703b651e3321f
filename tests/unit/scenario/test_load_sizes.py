from pathlib import Path

from tests.unit.scenario.given import EXPECT, HEAD, STEPS, VALID, problems, write

PODS = """\
name: sample
summary: A sample.
parameters:
  pods: 1
steps:
- op: createPods
  count: $pods
expect:
- {kind: count, running: 1}
sizes:
- name: small
- name: big
  parameters:
    pods: -5
"""


def test_problem_of_one_size_names_it(tmp_path: Path) -> None:
    assert problems(tmp_path, PODS) == ['sample.yaml:7: steps[0].count: -5 seen, at least 1 expected (size "big")']


def test_problem_of_some_sizes_names_them(tmp_path: Path) -> None:
    text = PODS + "- {name: huge, parameters: {pods: -5}}\n"
    assert problems(tmp_path, text) == [
        'sample.yaml:7: steps[0].count: -5 seen, at least 1 expected (sizes "big", "huge")'
    ]


def test_problem_of_every_size_is_said_once(tmp_path: Path) -> None:
    assert problems(tmp_path, PODS.replace("pods: 1", "pods: -5")) == [
        "sample.yaml:7: steps[0].count: -5 seen, at least 1 expected"
    ]


def test_undefined_parameter(tmp_path: Path) -> None:
    assert problems(
        tmp_path, PODS.replace("-5", "5").replace("$pods", "$pds").replace("running: 1", "running: $pods")
    ) == [
        (
            'sample.yaml:7: steps[0].count: undefined parameter "$pds"; did you mean "pods"? defined: pods; '
            "write $$pds for a dollar sign"
        )
    ]


def test_parameter_that_only_one_size_defines(tmp_path: Path) -> None:
    text = PODS.replace("parameters:\n  pods: 1\n", "").replace("-5", "5")
    assert problems(tmp_path, text) == [
        (
            'sample.yaml:5: steps[0].count: undefined parameter "$pods"; defined: none; write $$pods for a dollar sign '
            '(size "small")'
        )
    ]


def test_unused_parameter(tmp_path: Path) -> None:
    assert problems(tmp_path, VALID + "parameters:\n  replicas: 3\n") == [
        "sample.yaml:8: parameters.replicas: unused parameter; used: none"
    ]


def test_unused_parameter_of_a_size(tmp_path: Path) -> None:
    text = PODS.replace("    pods: -5", "    pod: 5")
    assert problems(tmp_path, text) == [
        'sample.yaml:14: sizes[1].parameters.pod: unused parameter; did you mean "pods"? used: pods'
    ]


def test_braces_make_text(tmp_path: Path) -> None:
    hint = "a whole number expected; write $pods without braces to keep its type"
    assert problems(tmp_path, PODS.replace("$pods", "${pods}").replace("-5", "5")) == [
        f'sample.yaml:7: steps[0].count: "{value}" seen, {hint} (size "{size}")'
        for value, size in ((1, "small"), (5, "big"))
    ]


def test_parameters_do_not_refer_to_each_other(tmp_path: Path) -> None:
    text = PODS.replace("pods: 1", "pods: $other").replace("pods: -5", "pods: [2, $pods]")
    assert [problem for problem in problems(tmp_path, text) if "refers" in problem] == [
        'sample.yaml:4: parameters.pods: "$other" refers to a parameter; a parameter\'s value has to be written out',
        (
            'sample.yaml:14: sizes[1].parameters.pods: "$pods" refers to a parameter; '
            "a parameter's value has to be written out"
        ),
    ]


def test_sizes_have_distinct_names(tmp_path: Path) -> None:
    assert problems(tmp_path, VALID + "sizes:\n- {name: a}\n- {name: a}\n") == [
        'sample.yaml:7: sizes: size "a" stands here twice; give each size its own name'
    ]


def test_broken_sizes_are_not_drowned_by_what_follows_from_them(tmp_path: Path) -> None:
    assert problems(tmp_path, PODS.replace("- name: big", "- nam: big").replace("parameters:\n  pods: 1\n", "")) == [
        "sample.yaml:10: sizes[1].name: missing; a size needs it",
        (
            'sample.yaml:10: sizes[1].nam: unknown field; did you mean "name"? '
            "a size accepts: name, labels, clusters, parameters"
        ),
    ]


def test_sizes_that_are_no_list(tmp_path: Path) -> None:
    assert problems(tmp_path, VALID + "sizes: 3\nparameters: 4\n") == [
        "sample.yaml:7: sizes: 3 seen, a list expected",
        "sample.yaml:8: parameters: 4 seen, a mapping expected",
    ]


def test_value_of_a_parameter_is_placed_where_it_is_used(tmp_path: Path) -> None:
    text = f"""{HEAD}{STEPS}expect:
- kind: distribution
  counts: $counts
parameters: {{counts: [1, -2]}}
"""
    assert problems(tmp_path, text) == ["sample.yaml:7: expect[0].counts[1]: -2 seen, at least 0 expected"]


def manifest_scenario(file: str) -> str:
    return f"{HEAD}steps:\n- op: create\n  file: {file}\n{EXPECT}"


def test_missing_manifest(tmp_path: Path) -> None:
    write(tmp_path, "", "manifests/pause.yaml")
    assert problems(tmp_path, manifest_scenario("manifest/pause.yaml")) == [
        (
            'sample.yaml:5: steps[0].file: manifest "manifest/pause.yaml" cannot be read: No such file or directory; '
            f'did you mean "manifests/pause.yaml"? looked in {tmp_path}'
        )
    ]


def test_problems_in_a_manifest_have_its_lines(tmp_path: Path) -> None:
    manifest = """\
apiVersion: v1
kind: Pod
metadata:
  name: a
spec:
  priority: $priority
---
kind: Pod
---
- a list
---
kind: PodList
items: []
---
kind: Pod
kind: Job
apiVersion: v1
metadata: {name: a}
"""
    write(tmp_path, manifest, "pause.yaml")
    assert problems(tmp_path, manifest_scenario("pause.yaml")) == [
        (
            'pause.yaml:6: spec.priority: undefined parameter "$priority"; defined: none; '
            "write $$priority for a dollar sign"
        ),
        "pause.yaml:8: not a Kubernetes object: apiVersion and metadata.name missing or not text",
        'pause.yaml:10: ["a list"] seen, a Kubernetes object expected',
        'pause.yaml:12: "PodList" is not accepted; write its items as objects of their own',
        "pause.yaml:16: kind: duplicate key; the first one stands in line 15; remove one of them",
    ]


def test_empty_and_broken_manifests(tmp_path: Path) -> None:
    write(tmp_path, "---\n---\n", "pause.yaml")
    assert problems(tmp_path, manifest_scenario("pause.yaml")) == [
        "pause.yaml:1: no Kubernetes object seen, at least one expected"
    ]
    write(tmp_path, "a: b: c\n", "pause.yaml")
    assert problems(tmp_path, manifest_scenario("pause.yaml")) == [
        "pause.yaml:1:5: broken YAML: mapping values are not allowed in this context"
    ]
    (tmp_path / "pause.yaml").write_bytes(b"\xff")
    [problem] = problems(tmp_path, manifest_scenario("pause.yaml"))
    assert problem.startswith('sample.yaml:5: steps[0].file: manifest "pause.yaml" cannot be read: ')


def test_parameter_used_in_a_manifest_only(tmp_path: Path) -> None:
    write(tmp_path, "apiVersion: v1\nkind: Pod\nmetadata: {name: $pod}\n", "pause.yaml")
    assert problems(tmp_path, manifest_scenario("pause.yaml") + "parameters: {pod: a, pud: b}\n") == [
        'sample.yaml:8: parameters.pud: unused parameter; did you mean "pod"? used: pod'
    ]
