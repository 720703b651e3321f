"""What tests of kind start from: programs that stand in for docker and kind, and a cluster's API in memory."""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cluster.kind.owner import Owner
from harness.cluster.kind.pods import OwnPods
from harness.cluster.kind.running import Where
from harness.kube import Kube, Object, Resource
from harness.process import ends_with_us
from harness.scenario.nodes import NodeSpec
from harness.testing import FakeKube
from harness.testing.kube import VERBS, resources
from tests.processes import PATIENCE_SECONDS

END_OF_WORD, END_OF_CALL = "\x1f", "\x1e"
KUBELET_CONFIG = "kind: KubeletConfiguration\nmaxPods: 110\ncgroupDriver: systemd\n"
KUBELET_FLAGS = 'KUBELET_KUBEADM_ARGS="--node-ip=172.18.0.3 --provider-id=kind://docker/h/h-worker"\n'
CAPACITY = {"cpu": "8", "memory": "16Gi", "pods": "110"}
RUNNING: Object = {"running": {}}
SCHEDULER = "kube-scheduler-control-plane"
MARK = "/harness/config-1.yaml"
WHERE = Where(("component", "kube-scheduler"), "kube-scheduler", 0, "https", MARK)
MORE = (
    Resource("v1", "Service", "services", namespaced=True, verbs=VERBS),
    Resource(
        "certificates.k8s.io/v1",
        "CertificateSigningRequest",
        "certificatesigningrequests",
        namespaced=False,
        verbs=VERBS,
    ),
)


class Programs:
    """Programs that answer by a script and write down what they were called with; nothing else is on PATH."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        # Looked for once and kept: after the change of PATH it would be missing for every later test.
        ends_with_us()
        self.folder = folder
        folder.mkdir()
        monkeypatch.setenv("PATH", str(folder))
        for name in ("KIND_NODE_IMAGE", "KIND_CONFIG_EXTRA", "DOCKER_HOST"):
            monkeypatch.delenv(name, raising=False)

    def put(self, name: str, cases: Mapping[str, str]) -> Path:
        """Write a program: the first pattern of a shell's `case` that fits its arguments says what it does.

        What fits none of them fails, so that a test has to know every call.
        """
        lines = [
            "#!/bin/sh",
            "PATH=/usr/bin:/bin",
            # One write for a whole call: several may run at once.
            f"printf '%s{END_OF_WORD}' \"$@\" '{END_OF_CALL}' >>'{self.folder / f'{name}.calls'}'",
            'case "$*" in',
            *(f"{pattern}) {script};;" for pattern, script in cases.items()),
            f'*) echo "{name}: no answer to: $*" >&2; exit 64;;',
            "esac",
        ]
        program = self.folder / name
        program.write_text("\n".join(lines) + "\n")
        program.chmod(0o755)
        return program

    def calls(self, name: str) -> list[list[str]]:
        """Return the arguments of every call of a program, in order."""
        path = self.folder / f"{name}.calls"
        text = path.read_text() if path.exists() else ""
        return [call.split(END_OF_WORD)[:-1] for call in text.split(END_OF_CALL + END_OF_WORD)[:-1]]

    def said(self, name: str) -> list[str]:
        """Return every call of a program as one line."""
        return [" ".join(call) for call in self.calls(name)]


class KindKube(FakeKube):
    """The API of a kind cluster, with what its controllers and kubelets do at once: sign, and be ready.

    Nodes of the names in `slow` never become ready.
    """

    def __init__(self, *workers: str) -> None:
        super().__init__([*resources(), *MORE])
        self.slow: set[str] = set()
        self.listeners.append(self._control)
        taint = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
        for name in ("control-plane", *workers):
            spec = {"podCIDR": "10.244.1.0/24", "podCIDRs": ["10.244.1.0/24"], "providerID": f"kind://docker/h/{name}"}
            node = self.node(name, **spec, taints=[taint] if name == "control-plane" else [])
            self.create({**node, "status": {"capacity": CAPACITY}})

    def request(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, **others: Any) -> Any:
        if path == "/version":
            return {"gitVersion": "v1.34.4"}
        answer = super().request(method, path, query=query, **others)
        field, _, value = (query or {}).get("fieldSelector", "").partition("=")
        if field:
            assert field == "spec.nodeName"
            answer["items"] = [item for item in answer["items"] if item["spec"].get("nodeName") == value]
        return answer

    @staticmethod
    def node(name: str, **spec: Any) -> Object:
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
            "spec": spec,
        }

    def names(self, plural: str) -> set[str]:
        """Return the names of everything of a kind."""
        return {key.name for key in self.inventory() if key.resource and key.resource.plural == plural}

    def _control(self, event: str, item: Object) -> None:
        name = item["metadata"]["name"]
        if item["kind"] == "Node" and event == "ADDED" and name not in self.slow:
            ready = {"conditions": [{"type": "Ready", "status": "True"}], "allocatable": CAPACITY}
            self.patch(f"/api/v1/nodes/{name}", {"status": ready})
        approved = item.get("status", {}).get("conditions")
        if item["kind"] == "CertificateSigningRequest" and approved and "certificate" not in item["status"]:
            signed = base64.b64encode(f"certificate for {name}\n".encode()).decode()
            path = f"/apis/certificates.k8s.io/v1/certificatesigningrequests/{name}"
            self.patch(path, {"status": {"certificate": signed}})


def spec(name: str = "node-1", **others: Any) -> NodeSpec:
    """Return a node that a scenario declares."""
    given: dict[str, Any] = {"cpu": "4", "memory": "8Gi", "pods": 20, "labels": {}, "taints": (), "extended": {}}
    return NodeSpec(name=name, **{**given, **others})


def pod(name: str, state: Mapping[str, Any] | None = None, **others: Any) -> Object:
    """Return a pod of the cluster's own, of which one container is in a state."""
    count = others.pop("restarts", 0)
    status = {"name": "kube-scheduler", "image": "i", "restartCount": count, "state": state or {}}
    status |= {"containerID": f"containerd://{count}"} if state else {}
    status |= {"lastState": others.pop("last", {})}
    labels, annotations = others.pop("labels", {"component": "kube-scheduler"}), others.pop("annotations", {})
    metadata = {"name": name, "namespace": "kube-system", "labels": labels, "annotations": annotations}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**metadata, **others.pop("metadata", {})},
        "spec": {"containers": [{"name": "kube-scheduler", "image": "i"}], **others},
        "status": {"phase": "Running", "containerStatuses": [status]},
    }


