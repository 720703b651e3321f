import copy
from typing import Any

import pytest
import yaml

from harness.cluster.base import Workload
from harness.cluster.kind.deploy import FLAGS, Container, in_cluster, kubeconfig, objects, of_workload
from harness.kube import Object

CONFIG = "kind: KubeSchedulerConfiguration\nleaderElection: {leaderElect: false}\n"


def deployed(container: Container, name: str = "my-scheduler") -> tuple[Object, Object, Object]:
    """Return the Deployment, the specification of its pods, and their container."""
    deployment = objects(name, CONFIG, container, "start-1")[-1]
    spec = deployment["spec"]["template"]["spec"]
    (only,) = spec["containers"]
    return deployment, spec, only


def workload(kind: str = "Deployment", **container: Any) -> Workload:
    scheduler = {"name": "scheduler", "image": "their/scheduler:1", "command": ["kube-scheduler"], **container}
    spec = {
        "containers": [{"name": "extender", "image": "their/extender:1"}, scheduler],
        "volumes": [
            {"name": "config", "configMap": {"name": "their-config"}},
            {"name": "other", "configMap": {"name": "other-config"}},
            {"name": "scratch", "emptyDir": {}},
        ],
        "tolerations": [{"key": "theirs", "operator": "Exists"}],
    }
    metadata = {"name": "theirs", "namespace": "kube-system"}
    item: Object = {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata}
    if kind == "Pod":
        item["spec"] = spec
    else:
        item["spec"] = {"template": {"metadata": {"labels": {"app": "theirs"}}, "spec": spec}}
    return Workload(item, "scheduler", "their-config", "scheduler.yaml")


def as_deployed(given: Workload) -> tuple[Object, Object, Object]:
    """Return the ConfigMap, the specification of the pods, and their container."""
    config_map, item = of_workload(given, CONFIG, "built:1", "start-1")
    spec = item["spec"] if item["kind"] == "Pod" else item["spec"]["template"]["spec"]
    (only,) = spec["containers"]
    return config_map, spec, only


def test_a_deployment_comes_after_all_that_it_needs_and_everything_bears_its_name() -> None:
    made = objects("my-scheduler", CONFIG, Container("image:1"), "start-1")
    assert [item["kind"] for item in made] == [
        "ServiceAccount",
        "ClusterRoleBinding",
        "ClusterRoleBinding",
        "RoleBinding",
        "ConfigMap",
        "Deployment",
    ]
    assert "NAME" not in yaml.safe_dump_all(made)
    assert "IMAGE" not in yaml.safe_dump_all(made)
    assert all(item["metadata"]["name"].startswith("my-scheduler") for item in made)


def test_it_has_the_rights_of_a_scheduler_under_its_own_identity() -> None:
    made = objects("my-scheduler", CONFIG, Container("image:1"), "start-1")
    bindings = [item for item in made if item["kind"].endswith("RoleBinding")]
    assert {item["roleRef"]["name"] for item in bindings} == {
        "system:kube-scheduler",
        "system:volume-scheduler",
        "extension-apiserver-authentication-reader",
    }
    identity = {"kind": "ServiceAccount", "name": "my-scheduler", "namespace": "kube-system"}
    assert all(item["subjects"] == [identity] for item in bindings)
    assert made[-1]["spec"]["template"]["spec"]["serviceAccountName"] == "my-scheduler"


def test_the_files_are_where_the_container_finds_them() -> None:
    made = objects("my-scheduler", CONFIG, Container("image:1"), "start-1")
    (config_map,) = [item for item in made if item["kind"] == "ConfigMap"]
    assert config_map["data"] == {"config.yaml": CONFIG, "kubeconfig": kubeconfig()}
    _, spec, container = deployed(Container("image:1"))
    assert {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]} == {
        "files": "/etc/harness",
        "out": "/out",
    }
    assert spec["volumes"][0] == {"name": "files", "configMap": {"name": "my-scheduler"}}


def test_a_container_runs_what_it_is_told() -> None:
    given = Container("image:1", ("/run",), ("--config=/etc/harness/config.yaml", "--v=2"), {"A": "1", "B": ""})
    _, _, container = deployed(given)
    assert (container["image"], container["imagePullPolicy"]) == ("image:1", "IfNotPresent")
    assert (container["command"], container["args"]) == (["/run"], list(given.arguments))
    assert container["env"] == [{"name": "A", "value": "1"}, {"name": "B", "value": ""}]


def test_without_a_command_the_images_own_one_is_run() -> None:
    _, _, container = deployed(Container("image:1", (), ("--flag",)))
    assert "command" not in container
    assert container["args"] == ["--flag"]


@pytest.mark.parametrize(("serves", "is_probed"), [("https", True), ("http", False), ("nothing", False)])
def test_only_a_server_that_the_kubelet_reaches_is_probed(serves: str, is_probed: bool) -> None:
    _, _, container = deployed(Container("image:1", serves=serves))
    assert ("livenessProbe" in container) is is_probed
    if is_probed:
        assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": 10259, "scheme": "HTTPS"}


