"""What the harness changes in a new kind cluster: who may read schedulers' pages, and where the system's pods run."""

from harness.clock import WaitTimeoutError, wait_until
from harness.cluster.kind.config import CONTROL_PLANE
from harness.cluster.kind.inventory import is_own_namespace
from harness.cluster.kind.pods import NAMESPACE
from harness.errors import ApiError, ClusterError
from harness.kube import CONFLICT, Kube, Object

READER, SCHEDULER = "harness-reader", "harness-scheduler"
TOKEN_SECONDS = 24 * 3600
ROLLOUT_SECONDS = 180.0
DAEMON_SETS = f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets"
CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane"
_GROUP = "rbac.authorization.k8s.io"


def keep_to_control_plane(kube: Kube) -> None:
    """Keep what the system runs off the workers.

    Pods of its DaemonSets would pass through the scheduler under test, and its extender, whenever a worker becomes a
    node. What they have set up in a worker's network stays.
    """
    change = {"spec": {"template": {"spec": {"nodeSelector": {CONTROL_PLANE_LABEL: ""}}}}}
    for item in kube.items(DAEMON_SETS):
        kube.patch(f"{DAEMON_SETS}/{item['metadata']['name']}", change)
    _bring_back_strays(kube)


def _bring_back_strays(kube: Kube) -> None:
    """Put pods of the system's Deployments that are not on the control plane there, without any scheduler.

    That takes a rollout, so it is done only where kube-scheduler had workers to choose from when it placed them. They
    would be made anew when their worker is parked, and pass through the scheduler under test.
    """
    strays = [
        pod
        for pod in kube.items("/api/v1/pods")
        if is_own_namespace(pod)
        and any(owner["kind"] == "ReplicaSet" for owner in pod["metadata"].get("ownerReferences") or ())
        and pod["spec"].get("nodeName") != CONTROL_PLANE
    ]
    for namespace in sorted({pod["metadata"]["namespace"] for pod in strays}):
        folder = f"/apis/apps/v1/namespaces/{namespace}/deployments"
        for item in kube.items(folder):
            path = f"{folder}/{item['metadata']['name']}"
            kube.patch(path, {"spec": {"template": {"spec": {"nodeName": CONTROL_PLANE}}}})
            _await_rollout(kube, path)


def _await_rollout(kube: Kube, path: str) -> None:
    def is_done() -> bool:
        item = kube.request("GET", path)
        status = item.get("status", {})
        if status.get("observedGeneration", 0) < item["metadata"].get("generation", 0):
            return False
        return bool(status.get("replicas", 0) == status.get("updatedReplicas", 0) == item["spec"].get("replicas", 1))

    try:
        wait_until(is_done, what=f"pods of {path} on the control plane", timeout_seconds=ROLLOUT_SECONDS)
    except WaitTimeoutError as error:
        raise ClusterError(str(error)) from error


def admit_readers(kube: Kube) -> str:
    """Return a token that may read the pages of every scheduler."""
    rule = {"nonResourceURLs": ["*"], "verbs": ["get"]}
    role = {"apiVersion": f"{_GROUP}/v1", "kind": "ClusterRole", "metadata": {"name": READER}, "rules": [rule]}
    _make(kube, role)
    return _token(kube, READER, [READER])


def scheduler_token(kube: Kube) -> str:
    """Return a token with the rights of a scheduler, for extenders that bind."""
    return _token(kube, SCHEDULER, ["system:kube-scheduler", "system:volume-scheduler"])


def _token(kube: Kube, account: str, roles: list[str]) -> str:
    metadata = {"name": account, "namespace": NAMESPACE}
    _make(kube, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    subject = {"kind": "ServiceAccount", "name": account, "namespace": NAMESPACE}
    for index, role in enumerate(roles):
        _make(
            kube,
            {
                "apiVersion": f"{_GROUP}/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {"name": f"{account}-{index + 1}"},
                "subjects": [subject],
                "roleRef": {"kind": "ClusterRole", "name": role, "apiGroup": _GROUP},
            },
        )
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": TOKEN_SECONDS},
    }
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{account}/token"
    return str(kube.request("POST", path, body=body)["status"]["token"])


def _make(kube: Kube, item: Object) -> None:
    try:
        kube.create(item)
    except ApiError as error:
        # There from an earlier run on a cluster that was kept.
        if error.status != CONFLICT:
            raise
