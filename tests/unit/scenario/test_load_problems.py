from pathlib import Path

import pytest

from harness.errors import ScenarioError
from harness.scenario.load import load
from tests.unit.scenario.given import EXPECT, HEAD, STEPS, VALID, problems, write


def nodes(text: str) -> str:
    return f"{HEAD}nodes:\n- {text}\n{STEPS}{EXPECT}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{count: -3}", "nodes[0].count: -3 seen, at least 1 expected"),
        (
            "{name: Node_1}",
            (
                'nodes[0].name: "Node_1" does not make Kubernetes names; use lower case letters, digits, "-", "." '
                "and {index}, with a letter or digit at both ends"
            ),
        ),
        (
            "{names: [ok, Not_ok]}",
            (
                'nodes[0].names[1]: "Not_ok" is not a Kubernetes name; use lower case letters, digits, "-" and ".", '
                "with a letter or digit at both ends"
            ),
        ),
        ("{count: 3, name: solo}", 'nodes[0].name: 3 nodes would all be called "solo"; put {index} into the name'),
        ("{count: 3, names: [a]}", "nodes[0]: give either names, or count and name; both seen"),
        (
            "{cpu: 8GB}",
            (
                'nodes[0].cpu: "8GB" is not a quantity; write a number with an optional suffix, '
                "such as 2, 500m, 1.5, 8Gi or 64M"
            ),
        ),
        ("{memory: -8Gi}", 'nodes[0].memory: "-8Gi" seen, a quantity of at least 0 expected'),
        ("{cpu: true}", "nodes[0].cpu: true seen, a quantity such as 2, 500m or 8Gi expected"),
        (
            "{extended: {nvidia.com/gpu: 1.5}}",
            (
                'nodes[0].extended.nvidia.com/gpu: "1.5" seen, a whole number expected; '
                "extended resources are not divisible"
            ),
        ),
        (
            "{extended: {cpu: 4}}",
            'nodes[0].extended.cpu: "cpu" is no extended resource; the node group has a field for it',
        ),
        (
            "{taints: [{key: a, effect: NoSchedul}]}",
            (
                'nodes[0].taints[0].effect: "NoSchedul" seen; did you mean "NoSchedule"? '
                "expected one of: NoSchedule, PreferNoSchedule, NoExecute"
            ),
        ),
        (
            "{taints: [{key: a, efect: NoSchedule, effect: NoSchedule}]}",
            'nodes[0].taints[0].efect: unknown field; did you mean "effect"? a taint accepts: key, value, effect',
        ),
        (
            "{taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}]}",
            'nodes[0].taints: taint "a" with effect NoSchedule stands here twice',
        ),
        (
            "{labels: {-x: a}}",
            (
                'nodes[0].labels.-x: "-x" is not a label key; use at most 63 letters, digits, "-", "_" and ".", '
                "after an optional domain and /"
            ),
        ),
        (
            "{names: [a, a]}",
            'nodes[0]: node name "a" is already taken by nodes[0]; give each group its own name pattern',
        ),
        (
            "{lables: {a: b}}",
            (
                'nodes[0].lables: unknown field; did you mean "labels"? '
                "a node group accepts: count, name, names, cpu, memory, pods, labels, taints, extended"
            ),
        ),
    ],
)
def test_nodes(tmp_path: Path, text: str, problem: str) -> None:
    assert problems(tmp_path, nodes(text)) == [f"sample.yaml:4: {problem}"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["sample.yaml:1: the file is empty, a scenario expected"]),
        ("# only a comment\n", ["sample.yaml:1: the file is empty, a scenario expected"]),
        (
            "- a\n- b\n",
            ['sample.yaml:1: ["a", "b"] seen, a scenario with name, summary, steps and expect expected'],
        ),
        (VALID + "---\nname: b\n", ["sample.yaml:8: a second document seen, one scenario per file expected"]),
        (
            HEAD + "steps:\n- {op: settle\n",
            ["sample.yaml:5:1: broken YAML: while parsing a flow mapping, did not find expected ',' or '}'"],
        ),
        (
            VALID + "name: again\n",
            ["sample.yaml:7: name: duplicate key; the first one stands in line 1; remove one of them"],
        ),
        (
            "{}",
            [
                "sample.yaml:1: name: missing; a scenario needs it",
                "sample.yaml:1: summary: missing; a scenario needs it",
                "sample.yaml:1: steps: missing; a scenario needs it",
                "sample.yaml:1: expect: missing; a scenario needs it",
            ],
        ),
        (
            VALID.replace("sample\n", "Sample Name\n"),
            ['sample.yaml:1: name: "Sample Name" seen, lower case letters, digits and "-" expected'],
        ),
        (HEAD + "steps: []\n" + EXPECT, ["sample.yaml:3: steps: empty, at least one entry expected"]),
        (
            VALID + "variants: [defalt]\n",
            [
                (
                    'sample.yaml:7: variants[0]: unknown variant "defalt"; did you mean "default"? '
                    "known: default, extender, second-scheduler, framework-plugin, controller, rebuilt-scheduler"
                )
            ],
        ),
        (
            VALID + "step: []\n",
            [
                (
                    'sample.yaml:7: step: unknown field; did you mean "steps"? a scenario accepts: name, summary, '
                    "labels, variants, clusters, on, extenders, schedulerConfig, schedulerManifest, scheduler, "
                    "plugins, controller, timeoutSeconds, nodes, steps, expect, parameters, sizes"
                )
            ],
        ),
    ],
)
def test_whole_files(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert problems(tmp_path, text) == expected


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(tmp_path / "absent.yaml")
    assert str(caught.value) == f"{tmp_path}/absent.yaml: cannot be read: No such file or directory"


def test_folder_and_binary(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="cannot be read: Is a directory"):
        load(tmp_path)
    path = write(tmp_path, "")
    path.write_bytes(b"name: a\nsummary: \xff\n")
    with pytest.raises(ScenarioError, match=r"sample\.yaml:2: cannot be read: byte 0xff is not UTF-8"):
        load(path)


def test_all_problems_are_gathered_in_file_order(tmp_path: Path) -> None:
    text = """\
name: sample
sumary: A sample.
nodes:
- count: -1
  cpu: 8GB
steps:
- op: createPods
  count: 0
- op: sclae
expect:
- kind: count
  running: 1
  selector: "="
"""
    found = problems(tmp_path, text)
    assert [problem.split(": ")[:2] for problem in found] == [
        ["sample.yaml:1", "summary"],
        ["sample.yaml:2", "sumary"],
        ["sample.yaml:4", "nodes[0].count"],
        ["sample.yaml:5", "nodes[0].cpu"],
        ["sample.yaml:8", "steps[0].count"],
        ["sample.yaml:9", "steps[1].op"],
        ["sample.yaml:13", "expect[0].selector"],
    ]
