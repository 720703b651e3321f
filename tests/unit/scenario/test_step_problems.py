from pathlib import Path

import pytest

from tests.unit.scenario.given import EXPECT, HEAD, STEPS, problems, write

OPS = (
    "create, createPods, scale, delete, addNodes, removeNodes, updateNodes, drain, churn, settle, await, "
    "fault, clearFaults, stopExtender, startExtender"
)
KINDS = (
    "count, placement, onlyOn, neverOn, distribution, spread, pending, staysPending, timing, "
    "sameAs, calls, highestScore, attempts, findings, metric, trace, log, invariant"
)


def step(text: str) -> str:
    return f"{HEAD}steps:\n- {{op: settle}}\n- {text}\n{EXPECT}"


def expectation(text: str) -> str:
    return f"{HEAD}{STEPS}expect:\n- {text}\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "{op: creatPods, count: 1}",
            f'steps[1].op: unknown step "creatPods"; did you mean "createPods"? known: {OPS}',
        ),
        ("{op: explode}", f'steps[1].op: unknown step "explode"; known: {OPS}'),
        ("{op: [1]}", f"steps[1].op: unknown step [1]; known: {OPS}"),
        ("{count: 1}", f"steps[1].op: missing; it says which step this is; known: {OPS}"),
        ("wait", 'steps[1]: "wait" seen, a mapping expected'),
        (
            "{op: createPods, count: 1, cuont: 2}",
            (
                'steps[1].cuont: unknown field; did you mean "count"? '
                "createPods accepts: count, name, labels, annotations, requests, spec, namespace"
            ),
        ),
        (
            "{op: settle, timeout_seconds: 2}",
            'steps[1].timeout_seconds: unknown field; did you mean "timeoutSeconds"? settle accepts: timeoutSeconds',
        ),
        ("{op: createPods, count: -3}", "steps[1].count: -3 seen, at least 1 expected"),
        ("{op: createPods, count: 0}", "steps[1].count: 0 seen, at least 1 expected"),
        ("{op: createPods, count: 9000000}", "steps[1].count: 9000000 seen, at most 200000 expected"),
        ("{op: createPods, count: 1.5}", "steps[1].count: 1.5 seen, a whole number expected"),
        ("{op: createPods, count: true}", "steps[1].count: true seen, a whole number expected"),
        ('{op: createPods, count: "3"}', 'steps[1].count: "3" seen, a whole number expected'),
        ("{op: createPods}", "steps[1].count: missing; createPods needs it"),
        (
            "{op: createPods, count: 2, name: solo}",
            'steps[1].name: 2 pods would all be called "solo"; put {index} into the name',
        ),
        (
            "{op: createPods, count: 1, requests: {cpu: 1GB}}",
            (
                'steps[1].requests.cpu: "1GB" is not a quantity; write a number with an optional suffix, '
                "such as 2, 500m, 1.5, 8Gi or 64M"
            ),
        ),
        (
            "{op: createPods, count: 1, requests: {gpu: 1}}",
            'steps[1].requests.gpu: "gpu" is not a resource; an extended one has a domain, such as nvidia.com/gpu',
        ),
        (
            "{op: createPods, count: 1, labels: {app: 3}}",
            "steps[1].labels.app: 3 seen, text expected; put it in quotes",
        ),
        ("{op: create}", "steps[1]: give either file or objects, neither seen"),
        (
            "{op: create, file: ../x.yaml}",
            'steps[1].file: "../x.yaml" seen, a path beside or below the scenario file expected',
        ),
        (
            "{op: create, objects: [{kind: Pod, metadata: {}}]}",
            "steps[1].objects[0]: not a Kubernetes object: apiVersion and metadata.name missing or not text",
        ),
        ("{op: create, objects: []}", "steps[1].objects: empty, at least one entry expected"),
        (
            "{op: scale, kind: Deploymnt, name: a, replicas: 1}",
            (
                'steps[1].kind: "Deploymnt" seen; did you mean "Deployment"? '
                "expected one of: Deployment, ReplicaSet, StatefulSet"
            ),
        ),
        ("{op: scale, name: a, replicas: -1}", "steps[1].replicas: -1 seen, at least 0 expected"),
        ("{op: delete, kind: Pod}", "steps[1]: give either name or selector, neither seen"),
        ("{op: delete, kind: pod, name: a}", 'steps[1].kind: "pod" seen, a kind such as Pod or Deployment expected'),
        ("{op: addNodes, nodes: []}", "steps[1].nodes: empty, at least one entry expected"),
        (
            "{op: updateNodes, selector: a}",
            "steps[1]: no change given; needs one of labels, addTaints, removeTaints, cordon, capacity",
        ),
        ("{op: updateNodes, selector: a, cordon: yes}", 'steps[1].cordon: "yes" seen, true or false expected'),
        ("{op: drain}", "steps[1]: give either names or selector, neither seen"),
        ("{op: churn, count: 1, rounds: 0}", "steps[1].rounds: 0 seen, at least 1 expected"),
        ("{op: settle, timeoutSeconds: 0}", "steps[1].timeoutSeconds: 0 seen, more than 0 expected"),
    ],
)
def test_steps(tmp_path: Path, text: str, problem: str) -> None:
    assert problems(tmp_path, step(text)) == [f"sample.yaml:5: {problem}"]


