"""What old configurations become."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.extender.entry import Entry
from harness.variant.legacy import Source, Translation, translate

FIXTURES = Path(__file__).parent / "legacy"
NAMES = sorted(path.name for path in FIXTURES.iterdir())
V1 = "kubescheduler.config.k8s.io/v1"


def beside(name: str) -> Source | None:
    """Find a Policy as the command does: by the last part of its path."""
    path = FIXTURES / Path(name).name
    return Source(path.read_text(), path.name) if path.is_file() else None


def translated(name: str) -> Translation:
    return translate((FIXTURES / name).read_text(), name, beside)


def of(text: str) -> Translation:
    return translate(text, "s.yaml", lambda name: None)


def kinds(translation: Translation, path: str) -> list[str]:
    return [change.kind for change in translation.changes if change.path == path]


def test_the_first_lab() -> None:
    translation = translated("lucky-config.yaml")
    assert translation.config == {
        "apiVersion": V1,
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": "/etc/kubernetes/scheduler.conf"},
        "extenders": [
            {
                "urlPrefix": "http://localhost:8888/",
                "filterVerb": "filter",
                "prioritizeVerb": "prioritize",
                "weight": 1,
                "enableHTTPS": False,
            }
        ],
    }
    assert kinds(translation, "extenders[0].enableHttps") == ["renamed"]
    assert [change.file for change in translation.changes].count("lucky-policy.json") == 2
    assert "lucky-policy.json line 9: extenders[0].enableHttps" in translation.text
    assert Entry.from_json(translation.config["extenders"][0]).url("filter") == "http://localhost:8888/filter"


def test_the_second_lab_has_its_policy_in_the_same_file() -> None:
    translation = translated("want-you.yaml")
    (extender,) = translation.config["extenders"]
    assert extender["nodeCacheCapable"] is True
    assert "profiles" not in translation.config
    assert translation.warnings == ()


def test_the_third_lab_has_its_configuration_in_a_config_map() -> None:
    translation = translated("index-bind.yaml")
    assert translation.changes == ()
    assert translation.config["profiles"] == [{"schedulerName": "my-scheduler-with-extender"}]
    assert translation.warnings == ("index-bind.yaml:1: other documents are left out: ServiceAccount, Deployment",)


def test_a_v1_text_stays_as_it_is() -> None:
    translation = translated("v1.yaml")
    assert translation.text == (FIXTURES / "v1.yaml").read_text()
    assert translation.changes == ()
    assert of(json.dumps({"apiVersion": V1, "kind": "KubeSchedulerConfiguration"})).text.splitlines()[1:] == [
        f"apiVersion: {V1}",
        "kind: KubeSchedulerConfiguration",
    ]


def test_predicates_and_priorities_become_plugins() -> None:
    translation = translated("everything-policy.yaml")
    (profile,) = translation.config["profiles"]
    plugins = {
        point: {key: [one["name"] for one in plugins] for key, plugins in chosen.items()}
        for point, chosen in profile["plugins"].items()
    }
    assert plugins == {
        # Neither filter nor score was named. NodeUnschedulable and TaintToleration cannot be left out.
        "multiPoint": {"disabled": ["VolumeBinding", "VolumeZone", "InterPodAffinity", "ImageLocality"]},
        "preFilter": {"disabled": ["PodTopologySpread"]},
        "filter": {"disabled": ["PodTopologySpread"]},
        "preScore": {"disabled": ["TaintToleration", "NodeAffinity"]},
        "score": {
            "disabled": ["*"],
            "enabled": ["NodeResourcesFit", "PodTopologySpread", "NodeResourcesBalancedAllocation"],
        },
    }
    weights = {one["name"]: one["weight"] for one in profile["plugins"]["score"]["enabled"]}
    assert weights == {"NodeResourcesFit": 4, "PodTopologySpread": 3, "NodeResourcesBalancedAllocation": 2}
    arguments = {one["name"]: one["args"] for one in profile["pluginConfig"]}
    assert arguments["NodeResourcesFit"] == {"scoringStrategy": {"type": "MostAllocated"}}
    assert arguments["InterPodAffinity"] == {"hardPodAffinityWeight": 10}
    terms = arguments["NodeAffinity"]["addedAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert terms == {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "Exists"}]}]}
    for path in ("predicates[8]", "priorities[0]", "priorities[5]", "priorities[6]", "alwaysCheckAllPredicates"):
        assert kinds(translation, path) == ["unsupported"]


def test_extender_keys_of_a_policy_may_have_any_case() -> None:
    extender = translated("everything-policy.yaml").config["extenders"][0]
    assert extender == {
        "urlPrefix": "https://extender.example:8443/scheduler",
        "filterVerb": "filter",
        "prioritizeVerb": "prioritize",
        "bindVerb": "bind",
        "weight": 5,
        "enableHTTPS": True,
        "httpTimeout": "1.5s",
        "tlsConfig": {"caFile": "/etc/extender/ca.crt", "serverName": "extender"},
        "managedResources": [{"name": "example.com/gpu", "ignoredByScheduler": True}],
        "ignorable": True,
    }


def test_empty_lists_leave_only_what_is_mandatory() -> None:
    (profile,) = of('{"kind": "Policy", "predicates": [], "priorities": []}').config["profiles"]
    off = {one["name"] for one in profile["plugins"]["multiPoint"]["disabled"]}
    assert len(off) == 12
    assert not off & {"TaintToleration", "NodeUnschedulable"}
    assert profile["plugins"]["score"] == {"disabled": [{"name": "*"}]}


def test_a_ratio_keeps_its_shape() -> None:
    shape = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
    priority = {"requestedToCapacityRatioArguments": {"shape": shape, "resources": [{"name": "cpu", "weight": 2}]}}
    text = f"kind: Policy\npriorities: [{{name: Mine, weight: 2, argument: {priority}}}]"
    (profile,) = of(text.replace("'", '"')).config["profiles"]
    (fit,) = profile["pluginConfig"]
    assert fit["args"]["scoringStrategy"] == {
        "type": "RequestedToCapacityRatio",
        "resources": [{"name": "cpu", "weight": 2}],
        "requestedToCapacityRatio": {"shape": shape},
    }


def test_v1alpha1() -> None:
    translation = translated("alpha1.yaml")
    config = translation.config
    assert config["leaderElection"] == {
        "leaderElect": True,
        "resourceName": "mine",
        "resourceNamespace": "kube-system",
        "resourceLock": "leases",
    }
    assert config["clientConnection"]["qps"] == 100
    assert config["percentageOfNodesToScore"] == 50
    assert config["profiles"] == [
        {
            "schedulerName": "mine",
            "plugins": {
                "preScore": {"disabled": [{"name": "Mine"}]},
                "reserve": {"disabled": [{"name": "DynamicResources"}]},
                "postFilter": {"disabled": [{"name": "DefaultPreemption"}]},
            },
            "pluginConfig": [
                {"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 7}},
                {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}},
                {"name": "VolumeBinding", "args": {"bindTimeoutSeconds": 60}},
            ],
        }
    ]
    assert kinds(translation, "healthzBindAddress") == kinds(translation, "metricsBindAddress") == ["dropped"]


def test_v1alpha2() -> None:
    translation = translated("alpha2.yaml")
    first, second = translation.config["profiles"]
    volumes: dict[str, Any] = {"name": "VolumeBinding", "args": {"bindTimeoutSeconds": 30}}
    assert first == {"schedulerName": "default-scheduler", "pluginConfig": [volumes]}
    assert second["plugins"] == {"score": {"enabled": [{"name": "NodeResourcesFit", "weight": 7}]}}
    assert second["pluginConfig"] == [
        {"name": "PodTopologySpread", "args": {"defaultingType": "List"}},
        {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}},
        volumes,
    ]
    assert translation.config["extenders"][0]["httpTimeout"] == "1m30s"
    assert kinds(translation, "disablePreemption") == ["dropped"]


def test_v1beta1() -> None:
    translation = translated("beta1.yaml")
    (profile,) = translation.config["profiles"]
    assert profile["plugins"]["filter"] == {"enabled": [{"name": "NodeVolumeLimits"}]}
    assert [one["name"] for one in profile["plugins"]["score"]["enabled"]] == [
        "PodTopologySpread",
        "ImageLocality",
        "NodeResourcesFit",
    ]
    arguments = {one["name"]: one["args"] for one in profile["pluginConfig"]}
    assert arguments["PodTopologySpread"]["defaultingType"] == "List"
    assert arguments["PodTopologySpread"]["apiVersion"] == V1
    assert arguments["NodeResourcesFit"]["scoringStrategy"]["resources"] == [{"name": "example.com/gpu", "weight": 3}]
    (term,) = arguments["NodeAffinity"]["addedAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert [one["operator"] for one in term["matchExpressions"]] == ["Exists", "DoesNotExist"]
    assert kinds(translation, "profiles[0].pluginConfig[1]") == ["converted", "unsupported"]
    assert kinds(translation, "profiles[0].plugins.score.enabled[2]") == ["unsupported"]


def test_default_weights_that_grew_are_told() -> None:
    (told,) = [change for change in translated("beta2.yaml").changes if change.kind == "default"]
    assert told.text.endswith("TaintToleration 3, InterPodAffinity 2")
    assert not [change for change in translated("beta3.yaml").changes if change.kind == "default"]
    assert translated("beta3.yaml").config["profiles"] == [{"schedulerName": "default-scheduler"}]


def test_disabling_the_old_scorer_disables_the_new_one() -> None:
    text = (
        "apiVersion: kubescheduler.config.k8s.io/v1beta1\nkind: KubeSchedulerConfiguration\n"
        "profiles: [{plugins: {score: {disabled: [{name: NodeResourcesLeastAllocated}]}}}]"
    )
    (profile,) = of(text).config["profiles"]
    assert profile["plugins"] == {"score": {"disabled": [{"name": "NodeResourcesFit"}]}}


def test_a_policy_in_a_config_map_is_looked_for_by_its_name() -> None:
    asked: list[str] = []

    def find(name: str) -> str:
        asked.append(name)
        return "kind: Policy\nextenders: [{urlPrefix: http://x, filterVerb: filter}]"

    text = (
        "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\n"
        "algorithmSource: {policy: {configMap: {namespace: kube-system, name: mine}}}"
    )
    assert translate(text, "s.yaml", find).config["extenders"] == [{"urlPrefix": "http://x", "filterVerb": "filter"}]
    assert asked == ["configmap:kube-system/mine"]
    with pytest.raises(
        InputError, match=r"s.yaml:3: .*ConfigMap kube-system/mine; save the value of its key policy.cfg"
    ):
        of(text)