def change(kube: Kube, item: Object) -> None:
    """Let a pod be as given from now on."""
    metadata = item["metadata"]
    kube.patch(f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}", {"status": item["status"]})


def scheduler(state: Object | None = None, name: str = SCHEDULER, mark: str = MARK, **others: Any) -> Object:
    """Return the pod of the stock scheduler, of the start that WHERE means."""
    return pod(name, state, annotations={"x": mark}, **others)


def started(kube: FakeKube, pods: OwnPods, item: Object) -> None:
    """Create a pod and return when it was seen."""
    kube.create(item)
    pods.wait(lambda seen: item["metadata"]["name"] in seen, "the pod", PATIENCE_SECONDS)


KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: kind
contexts: [{name: kind, context: {cluster: kind, user: kind}}]
clusters: [{name: kind, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: kind, user: {token: of-the-administrator}}]
"""
NOTHING: Mapping[str, str] = {}
_NODES = 'sed -n -E "/^${of:-.*}-(control-plane|worker[0-9]*)$/p"'
# What the first node of a configuration mounts; its role is its first line.
_FIRST_MOUNTS = (
    "/role:/ {if (seen++) exit} /hostPath:/ {here = $NF} /containerPath:/ {there = $NF} "
    'here && there {printf "\\t%s\\t%s", there, here; here = there = ""} END {print ""}'
)
MANIFEST = "spec: {containers: [{name: kube-scheduler, command: [kube-scheduler], image: scheduler:1}]}\n"


class Engine:
    """A container engine and a kind whose clusters are lines of files.

    `containers` has the names of all nodes, `mounts-of-NAME` what those of a cluster see of this machine: a place in
    the node and a folder here, and so on.
    """

    def __init__(self, programs: Programs, folder: Path) -> None:
        self.programs = programs
        self._folder = folder
        folder.mkdir()
        self._put("kubeconfig", KUBECONFIG)
        self._put("manifest", MANIFEST)
        self._put("kubelet", KUBELET_CONFIG)
        self._put("flags", KUBELET_FLAGS)
        self._put("containers", "")
        self.put_docker()
        self.put_kind()

    def put_docker(self, cases: Mapping[str, str] = NOTHING) -> None:
        """Write the program docker; `cases` come before what it does otherwise."""
        there = self._folder
        # The last filter is the label of kind, with or without the name of a cluster.
        chosen = f'for word in "$@"; do case "$word" in --filter=label=*=*) of="${{word##*=}}";; esac; done; {_NODES}'
        nodes = f"{chosen} {there}/containers"
        remove = f'for id in "$@"; do sed -i "/^${{id#id-of-}}$/d" {there}/containers; done'
        mounts = (
            'for id in "$@"; do case "$id" in id-of-*) name="${id#id-of-}"; name="${name%-worker*}"; '
            f'name="${{name%-control-plane}}"; printf "%s\\t%s" "$id" "$name"; cat {there}/mounts-of-$name;; esac; done'
        )
        answers = {
            "version*": "echo 28.1.1",
            '"context inspect"*': "echo unix:///var/run/docker.sock",
            '"ps --all --quiet"*': f"{nodes} | sed s/^/id-of-/",
            '"ps --all"*': nodes,
            '"inspect --format {{.Id}}"*': mounts,
            '"inspect --format {{.NetworkSettings"*': "echo 172.18.0.2",
            '*"cat /etc/kubernetes/manifests/kube-scheduler.yaml"': f"cat {there}/manifest",
            '*"cat /var/lib/kubelet/config.yaml"': f"cat {there}/kubelet",
            '*"cat /var/lib/kubelet/kubeadm-flags.env"': f"cat {there}/flags",
            '*"images ls -q"': "echo registry.k8s.io/pause:3.10",
            '*"systemctl stop kubelet"': "true",
            '*"sh -euc"*': "true",
            "events*": "exec sleep 600",
            "rm*": remove,
        }
        self.programs.put("docker", {**cases, **answers, **cases})

    def put_kind(self, cases: Mapping[str, str] = NOTHING) -> Path:
        """Write the program kind; `cases` come before what it does otherwise."""
        there = self._folder
        named = 'for word in "$@"; do case "$word" in --name=*) name="${word#*=}";; esac; done'
        create = (
            f'{named}; for word in "$@"; do config="$word"; case "$word" in '
            f'--kubeconfig=*) cp {there}/kubeconfig "${{word#*=}}";; esac; done; cp "$config" {there}/config; '
            f"awk '{_FIRST_MOUNTS}' \"$config\" >{there}/mounts-of-$name; "
            f'grep "role: worker" "$config" | awk -v name="$name" '
            f'\'{{print name "-worker" (NR > 1 ? NR : "")}} END {{print name "-control-plane"}}\' >>{there}/containers'
        )
        answers = {
            # It knows its clusters by their containers.
            '"get clusters"': f"sed -E 's/-(control-plane|worker[0-9]*)$//' {there}/containers | uniq",
            '"create cluster"*': create,
            '"export kubeconfig"*': f'for word in "$@"; do :; done; cp {there}/kubeconfig "${{word#*=}}"',
            '"delete cluster"*': f'{named}; sed -i -E "/^$name-(control-plane|worker[0-9]*)$/d" {there}/containers',
            "version*": "echo 0.33.0",
        }
        return self.programs.put("kind", {**cases, **answers, **cases})

    def containers(self) -> list[str]:
        """Return the containers that are there now."""
        return (self._folder / "containers").read_text().split()

    def config(self) -> dict[str, Any]:
        """Return the configuration that the last cluster was created with."""
        read: dict[str, Any] = yaml.safe_load((self._folder / "config").read_text())
        return read

    def add_stranger(self, name: str) -> None:
        """Let somebody else have a cluster."""
        self._add(name, {"/lib/modules": "/lib/modules", "/var": "/harness"})

    def add_left(self, name: str, owner: Owner | None = None) -> None:
        """Let there be what a killed run of ours left of a cluster; one of an older harness tells no owner."""
        shared = f"{self._folder}/shared"
        marks = {owner.place: shared} if owner else {}
        self._add(name, {"/lib/modules": "/lib/modules", **marks, "/harness": shared})

    def _add(self, name: str, mounts: Mapping[str, str]) -> None:
        others = [one for one in self.containers() if not one.startswith(f"{name}-")]
        self._put("containers", "".join(f"{one}\n" for one in (*others, f"{name}-control-plane")))
        self._put(f"mounts-of-{name}", "".join(f"\t{place}\t{source}" for place, source in mounts.items()) + "\n")

    def _put(self, name: str, text: str) -> None:
        (self._folder / name).write_text(text)
