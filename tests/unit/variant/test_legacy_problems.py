"""What is refused, with its place; and what is only warned of."""

import pytest

from harness.errors import InputError
from harness.variant.legacy import translate
from harness.variant.legacy.checks import is_extended_resource

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
ALPHA = HEAD.replace("/v1\n", "/v1alpha1\n")
EXTENDER = HEAD + "extenders:\n- urlPrefix: http://x\n  filterVerb: filter\n"


def problems(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        translate(text, "s.yaml", lambda name: None)
    return str(caught.value).splitlines()


def warnings(text: str) -> tuple[str, ...]:
    return translate(text, "s.yaml", lambda name: None).warnings


# Each of these kube-scheduler itself refuses to start with: tests/e2e/test_translate.py.
FATAL = {
    "case": (EXTENDER + "  enableHttps: false\n", "6: extenders[0].enableHttps: unknown key, which kube-scheduler"),
    "unknown": (
        HEAD + "profile: []\n",
        "s.yaml:3: profile: unknown key, which kube-scheduler refuses to start with; did",
    ),
    "timeout": (
        EXTENDER + "  httpTimeout: 5\n",
        '6: extenders[0].httpTimeout: 5 seen, a duration in quotes such as "5s"',
    ),
    "duration": (EXTENDER + "  httpTimeout: 5 s\n", "6: extenders[0].httpTimeout: '5 s' seen, a duration such as"),
    "weight": (EXTENDER + "  prioritizeVerb: p\n  weight: 0\n", "7: extenders[0].weight: 0 seen, a positive weight"),
    "no weight": (EXTENDER + "  prioritizeVerb: p\n", "4: extenders[0]: null seen, a positive weight beside"),
    "binders": (
        EXTENDER + "  bindVerb: b\n- {urlPrefix: http://y, bindVerb: b}\n",
        "7: extenders[1].bindVerb: a second extender that binds, only one is allowed; the first stands in line 6",
    ),
    "resource": (
        EXTENDER + "  managedResources: [{name: cpu}]\n",
        '6: extenders[0].managedResources[0].name: "cpu" seen, an extended resource such as example.com/gpu expected',
    ),
    "twice": (
        EXTENDER + "  managedResources: [{name: a.b/c}, {name: a.b/c}]\n",
        '6: extenders[0].managedResources[1].name: "a.b/c" is managed twice',
    ),
    "ignored": (
        EXTENDER
        + "  managedResources: [{name: a.b/c, ignoredByScheduler: true}]\n"
        + "profiles: [{plugins: {multiPoint: {disabled: [{name: NodeResourcesFit}]}}}]\n",
        "6: extenders[0].managedResources[0].ignoredByScheduler: NodeResourcesFit has to ignore",
    ),
    "type": (EXTENDER + "  ignorable: 'yes'\n", '6: extenders[0].ignorable: "yes" seen, true or false expected'),
    "number": (EXTENDER + "  weight: true\n", "6: extenders[0].weight: true seen, an integer expected"),
    "argument": (
        HEAD + "profiles:\n- pluginConfig:\n  - {name: NodeResourcesFit, args: {strategy: {}}}\n",
        "5: profiles[0].pluginConfig[0].args.strategy: unknown key",
    ),
    "plugin": (
        HEAD + "profiles:\n- plugins: {filter: {enabled: [{name: EBSLimits}]}}\n",
        '4: profiles[0].plugins.filter.enabled[0]: plugin "EBSLimits" does not exist in v1',
    ),
    "gone": (
        HEAD + "profiles:\n- plugins: {score: {enabled: [{name: SelectorSpread}]}}\n",
        '4: profiles[0].plugins.score.enabled[0]: plugin "SelectorSpread" does not exist in v1',
    ),
    "names": (
        HEAD + "profiles: [{schedulerName: a}, {schedulerName: a}]\n",
        '3: profiles[1].schedulerName: "a" is the name of an earlier profile too',
    ),
    "no name": (HEAD + "profiles: [{schedulerName: a}, {}]\n", "3: profiles[1]: schedulerName is missing"),
    "lock": (
        HEAD + "leaderElection: {leaderElect: true, resourceLock: endpoints}\n",
        '3: leaderElection.resourceLock: "endpoints" seen, "leases" expected',
    ),
    "percentage": (
        HEAD + "percentageOfNodesToScore: 101\n",
        "3: percentageOfNodesToScore: 101 seen, 0 to 100 expected",
    ),
    "back-off": (HEAD + "podInitialBackoffSeconds: 11\n", "3: podInitialBackoffSeconds: 11 seen, 1 to 10 expected"),
    "tls": (
        EXTENDER + "  tlsConfig: {insecure: true, caData: eA==}\n",
        "6: extenders[0].tlsConfig: insecure and a CA exclude each other",
    ),
}
# kube-scheduler starts with these, and no call can succeed.
USELESS = {
    "slash": (EXTENDER.replace("filterVerb: f", "filterVerb: /f"), '5: extenders[0].filterVerb: "/filter" seen, which'),
    "query": (EXTENDER + "  bindVerb: b?x=1\n", '6: extenders[0].bindVerb: "b?x=1" seen, a path without spaces'),
    "scheme": (EXTENDER.replace("http://", ""), '4: extenders[0].urlPrefix: "x" seen, a URL such as'),
    "endless": (
        EXTENDER + "  httpTimeout: -1s\n",
        '6: extenders[0].httpTimeout: "-1s" seen: kube-scheduler then waits',
    ),
}


@pytest.mark.parametrize(("text", "told"), [*FATAL.values(), *USELESS.values()], ids=[*FATAL, *USELESS])
def test_v1_is_checked(text: str, told: str) -> None:
    (problem,) = problems(text)
    assert problem.startswith("s.yaml:")
    assert told in problem


def test_all_problems_are_told_at_once_in_the_order_of_the_file() -> None:
    found = problems(EXTENDER + "  enableHttps: false\n  httpTimeout: 5\nprofile: []\n")
    assert [problem.split(":")[1] for problem in found] == ["6", "7", "8"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "s.yaml: nothing seen, a KubeSchedulerConfiguration or a Policy expected"),
        ("kind: Deployment\n", "s.yaml: Deployment seen, a KubeSchedulerConfiguration or a Policy expected"),
        ("a: [1\n", "s.yaml:2:1: broken YAML"),
        ('{"kind": "Policy", "extenders": [\n', "s.yaml:1:34: broken JSON: expecting value"),
        ('{"kind": "Policy",\n\t"extenders": [}', "s.yaml:2:16: broken JSON: expecting value"),
        ("{a: [1\n", "s.yaml:2:1: broken YAML"),
        ("kind: Policy\nkind: Policy\n", "s.yaml:2: kind: duplicate key"),
        (HEAD.replace("/v1", "/v2"), 's.yaml:1: apiVersion: "kubescheduler.config.k8s.io/v2" seen; did you mean'),
        (HEAD.replace("kind: Kube", "kind: Cube"), 's.yaml:2: kind: "CubeSchedulerConfiguration" seen'),
        (f"{HEAD}---\n{HEAD}", "s.yaml: 2 configurations seen, at lines 1, 4; one expected; split the file"),
        ("kind: Policy\npredicate: []\n", "s.yaml:2: predicate: unknown key"),
        ("kind: Policy\npredicates: [{name: HostNam}]\n", 'predicate "HostNam" is not known; did you mean "HostName"?'),
        (
            "kind: Policy\npriorities:\n- {name: Mine, weight: 1}\n",
            's.yaml:3: priorities[0].name: priority "Mine" is not',
        ),
        ("kind: Policy\npriorities:\n- {name: ImageLocalityPriority}\n", "s.yaml:3: priorities[0].weight: null seen"),
        ("kind: Policy\nhardPodAffinitySymmetricWeight: 101\n", "s.yaml:2: hardPodAffinitySymmetricWeight: 101 seen"),
        ("kind: Policy\nextenders: [{urlPrefix: 'http://x', URLPREFIX: 'http://y'}]\n", '"urlPrefix" is given twice'),
        (
            "kind: Policy\nextenders: [{urlPrefix: 'http://x', filterVerb: f, httpTimeout: 1.5}]\n",
            "1.5 seen, a duration",
        ),
        (
            "kind: Policy\nextenders: [{urlPrefix: 'http://x', prioritizeVerb: p}]\n",
            "s.yaml:2: extenders[0]: null seen",
        ),
        ("kind: Policy\nextenders: 5\n", "s.yaml:2: extenders: 5 seen, a list expected"),
        (ALPHA + "algorithmsource: {}\n", "s.yaml:3: algorithmsource: unknown key"),
        (
            ALPHA + "algorithmSource: {policy: {file: {path: /p}}}\n",
            's.yaml:3: algorithmSource.policy: the Policy file "/p"',
        ),
        (
            ALPHA + "algorithmSource: {policy: {}}\n",
            "s.yaml:3: algorithmSource.policy: {} seen, file.path or configMap",
        ),
        (
            ALPHA + "leaderElection: {lockObjectName: a, resourceName: b}\n",
            's.yaml:3: leaderElection.lockObjectName: "a" and resourceName "b" differ; leave one out',
        ),
        (ALPHA.replace("alpha1", "beta1") + "disablePreemption: true\n", "s.yaml:3: disablePreemption: unknown key"),
        (ALPHA.replace("alpha1", "beta1") + "profiles: [{name: x}]\n", "s.yaml:3: profiles[0].name: unknown key"),
        (ALPHA.replace("alpha1", "beta1") + "profiles: [{plugins: {filters: {}}}]\n", "plugins.filters: unknown key"),
    ],
)
def test_bad_input_has_its_place(text: str, told: str) -> None:
    assert told in problems(text)[0]