def test_no_scheduler_has_to_place_it_and_it_ends_at_once() -> None:
    deployment, spec, _ = deployed(Container("image:1"))
    assert spec["nodeName"] == "control-plane"
    assert spec["tolerations"] == [{"operator": "Exists"}]
    assert spec["terminationGracePeriodSeconds"] == 0
    assert deployment["spec"]["strategy"] == {"type": "Recreate"}


def test_every_start_can_be_told_from_those_before() -> None:
    deployment, _, _ = deployed(Container("image:1"))
    template = deployment["spec"]["template"]["metadata"]
    assert template == {
        "labels": {"component": "my-scheduler", "scheduler-harness.io/started": "start-1"},
        "annotations": {"scheduler-harness.io/started": "start-1"},
    }
    assert deployment["spec"]["selector"]["matchLabels"] == {"component": "my-scheduler"}


def test_two_deployments_share_nothing() -> None:
    first, _, _ = deployed(Container("image:1"), "one")
    before = copy.deepcopy(first)
    second, _, container = deployed(Container("image:2"), "two")
    container["livenessProbe"]["httpGet"]["port"] = 1
    second["metadata"]["name"] = "changed"
    assert first == before
    assert deployed(Container("image:1"), "one")[0] == before


def test_in_a_pod_the_configuration_names_no_kubeconfig() -> None:
    text = "kind: K\nclientConnection: {kubeconfig: /home/me/config, qps: 100}\nprofiles: []\n"
    assert yaml.safe_load(in_cluster(text)) == {
        "kind": "K",
        "clientConnection": {"kubeconfig": "", "qps": 100},
        "profiles": [],
    }
    assert yaml.safe_load(in_cluster(CONFIG)) == yaml.safe_load(CONFIG)


def test_who_insists_on_a_kubeconfig_in_a_pod_is_known_by_its_token() -> None:
    document = yaml.safe_load(kubeconfig())
    (cluster,), (user,), (context,) = document["clusters"], document["users"], document["contexts"]
    assert cluster["cluster"]["server"] == "https://kubernetes.default.svc"
    account = "/var/run/secrets/kubernetes.io/serviceaccount"
    assert cluster["cluster"]["certificate-authority"] == f"{account}/ca.crt"
    assert user["user"] == {"tokenFile": f"{account}/token"}
    assert context["name"] == document["current-context"]
    assert context["context"] == {"cluster": cluster["name"], "user": user["name"]}


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "Pod"])
def test_of_a_manifests_pod_only_the_scheduler_is_deployed(kind: str) -> None:
    _, _, container = as_deployed(workload(kind))
    assert container["name"] == "scheduler"


def test_the_manifest_itself_is_not_touched() -> None:
    given = workload()
    before = copy.deepcopy(given.item)
    as_deployed(given)
    assert given.item == before


def test_its_own_words_come_after_ours_and_win() -> None:
    _, _, container = as_deployed(workload(command=["/their/program", "--v=5"], args=["--config=/c/scheduler.yaml"]))
    assert container["command"] == ["/their/program", *FLAGS, "--v=5", "--config=/c/scheduler.yaml"]
    assert "args" not in container
    assert (container["image"], container["imagePullPolicy"]) == ("built:1", "IfNotPresent")


def test_words_without_a_program_are_those_of_kube_scheduler() -> None:
    given = workload(args=["--config=/c/scheduler.yaml"])
    del given.item["spec"]["template"]["spec"]["containers"][1]["command"]
    assert as_deployed(given)[2]["command"] == ["kube-scheduler", *FLAGS, "--config=/c/scheduler.yaml"]


def test_the_configuration_stands_in_a_config_map_of_our_own_and_only_that_is_replaced() -> None:
    config_map, spec, _ = as_deployed(workload())
    assert config_map["metadata"] == {"name": "theirs-run", "namespace": "kube-system"}
    assert config_map["data"] == {"scheduler.yaml": CONFIG}
    assert [volume.get("configMap") for volume in spec["volumes"]] == [
        {"name": "theirs-run"},
        {"name": "other-config"},
        None,
    ]


def test_a_manifest_without_a_namespace_is_in_the_default_one() -> None:
    given = workload()
    del given.item["metadata"]["namespace"]
    assert as_deployed(given)[0]["metadata"]["namespace"] == "default"


def test_a_manifests_pod_stays_on_the_control_plane_too() -> None:
    given = workload()
    given.item["spec"]["template"]["metadata"]["annotations"] = {"theirs": "1"}
    _, item = of_workload(given, CONFIG, "built:1", "start-2")
    template = item["spec"]["template"]
    assert template["metadata"]["annotations"] == {"theirs": "1", "scheduler-harness.io/started": "start-2"}
    assert template["spec"]["nodeName"] == "control-plane"
    assert template["spec"]["tolerations"] == [{"operator": "Exists"}]
