import json

import pytest

from harness.extender import requests
from harness.extender.author import Node, Pod
from harness.extender.entry import Entry


def test_whole_nodes_are_sent_as_a_list_and_names_as_null() -> None:
    arguments = requests.extender_args(requests.pod(), requests.nodes(2), names_only=False)

    assert list(arguments) == ["Pod", "Nodes", "NodeNames"]
    assert arguments["NodeNames"] is None
    assert arguments["Nodes"]["metadata"] == {}
    assert [node["metadata"]["name"] for node in arguments["Nodes"]["items"]] == ["node-1", "node-2"]


def test_names_are_sent_without_nodes() -> None:
    arguments = requests.extender_args(requests.pod(), requests.nodes(2), names_only=True)

    assert arguments["Nodes"] is None
    assert arguments["NodeNames"] == ["node-1", "node-2"]


def test_a_pod_has_what_it_was_given() -> None:
    made = requests.pod(
        "web", namespace="shop", labels={"app": "web"}, requests={"cpu": "250m", "example.com/gpu": "1"}, nodeName="a"
    )

    view = Pod(made)
    assert (str(view), view.labels, view.node) == ("shop/web", {"app": "web"}, "a")
    assert view.requests == {"cpu": 250, "example.com/gpu": 1}
    managed = Entry.from_json({"managedResources": [{"name": "example.com/gpu"}]})
    assert managed.is_interested(made)
    assert not managed.is_interested(requests.pod())


def test_pods_differ_in_their_uid_and_repeat_it() -> None:
    assert requests.pod("a") == requests.pod("a")
    assert len({Pod(requests.pod(name, namespace=space)).uid for name in "ab" for space in "xy"}) == 4


def test_no_two_calls_share_what_they_return() -> None:
    first, second = requests.pod(), requests.pod()
    first["spec"]["tolerations"].clear()

    assert second["spec"]["tolerations"]


@pytest.mark.parametrize("kib", [0, 5, 40])
def test_nodes_are_as_large_as_wanted(kib: int) -> None:
    sizes = [len(json.dumps(node, separators=(",", ":"))) for node in requests.nodes(2, kib_each=kib)]

    assert all(kib * 1024 <= size <= kib * 1024 + 2048 for size in sizes)


def test_a_node_is_a_known_one() -> None:
    view = Node(requests.node("a", labels={"disk": "ssd"}, allocatable={"example.com/gpu": "2"}))

    assert view.known
    assert view.labels["disk"] == "ssd"
    assert view.allocatable["example.com/gpu"] == 2
    assert view.allocatable["memory"] == 16 * 2**30


def test_binding_arguments_name_the_pod_and_its_node() -> None:
    pod = requests.pod("web", uid="u-1")

    assert requests.binding_args(pod, "a") == {
        "PodName": "web",
        "PodNamespace": "default",
        "PodUID": "u-1",
        "Node": "a",
    }


def test_victims_are_sent_whole_or_as_uids() -> None:
    victim = requests.pod("old", uid="u-2", node="a")

    whole = requests.preemption_args(requests.pod(), {"a": [victim]}, meta=False, violations={"a": 1})
    assert whole["NodeNameToMetaVictims"] is None
    assert whole["NodeNameToVictims"] == {"a": {"Pods": [victim], "NumPDBViolations": 1}}

    meta = requests.preemption_args(requests.pod(), {"a": [victim]}, meta=True)
    assert meta["NodeNameToVictims"] is None
    assert meta["NodeNameToMetaVictims"] == {"a": {"Pods": [{"UID": "u-2"}], "NumPDBViolations": 0}}


def test_what_could_be_html_is_escaped_as_go_does() -> None:
    text = requests.encoded({"Pod": requests.pod(annotations={"note": "a<b>&c"})})

    assert rb"a\u003cb\u003e\u0026c" in text
    assert json.loads(text)["Pod"]["metadata"]["annotations"] == {"note": "a<b>&c"}


def test_a_node_has_every_key_that_go_writes() -> None:
    """Sent through the Go types of Kubernetes 1.36 and back, a node must be the same; these are the keys at stake."""
    made = requests.node()

    assert set(made["status"]["nodeInfo"]) == {
        "machineID",
        "systemUUID",
        "bootID",
        "kernelVersion",
        "osImage",
        "containerRuntimeVersion",
        "kubeletVersion",
        "kubeProxyVersion",
        "operatingSystem",
        "architecture",
    }
    assert made["status"]["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 10250}}
    assert made["metadata"]["managedFields"]
    assert "managedFields" not in requests.pod()["metadata"]
