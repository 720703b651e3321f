"""Edits the manifest of the kube-scheduler that the kubelet starts, as the lab texts do by hand. Pure."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from harness.errors import ClusterError

MANIFEST = "/etc/kubernetes/manifests/kube-scheduler.yaml"
KUBECONFIG = "/etc/kubernetes/scheduler.conf"
VOLUME = "harness"
# Said in the configuration, or by the flags that are added: on the command line they would overrule it.
_OVERRULING = ("--config", "--leader-elect", "--kubeconfig", "--v")


def edited(manifest: str, config: str, folder: str, flags: Sequence[str] = ()) -> str:
    """Return the manifest with `--config`, the volume that the configuration lies in, and more flags.

    Args:
        manifest: the manifest as kubeadm wrote it.
        config: path of the configuration, inside the node and inside the container alike.
        folder: the folder of the node that is mounted at the same path.
        flags: what else goes onto the command line.

    Raises:
        ClusterError: it is not the manifest of a kube-scheduler.
    """
    pod: dict[str, Any] = copy.deepcopy(yaml.safe_load(manifest))
    container = _scheduler(pod)
    words = [word for word in container["command"] if not _is_one_of(word, _OVERRULING)]
    container["command"] = [*words, f"--config={config}", *flags]
    # A manifest that was edited already, by a run that was killed, has them.
    mounts = [one for one in container.get("volumeMounts") or () if one["name"] != VOLUME]
    volumes = [one for one in pod["spec"].get("volumes") or () if one["name"] != VOLUME]
    container["volumeMounts"] = [*mounts, {"name": VOLUME, "mountPath": folder, "readOnly": True}]
    pod["spec"]["volumes"] = [*volumes, {"name": VOLUME, "hostPath": {"path": folder, "type": "Directory"}}]
    # It is proven by its own pages; a probe that looks only after ten seconds would be waited for.
    container.pop("startupProbe", None)
    return yaml.safe_dump(pod, sort_keys=False)


def scheduler_image(manifest: str) -> str:
    """Return the image of the cluster's kube-scheduler, which every node of kind carries."""
    return str(_scheduler(yaml.safe_load(manifest))["image"])


def _scheduler(pod: Mapping[str, Any]) -> dict[str, Any]:
    containers = (pod or {}).get("spec", {}).get("containers") or []
    for container in containers:
        if (container.get("command") or [""])[0].rpartition("/")[2] == "kube-scheduler":
            found: dict[str, Any] = container
            return found
    raise ClusterError(f"{MANIFEST}: no container that starts kube-scheduler")


def _is_one_of(word: str, options: Sequence[str]) -> bool:
    return any(word == option or word.startswith(f"{option}=") for option in options)