def test_lines_inside_of_a_config_map_are_those_of_the_file() -> None:
    inside = "".join(f"    {line}\n" for line in FATAL["case"][0].splitlines())
    text = f"kind: ConfigMap\ndata:\n  other: x\n  config.yaml: |\n{inside}"
    assert problems(text)[0].startswith("s.yaml:10: extenders[0].enableHttps")
    broken = problems("kind: ConfigMap\ndata: {a: 'kind: Policy: ['}")[0]
    assert broken.startswith("s.yaml:2: data.a: the text inside cannot be read, at its line 1")


def test_other_texts_of_a_config_map_are_not_looked_into() -> None:
    (problem,) = problems("kind: ConfigMap\ndata: {run.sh: 'Policy: [ KubeSchedulerConfiguration'}")
    assert problem == "s.yaml: ConfigMap seen, a KubeSchedulerConfiguration or a Policy expected"


def test_a_broken_policy_is_told_with_its_own_file() -> None:
    text = ALPHA + "algorithmSource: {policy: {file: {path: p.json}}}\n"
    with pytest.raises(InputError, match=r"^p.json:2: extenders\[0\].urlprefixx: unknown key"):
        translate(text, "s.yaml", lambda name: 'kind: Policy\nextenders: [{urlprefixx: "http://x"}]')
    with pytest.raises(
        InputError, match=r"s.yaml:3: algorithmSource.policy: p.json: 0 Policies seen, one expected; Pod"
    ):
        translate(text, "s.yaml", lambda name: "kind: Pod")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (EXTENDER + "  httpTimeout: 1m\n", 's.yaml:6: extenders[0].httpTimeout: "1m": while the extender hangs'),
        (EXTENDER + "  httpTimeout: 5ns\n", "hardly any extender answers that fast"),
        (EXTENDER + "  enableHTTPS: true\n", "s.yaml:6: extenders[0].enableHTTPS: urlPrefix says http"),
        (EXTENDER.replace("http:", "https:") + "  enableHTTPS: true\n", "certificate is not verified"),
        (EXTENDER.replace("filterVerb: filter", "ignorable: true"), "s.yaml:4: extenders[0]: has no verb"),
        (EXTENDER + "  bindVerb: b\n  ignorable: true\n", "s.yaml:6: extenders[0].bindVerb: when it fails"),
        (f"{EXTENDER}---\nkind: Policy\n", "s.yaml:7: the Policy is left out"),
    ],
)
def test_warnings(text: str, told: str) -> None:
    (warning,) = warnings(text)
    assert told in warning


