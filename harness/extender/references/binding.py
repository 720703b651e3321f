"""Binds pods as an extender has to: to the node it was given, only that very pod, and again without harm."""

from collections.abc import Mapping

from harness.errors import ApiError
from harness.extender.author import Binding, Pod, Refused
from harness.kube import CONFLICT, NOT_FOUND, Kube

NO_CLUSTER = "bind needs a cluster; start the extender with --kubeconfig"
NO_NODE = "the node does not exist"
NO_POD = "the pod does not exist any more"
ANOTHER_POD = "the pod was replaced by another one of the same name"
ANOTHER_NODE = "the pod is bound to another node already"


def bind(kube: Kube | None, binding: Binding, annotations: Mapping[str, str] | None = None) -> None:
    """Create the Binding; a pod that is on that node already counts as bound, as after a reply that came too late.

    Args:
        kube: the cluster.
        binding: the pod and its node.
        annotations: the API server writes them on the pod in the same step.

    Raises:
        Refused: nothing was bound, and why.
        ApiError: the API server refused it for a reason of its own.
        ClusterError: the API server does not answer.
    """
    cluster = connected(kube)
    try:
        # The API server binds to a node that does not exist, and the pod would be lost there.
        cluster.request("GET", f"/api/v1/nodes/{binding.node}")
    except ApiError as error:
        raise (Refused(NO_NODE) if error.status == NOT_FOUND else error) from error
    body = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {
            "name": binding.pod,
            "namespace": binding.namespace,
            "uid": binding.uid,
            "annotations": dict(annotations or {}),
        },
        "target": {"apiVersion": "v1", "kind": "Node", "name": binding.node},
    }
    try:
        cluster.request("POST", f"{path(binding)}/binding", body=body)
    except ApiError as error:
        if error.status == NOT_FOUND:
            raise Refused(NO_POD) from error
        if error.status != CONFLICT or not is_bound(current(cluster, binding), binding):
            raise


def connected(kube: Kube | None) -> Kube:
    """Return the cluster.

    Raises:
        Refused: the extender was started without one.
    """
    if kube is None:
        raise Refused(NO_CLUSTER)
    return kube


def current(kube: Kube, binding: Binding) -> Pod:
    """Return the pod as it is now.

    Raises:
        Refused: it is gone, or another one has its name.
    """
    try:
        pod = Pod(kube.request("GET", path(binding)))
    except ApiError as error:
        raise (Refused(NO_POD) if error.status == NOT_FOUND else error) from error
    if pod.uid != binding.uid:
        raise Refused(ANOTHER_POD)
    return pod


def is_bound(pod: Pod, binding: Binding) -> bool:
    """Return whether the pod is where it should go.

    Raises:
        Refused: it is elsewhere.
    """
    if pod.node and pod.node != binding.node:
        raise Refused(ANOTHER_NODE)
    return pod.node == binding.node


def path(binding: Binding) -> str:
    """Return the pod's path in the API."""
    return f"/api/v1/namespaces/{binding.namespace}/pods/{binding.pod}"
