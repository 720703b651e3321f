"""Asks the API server, before anything is done, whether the user may do all that a run will need."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import yaml

from harness.cluster.base import ExistingSpec
from harness.cluster.rights import NEEDED
from harness.errors import InputError
from harness.kube import Kube

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
WORKERS = 8
WORKLOADS = ("deployments", "replicasets", "statefulsets", "daemonsets")
# Without these nothing can schedule.
BARE = ("nodes", "pods", "pods/binding")
ROLE = "scheduler-harness"


@dataclass(frozen=True, order=True)
class Right:
    """One thing to be done; `namespace` is empty for all of them, or for what is in none."""

    group: str
    resource: str
    verb: str
    namespace: str = ""

    def __str__(self) -> str:
        group = f".{self.group}" if self.group else ""
        where = f" in namespace {self.namespace}" if self.namespace else ""
        return f"{self.verb} {self.resource}{group}{where}"


def needed(spec: ExistingSpec, namespace: str) -> list[Right]:
    """Return what every run needs, and what is needed beside that for what the user allows."""
    return sorted({*_always(namespace), *(_cluster_wide(spec) if spec.allow_cluster_wide else ())})


def needed_by_scheduler(*, stock: bool = True) -> list[Right]:
    """Return what a scheduler needs that works with the user's own rights; less, if it is no kube-scheduler."""
    every = [Right(*right) for rights in NEEDED.values() for right in rights]
    return [right for right in every if stock or right.resource in BARE]


def _always(namespace: str) -> Iterator[Right]:
    yield from (Right("", "namespaces", verb) for verb in ("create", "delete", "get", "list"))
    yield from (Right("", "nodes", verb) for verb in ("get", "list", "watch"))
    watched = [("", "pods"), ("", "events"), *(("apps", one) for one in WORKLOADS), ("batch", "jobs")]
    for group, resource in watched:
        # Over all namespaces: those of the run come and go, and what belongs to others is left out here.
        yield from (Right(group, resource, verb) for verb in ("list", "watch"))
    made = [("", "pods"), ("", "configmaps"), *(("apps", one) for one in WORKLOADS), ("batch", "jobs")]
    for group, resource in made:
        yield from (Right(group, resource, verb, namespace) for verb in ("create", "patch", "delete"))
    yield Right("", "pods/eviction", "create", namespace)
    yield Right("", "events", "delete", namespace)
    yield Right("", "serviceaccounts", "list", namespace)


def _cluster_wide(spec: ExistingSpec) -> Iterator[Right]:
    yield Right("", "nodes", "patch")
    yield from (Right("scheduling.k8s.io", "priorityclasses", verb) for verb in ("create", "get", "delete"))
    if spec.kwok_nodes:
        yield from (Right("", "nodes", verb) for verb in ("create", "delete", "update"))
        yield from (Right("", resource, "patch") for resource in ("nodes/status", "pods/status", "pods"))
        # Pods of others that follow every node, such as a DaemonSet's, go with the nodes.
        yield Right("", "pods", "delete")
        yield from (
            Right("coordination.k8s.io", "leases", verb) for verb in ("create", "get", "list", "update", "watch")
        )


def missing(kube: Kube, rights: Sequence[Right]) -> list[Right]:
    """Return those of the rights that the user does not have."""

    def allowed(right: Right) -> bool:
        resource, _, subresource = right.resource.partition("/")
        attributes = {
            "group": right.group,
            "resource": resource,
            "subresource": subresource,
            "verb": right.verb,
            "namespace": right.namespace,
        }
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        return bool(kube.request("POST", REVIEWS, body=body)["status"]["allowed"])

    with ThreadPoolExecutor(WORKERS) as pool:
        answers = list(pool.map(allowed, rights))
    return [right for right, may in zip(rights, answers, strict=True) if not may]


def require(kube: Kube, rights: Sequence[Right], why: str) -> None:
    """Make sure that the user may do everything that is needed.

    Raises:
        InputError: not everything; names all that is missing, with a ClusterRole that grants it.
    """
    lacking = missing(kube, rights)
    if lacking:
        raise InputError(
            f"{why}: you may not {'; not '.join(map(str, lacking))}. Ask for a ClusterRole such as this, bound to you "
            f"by a ClusterRoleBinding:\n{cluster_role(lacking)}"
        )


def cluster_role(rights: Sequence[Right]) -> str:
    """Return a ClusterRole, as YAML, that grants rights."""
    verbs: dict[tuple[str, str], set[str]] = {}
    for right in rights:
        verbs.setdefault((right.group, right.resource), set()).add(right.verb)
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (group, resource), allowed in sorted(verbs.items()):
        together.setdefault((group, tuple(sorted(allowed))), []).append(resource)
    rules = [
        {"apiGroups": [group], "resources": resources, "verbs": list(allowed)}
        for (group, allowed), resources in together.items()
    ]
    document = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": ROLE},
        "rules": rules,
    }
    return yaml.safe_dump(document, sort_keys=False, default_flow_style=None)
