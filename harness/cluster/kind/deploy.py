"""What is deployed for a scheduler that runs in a pod: its manifest, filled in. Pure."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from harness.cluster.base import Workload
from harness.cluster.kind.config import CONTROL_PLANE
from harness.kube import Object

MANIFEST = Path(__file__).parent / "manifests" / "scheduler.yaml"
FILES, OUT = "/etc/harness", "/out"
CONFIG, KUBECONFIG = "config.yaml", "kubeconfig"
PORT = 10259
FLAGS = ("--v=2", f"--secure-port={PORT}", "--leader-elect=false")
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
PROBE = {
    "httpGet": {"path": "/healthz", "port": PORT, "scheme": "HTTPS"},
    "initialDelaySeconds": 10,
    "periodSeconds": 10,
    "failureThreshold": 8,
}
LABEL = "component"
STARTED = "scheduler-harness.io/started"


@dataclass(frozen=True)
class Container:
    """What a scheduler's container runs."""

    image: str
    command: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    serves: str = "https"


def in_cluster(config: str) -> str:
    """Return a scheduler's configuration for a pod: it is known by its ServiceAccount and needs no kubeconfig."""
    document: dict[str, Any] = yaml.safe_load(config)
    if "clientConnection" in document:
        document["clientConnection"] = {**document["clientConnection"], "kubeconfig": ""}
    return yaml.safe_dump(document, sort_keys=False)


def kubeconfig() -> str:
    """Return a kubeconfig for whoever runs in a pod and insists on one."""
    cluster = {"server": "https://kubernetes.default.svc", "certificate-authority": f"{_ACCOUNT}/ca.crt"}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "pod",
            "contexts": [{"name": "pod", "context": {"cluster": "pod", "user": "pod"}}],
            "clusters": [{"name": "pod", "cluster": cluster}],
            "users": [{"name": "pod", "user": {"tokenFile": f"{_ACCOUNT}/token"}}],
        }
    )


def objects(name: str, config: str, container: Container, start: str) -> list[Object]:
    """Return everything that a scheduler of this name needs, its Deployment last."""
    documents = [_renamed(document, name) for document in yaml.safe_load_all(MANIFEST.read_text(encoding="utf-8"))]
    for document in documents:
        if document["kind"] == "ConfigMap":
            document["data"] = {CONFIG: config, KUBECONFIG: kubeconfig()}
    deployment = documents[-1]
    template = deployment["spec"]["template"]
    _fill(template["spec"]["containers"][0], container)
    if container.serves == "https":
        # One that serves plain pages does so on its own loopback, where no probe of the kubelet comes.
        template["spec"]["containers"][0]["livenessProbe"] = copy.deepcopy(PROBE)
    _settle_down(template, start)
    return documents


def of_workload(workload: Workload, config: str, image: str, start: str) -> list[Object]:
    """Return a manifest's own workload as it is deployed here, and its configuration beside it.

    The configuration is ours: the same, with extenders at their taps. What stands beside the scheduler in its pod is
    left out, for the extenders of the run are reached at this machine.
    """
    item: Object = copy.deepcopy(workload.item)
    template = item if item["kind"] == "Pod" else item["spec"]["template"]
    spec = template["spec"]
    (container,) = [one for one in spec["containers"] if one["name"] == workload.container]
    spec["containers"] = [container]
    container["image"] = image
    container["imagePullPolicy"] = "IfNotPresent"
    words = [*container.pop("command", ()), *container.pop("args", ())]
    program = words.pop(0) if not words[0].startswith("-") else "kube-scheduler"
    # Ours first: what the manifest says of the same wins.
    container["command"] = [program, *FLAGS, *words]
    own = f"{item['metadata']['name']}-run"
    for volume in spec.get("volumes") or ():
        if (volume.get("configMap") or {}).get("name") == workload.config_map:
            volume["configMap"]["name"] = own
    _settle_down(template, start)
    metadata = {"name": own, "namespace": item["metadata"].get("namespace", "default")}
    return [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {workload.key: config}}, item]


def port_of(workload: Workload) -> int:
    """Return the port that a manifest's scheduler serves its pages at."""
    spec = workload.item["spec"] if workload.item["kind"] == "Pod" else workload.item["spec"]["template"]["spec"]
    (container,) = [one for one in spec["containers"] if one["name"] == workload.container]
    words = [str(word) for word in (*(container.get("command") or ()), *(container.get("args") or ()))]
    told = [word.removeprefix("--secure-port=") for word in words if word.startswith("--secure-port=")]
    return int(told[-1]) if told and told[-1].isdigit() else PORT


def _renamed(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(part, name) for key, part in value.items()}
    if isinstance(value, list):
        return [_renamed(part, name) for part in value]
    return value.replace("NAME", name) if isinstance(value, str) else value


def _fill(part: Object, container: Container) -> None:
    part["image"] = container.image
    part["imagePullPolicy"] = "IfNotPresent"
    if container.command:
        part["command"] = list(container.command)
    part["args"] = list(container.arguments)
    part["env"] = [{"name": key, "value": value} for key, value in container.env.items()]


def _settle_down(template: Object, start: str) -> None:
    """Put a pod onto the control plane without any scheduler's help: the one under test is not to place itself."""
    metadata = template.setdefault("metadata", {})
    for kind in ("labels", "annotations"):
        metadata[kind] = {**(metadata.get(kind) or {}), STARTED: start}
    template["spec"]["nodeName"] = CONTROL_PLANE
    template["spec"]["tolerations"] = [{"operator": "Exists"}]
    template["spec"]["terminationGracePeriodSeconds"] = 0
