from typing import Any

import pytest
import yaml

from harness.cluster.kind.staticpod import edited, scheduler_image
from harness.errors import ClusterError

# As kubeadm writes it, shortened.
MANIFEST = """\
apiVersion: v1
kind: Pod
metadata:
  labels: {component: kube-scheduler, tier: control-plane}
  name: kube-scheduler
  namespace: kube-system
spec:
  containers:
  - command:
    - kube-scheduler
    - --authentication-kubeconfig=/etc/kubernetes/scheduler.conf
    - --authorization-kubeconfig=/etc/kubernetes/scheduler.conf
    - --bind-address=127.0.0.1
    - --kubeconfig=/etc/kubernetes/scheduler.conf
    - --leader-elect=true
    image: registry.k8s.io/kube-scheduler:v1.34.4
    livenessProbe: {httpGet: {path: /livez, port: probe-port, scheme: HTTPS}}
    name: kube-scheduler
    startupProbe: {failureThreshold: 24, httpGet: {path: /livez, port: probe-port, scheme: HTTPS}}
    volumeMounts:
    - {mountPath: /etc/kubernetes/scheduler.conf, name: kubeconfig, readOnly: true}
  hostNetwork: true
  volumes:
  - {hostPath: {path: /etc/kubernetes/scheduler.conf, type: FileOrCreate}, name: kubeconfig}
"""
FLAGS = ("--leader-elect=false", "--v=2")


def edit(manifest: str = MANIFEST, config: str = "/harness/config.yaml") -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(edited(manifest, config, "/harness", FLAGS))
    return read


def command(pod: dict[str, Any]) -> list[str]:
    words: list[str] = pod["spec"]["containers"][0]["command"]
    return words


def test_the_configuration_and_the_flags_come_last() -> None:
    assert command(edit()) == [
        "kube-scheduler",
        "--authentication-kubeconfig=/etc/kubernetes/scheduler.conf",
        "--authorization-kubeconfig=/etc/kubernetes/scheduler.conf",
        "--bind-address=127.0.0.1",
        "--config=/harness/config.yaml",
        "--leader-elect=false",
        "--v=2",
    ]


def test_nothing_on_the_command_line_overrules_the_configuration() -> None:
    """`--kubeconfig` and `--leader-elect` would; flags whose names only begin or end alike stay."""
    words = command(edit(MANIFEST.replace("--bind-address=127.0.0.1", "--vmodule=x=4")))
    assert [word for word in words if word.startswith(("--kubeconfig", "--leader-elect"))] == ["--leader-elect=false"]
    assert "--vmodule=x=4" in words


@pytest.mark.parametrize("word", ["--v=9", "--v", "--config=/other", "--leader-elect"])
def test_what_the_manifest_says_of_our_flags_is_replaced(word: str) -> None:
    words = command(edit(MANIFEST.replace("--bind-address=127.0.0.1", word)))
    assert word not in words
    assert words[-3:] == ["--config=/harness/config.yaml", *FLAGS]


def test_the_folder_is_mounted_where_the_node_has_it() -> None:
    spec = edit()["spec"]
    mounts, volumes = spec["containers"][0]["volumeMounts"], spec["volumes"]
    assert [mount["name"] for mount in mounts] == ["kubeconfig", "harness"]
    assert mounts[1] == {"name": "harness", "mountPath": "/harness", "readOnly": True}
    assert [volume["name"] for volume in volumes] == ["kubeconfig", "harness"]
    assert volumes[1]["hostPath"] == {"path": "/harness", "type": "Directory"}


def test_a_manifest_without_volumes_gets_them() -> None:
    bare = "spec: {containers: [{name: s, command: [/usr/bin/kube-scheduler], image: i}]}"
    spec = edit(bare)["spec"]
    assert [volume["name"] for volume in spec["volumes"]] == ["harness"]
    assert [mount["name"] for mount in spec["containers"][0]["volumeMounts"]] == ["harness"]


def test_it_is_not_waited_for_by_a_probe_but_still_watched_by_one() -> None:
    container = edit()["spec"]["containers"][0]
    assert "startupProbe" not in container
    assert container["livenessProbe"]["httpGet"]["path"] == "/livez"


def test_the_rest_stays() -> None:
    pod = edit()
    before = yaml.safe_load(MANIFEST)
    assert pod["metadata"] == before["metadata"]
    assert pod["spec"]["hostNetwork"] is True
    assert pod["spec"]["containers"][0]["image"] == "registry.k8s.io/kube-scheduler:v1.34.4"


def test_edited_twice_it_has_everything_once() -> None:
    """A run that was killed leaves an edited manifest in a cluster that is kept."""
    once = edited(MANIFEST, "/harness/first.yaml", "/harness", FLAGS)
    assert edit(once) == edit()
    assert edit(edited(once, "/harness/second.yaml", "/harness", FLAGS)) == edit()


def test_the_containers_image_is_found() -> None:
    assert scheduler_image(MANIFEST) == "registry.k8s.io/kube-scheduler:v1.34.4"


def test_the_scheduler_is_known_by_its_program_and_not_by_its_place() -> None:
    pod = yaml.safe_load(MANIFEST)
    pod["spec"]["containers"].insert(0, {"name": "proxy", "image": "proxy:1", "command": ["proxy"]})
    pod["spec"]["containers"].insert(0, {"name": "silent", "image": "silent:1"})
    both = yaml.safe_dump(pod)
    assert scheduler_image(both) == "registry.k8s.io/kube-scheduler:v1.34.4"
    silent, proxy, scheduler = edit(both)["spec"]["containers"]
    assert "--config=/harness/config.yaml" in scheduler["command"]
    assert (silent.get("volumeMounts"), proxy["command"]) == (None, ["proxy"])


@pytest.mark.parametrize(
    "manifest",
    ["", "spec: {containers: []}", "spec: {containers: [{command: [etcd], image: e}]}", MANIFEST.partition("spec:")[0]],
    ids=["empty", "no container", "another program", "half of it"],
)
def test_what_starts_no_scheduler_is_refused(manifest: str) -> None:
    for action in (lambda: edit(manifest), lambda: scheduler_image(manifest)):
        with pytest.raises(ClusterError, match=r"kube-scheduler\.yaml: no container that starts kube-scheduler"):
            action()