def test_file_and_objects_at_once(tmp_path: Path) -> None:
    manifest = "{apiVersion: v1, kind: Pod, metadata: {name: a}}"
    write(tmp_path, manifest, "x.yaml")
    assert problems(tmp_path, step(f"{{op: create, file: x.yaml, objects: [{manifest}]}}")) == [
        "sample.yaml:5: steps[1]: give either file or objects, both seen"
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "{kind: cuont, running: 1}",
            f'expect[0].kind: unknown expectation "cuont"; did you mean "count"? known: {KINDS}',
        ),
        (
            "{kind: count}",
            "expect[0]: nothing is demanded; give at least one of running, pending, succeeded, failed, total, bound",
        ),
        (
            "{kind: count, runing: 3}",
            (
                'expect[0].runing: unknown field; did you mean "running"? '
                "count accepts: selector, namespace, running, pending, succeeded, failed, total, bound"
            ),
        ),
        ("{kind: count, running: -1}", "expect[0].running: -1 seen, at least 0 expected"),
        (
            "{kind: count, running: many}",
            'expect[0].running: "many" seen, a whole number or {min: …, max: …} expected',
        ),
        (
            "{kind: count, running: {mni: 1}}",
            'expect[0].running.mni: unknown field; did you mean "min"? a range accepts: min, max',
        ),
        ("{kind: count, running: {}}", "expect[0].running: a range needs min, max or both"),
        ("{kind: count, running: {min: 3, max: 2}}", "expect[0].running: min 3 is larger than max 2"),
        (
            "{kind: count, running: 1, selector: app in web}",
            (
                'expect[0].selector: "app in web" is not a label selector: "web" seen, "(" expected; '
                "write a=b, a!=b, a in (x,y), a notin (x,y), a or !a, joined by commas"
            ),
        ),
        ("{kind: placement, on: {}}", "expect[0].on: empty, at least one entry expected"),
        ("{kind: onlyOn, pods: a}", "expect[0]: give either nodes or nodeSelector, neither seen"),
        (
            "{kind: neverOn, pods: a, selector: b, nodes: [c]}",
            "expect[0]: give either selector or pods, both seen",
        ),
        ("{kind: distribution}", "expect[0]: nothing is demanded; give perNode, counts or both"),
        ("{kind: spread}", "expect[0].over: missing; spread needs it"),
        (
            '{kind: pending, message: "Insufficient ("}',
            (
                'expect[0].message: "Insufficient (" is not a regular expression: '
                "missing ), unterminated subpattern at position 13"
            ),
        ),
        ("{kind: staysPending, seconds: -1}", "expect[0].seconds: -1 seen, more than 0 expected"),
        (
            "{kind: timing, measure: createToBind, atMost: 2, relativeTo: default}",
            (
                'expect[0].measure: "createToBind" seen; did you mean "createToBound"? '
                "expected one of: createToScheduled, createToBound, createToRunning"
            ),
        ),
        (
            "{kind: timing, measure: createToBound, atMost: 2, relativeTo: defualt}",
            (
                'expect[0].relativeTo: unknown variant "defualt"; did you mean "default"? '
                "known: default, extender, second-scheduler, framework-plugin, controller, rebuilt-scheduler"
            ),
        ),
        (
            "{kind: timing, measure: createToBound, atMost: 2, relativeTo: default, percentile: 101}",
            "expect[0].percentile: 101 seen, at most 100 expected",
        ),
    ],
)
def test_expectations(tmp_path: Path, text: str, problem: str) -> None:
    assert problems(tmp_path, expectation(text)) == [f"sample.yaml:6: {problem}"]