def test_seconds_that_were_meant_are_guessed_by_nobody() -> None:
    """httpTimeout: 30 meant 30 nanoseconds; it stays so, and is warned of."""
    translation = translate(
        "kind: Policy\nextenders: [{urlPrefix: http://x, filterVerb: f, httpTimeout: 30}]", "s.yaml", lambda name: None
    )
    assert translation.config["extenders"][0]["httpTimeout"] == "30ns"
    assert "every call times out" in translation.warnings[0]


def test_a_line_break_in_a_value_breaks_no_comment() -> None:
    name = "a\\nb: c"
    text = ALPHA + f'algorithmSource: {{provider: "{name}"}}\nschedulerName: "{name}"\n'
    translation = translate(text, "s.yaml", lambda name: None)
    assert translate(translation.text, "t.yaml", lambda name: None).config == translation.config
    assert len(translation.text.splitlines()) == translation.text.count("\n")
    assert 'schedulerName: "a\\nb: c"' in translation.text


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("example.com/gpu", True),
        ("nvidia.com/gpu", True),
        ("cpu", False),
        ("gpu", False),
        ("kubernetes.io/gpu", False),
        ("x.kubernetes.io/gpu", False),
        ("requests.example.com/gpu", False),
        ("example.com/", False),
        ("/gpu", False),
        ("Example.com/gpu", False),
        ("a/b/c", False),
        ("example.com/" + "g" * 64, False),
        ("", False),
    ],
)
def test_extended_resources(name: str, is_one: bool) -> None:
    assert is_extended_resource(name) is is_one
