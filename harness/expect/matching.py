"""Decides which pods and nodes an expectation speaks about, the same way for every kind.

Pods of the cluster's own namespaces are left out unless an expectation names the namespace: on a cluster that is not
played, the control plane runs as pods too.
"""

import fnmatch
from collections.abc import Iterable, Sequence

from harness.record.model import NodeHistory, PodHistory, Record
from harness.scenario import selector as selectors

SYSTEM_NAMESPACES = frozenset({"kube-system", "kube-public", "kube-node-lease", "local-path-storage"})


def matching_pods(
    record: Record, *, selector: str = "", namespace: str | None = None, names: Sequence[str] | None = None
) -> list[PodHistory]:
    """Return every pod ever seen that matches, in order of creation; `names` may have `*` and a `namespace/`."""
    wanted = selectors.parse(selector)
    found = [
        pod
        for pod in record.pods
        if _in_namespace(pod, namespace) and wanted.matches(pod.labels) and (names is None or named(pod, names))
    ]
    return sorted(found, key=by_creation)


def existing(pods: Iterable[PodHistory]) -> list[PodHistory]:
    """Return the pods that were there when observing ended."""
    return [pod for pod in pods if pod.exists]


def matching_nodes(record: Record, node_selector: str = "") -> list[NodeHistory]:
    """Return the nodes that existed when observing ended and match then, schedulable or not, by name."""
    wanted = selectors.parse(node_selector)
    return sorted(
        (node for node in record.nodes if node.exists and wanted.matches(node.labels)), key=lambda node: node.name
    )


def named(pod: PodHistory, patterns: Iterable[str]) -> bool:
    """Tell whether a pod bears one of the names."""
    return any(fnmatch.fnmatchcase(pod.full_name if "/" in one else pod.name, one) for one in patterns)


def by_creation(pod: PodHistory) -> tuple[float, str, str, str]:
    """Order pods in a way that does not depend on how the record lists them."""
    return pod.created_t, pod.namespace, pod.name, pod.uid


def by_binding(pod: PodHistory) -> tuple[float, int, str]:
    """Order bound pods as they were bound."""
    first = next(one for one in pod.observations if one.node)
    return first.t, first.seq, pod.uid


def described(selector: str, names: Sequence[str] | None = None, namespace: str | None = None) -> str:
    """Say which pods are meant: `pods app=web in team-a`."""
    what = " ".join(["pods", *([", ".join(names)] if names else []), *([selector] if selector else [])])
    what = "all pods" if what == "pods" else what
    return f"{what} in {namespace}" if namespace else what


def _in_namespace(pod: PodHistory, namespace: str | None) -> bool:
    return pod.namespace not in SYSTEM_NAMESPACES if namespace is None else pod.namespace == namespace
