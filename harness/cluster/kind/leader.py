"""The control plane as a node: a scenario may declare it by its name, and finds it as kubeadm made it otherwise."""

import secrets
from typing import Any

from harness.cluster.kind.config import CONTROL_PLANE
from harness.cluster.kind.tools import address_of
from harness.cluster.nodes import NODES
from harness.kube import Kube, Object
from harness.scenario.nodes import NodeSpec

PATH = f"{NODES}/{CONTROL_PLANE}"
DECLARED = "scheduler-harness.io/declared"


class Leader:
    """The node of the control plane."""

    def __init__(self, kube: Kube, container: str) -> None:
        self.container = container
        self.address = address_of(container)
        self._kube = kube
        node = kube.request("GET", PATH)
        self._labels: dict[str, str] = node["metadata"]["labels"]
        self._taints: list[dict[str, Any]] = node["spec"].get("taints", [])
        self._declared = False

    def is_undeclared(self, item: Object) -> bool:
        """Tell whether an object is this node, and no scenario speaks about it."""
        return not self._declared and item["metadata"]["name"] == CONTROL_PLANE and "podCIDR" in item.get("spec", {})

    def declare(self, spec: NodeSpec) -> None:
        """Give it the labels and taints that a scenario declares."""
        self._declared = True
        taints = [taint.to_json() for taint in spec.taints]
        # A change in any case: who watches has left it out until now, and hears of it only when it changes.
        metadata = {"labels": dict(spec.labels), "annotations": {DECLARED: secrets.token_hex(4)}}
        self._kube.patch(PATH, {"metadata": metadata, "spec": {"taints": taints}})

    def restore(self) -> None:
        """Give it back what kubeadm gave it."""
        if not self._declared:
            return
        self._declared = False
        labels = self._kube.request("GET", PATH)["metadata"]["labels"]
        gone = dict.fromkeys(labels.keys() - self._labels.keys())
        metadata = {"labels": {**self._labels, **gone}, "annotations": {DECLARED: None}}
        change = {"metadata": metadata, "spec": {"taints": self._taints}}
        self._kube.patch(PATH, change)
