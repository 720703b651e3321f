"""Asks the API server whether an identity may do what a scheduler has to do, before a scheduler fails over it."""

from concurrent.futures import ThreadPoolExecutor

from harness.cluster.rights import NEEDED
from harness.kube import Kube

REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
WORKERS = 8


def missing_rights(kube: Kube, namespace: str, service_account: str) -> dict[str, list[str]]:
    """Return what a ServiceAccount may not do, by the ClusterRole that would allow it."""
    user = f"system:serviceaccount:{namespace}:{service_account}"
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"]
    asked = [(role, right) for role, rights in NEEDED.items() for right in rights]

    def allowed(right: tuple[str, str, str]) -> bool:
        group, resource, verb = right
        kind, _, subresource = resource.partition("/")
        attributes = {"group": group, "resource": kind, "subresource": subresource, "verb": verb}
        spec = {"user": user, "groups": groups, "resourceAttributes": attributes}
        body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
        return bool(kube.request("POST", REVIEWS, body=body)["status"]["allowed"])

    with ThreadPoolExecutor(WORKERS) as pool:
        answers = list(pool.map(lambda one: allowed(one[1]), asked))
    missing: dict[str, list[str]] = {}
    for (role, (_, resource, verb)), may in zip(asked, answers, strict=True):
        if not may:
            missing.setdefault(role, []).append(f"{verb} {resource}")
    return missing
