"""Request bodies as kube-scheduler sends them: PascalCase keys, explicit nulls, objects completed by the API server.

Everything here is a pure function of its arguments: the same call gives the same bytes on every machine.
"""

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

Object = dict[str, Any]

BORN_AT = "2026-01-01T00:00:00Z"
KIB = 1024
_IDS = uuid.UUID("6d1f6c1e-5d0b-5c55-9a4e-0f5b1c3f7a10")


def pod(  # noqa: PLR0913 - each one is a part of a pod that extenders decide by
    name: str = "pod-1",
    *,
    namespace: str = "default",
    uid: str | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    requests: Mapping[str, str] | None = None,
    priority: int = 0,
    node: str | None = None,
    **spec: Any,
) -> Object:
    """Return a pod as the scheduler holds it.

    Args:
        name: its name.
        namespace: its namespace.
        uid: its UID; one that follows from namespace and name unless given.
        labels: its labels.
        annotations: its annotations.
        requests: what its one container asks for, such as {"cpu": "100m"}.
        priority: its priority.
        node: the node it is bound to already, for victims.
        spec: further keys of `spec`, which replace those that stand there.
    """
    asked = dict(requests or {})
    filled = {
        "containers": [_container(asked)],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "default",
        "serviceAccount": "default",
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "tolerations": [_tolerated("not-ready"), _tolerated("unreachable")],
        "priority": priority,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        **({"nodeName": node} if node else {}),
        **spec,
    }
    metadata = _metadata(name, uid or _uid("pod", namespace, name), labels, annotations, namespace=namespace)
    metadata["generation"] = 1
    status = {"phase": "Running" if node else "Pending", "qosClass": "Burstable" if asked else "BestEffort"}
    return {"metadata": metadata, "spec": filled, "status": status}


def node(
    name: str = "node-1",
    *,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    allocatable: Mapping[str, str] | None = None,
    taints: Sequence[Mapping[str, str]] = (),
    kib: float = 0,
) -> Object:
    """Return a node as the scheduler holds it.

    Args:
        name: its name.
        labels: labels beside those that every node has.
        annotations: its annotations.
        allocatable: resources beside 8 cores, 16 GiB and 110 pods.
        taints: its taints.
        kib: how large it is to be as JSON, at least; images make up the difference, as they do on real nodes.
    """
    resources = {"cpu": "8", "memory": "16Gi", "pods": "110", **(allocatable or {})}
    own = {"kubernetes.io/arch": "amd64", "kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
    made: Object = {
        "metadata": _metadata(name, _uid("node", name), {**own, **(labels or {})}, annotations) | _managed(resources),
        "spec": {"taints": [dict(taint) for taint in taints]} if taints else {},
        "status": {
            "capacity": resources,
            "allocatable": dict(resources),
            "conditions": [
                {
                    "type": "Ready",
                    "status": "True",
                    "lastHeartbeatTime": BORN_AT,
                    "lastTransitionTime": BORN_AT,
                    "reason": "KubeletReady",
                    "message": "kubelet is posting ready status",
                }
            ],
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}, {"type": "Hostname", "address": name}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": _node_info(name),
        },
    }
    missing = int(kib * KIB) - len(orjson.dumps(made))
    if missing > 0:
        made["status"]["images"] = _images(name, missing)
    return made


def nodes(count: int, *, kib_each: float = 0) -> list[Object]:
    """Return nodes called node-1, node-2 and so on, each at least `kib_each` KiB large as JSON."""
    return [node(f"node-{number}", kib=kib_each) for number in range(1, count + 1)]


def extender_args(pod: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]], names_only: bool) -> Object:
    """Return the body of a filter or prioritize call; `names_only` is what nodeCacheCapable asks for."""
    names = [one["metadata"]["name"] for one in nodes]
    return {
        "Pod": pod,
        "Nodes": None if names_only else {"metadata": {}, "items": list(nodes)},
        "NodeNames": names if names_only else None,
    }


def binding_args(pod: Mapping[str, Any], node: str) -> Object:
    """Return the body of a bind call."""
    metadata = pod["metadata"]
    return {
        "PodName": metadata["name"],
        "PodNamespace": metadata["namespace"],
        "PodUID": metadata["uid"],
        "Node": node,
    }


def preemption_args(
    pod: Mapping[str, Any],
    victims: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    meta: bool,
    violations: Mapping[str, int] | None = None,
) -> Object:
    """Return the body of a preempt call.

    Args:
        pod: the pod that needs room.
        victims: the pods that would have to go, by node.
        meta: send only their UIDs, as for an extender that is nodeCacheCapable.
        violations: how many of a node's victims are protected by a disruption budget.
    """
    broken = violations or {}

    def candidates(shown: Any) -> Object:
        return {
            name: {"Pods": [shown(one) for one in pods], "NumPDBViolations": broken.get(name, 0)}
            for name, pods in victims.items()
        }

    return {
        "Pod": pod,
        "NodeNameToVictims": None if meta else candidates(dict),
        "NodeNameToMetaVictims": candidates(lambda one: {"UID": one["metadata"]["uid"]}) if meta else None,
    }


def encoded(arguments: Mapping[str, Any]) -> bytes:
    """Return a body in the bytes that kube-scheduler writes: Go escapes what could be HTML."""
    text = orjson.dumps(arguments)
    for character in b"<>&":
        text = text.replace(bytes([character]), b"\\u%04x" % character)
    return text


def _container(asked: Mapping[str, str]) -> Object:
    # The API server accepts an extended resource only where requests and limits are the same.
    limits = {key: value for key, value in asked.items() if "/" in key}
    resources = {"requests": dict(asked), "limits": limits}
    return {
        "name": "main",
        "image": "pause:3.10",
        "resources": {key: value for key, value in resources.items() if value},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
    }


def _metadata(
    name: str,
    uid: str,
    labels: Mapping[str, str] | None,
    annotations: Mapping[str, str] | None,
    *,
    namespace: str | None = None,
) -> Object:
    made: Object = {"name": name, "uid": uid, "resourceVersion": "1", "creationTimestamp": BORN_AT}
    optional = {"namespace": namespace, "labels": dict(labels or {}), "annotations": dict(annotations or {})}
    return made | {key: value for key, value in optional.items() if value}


def _managed(resources: Mapping[str, str]) -> Object:
    # The scheduler takes this out of pods, but not out of nodes.
    fields: Object = {"f:status": {"f:allocatable": {".": {}, **{f"f:{name}": {} for name in resources}}}}
    entry = {"manager": "kubelet", "operation": "Update", "apiVersion": "v1", "time": BORN_AT, "fieldsType": "FieldsV1"}
    return {"managedFields": [{**entry, "fieldsV1": fields, "subresource": "status"}]}


def _node_info(name: str) -> Object:
    # Go writes every one of these keys; without one of them, an extender in Go would seem to have changed the node.
    machine = uuid.uuid5(_IDS, f"machine/{name}")
    return {
        "machineID": machine.hex,
        "systemUUID": str(machine),
        "bootID": _uid("boot", name),
        "kernelVersion": "6.12.0",
        "osImage": "Linux",
        "containerRuntimeVersion": "containerd://2.1.0",
        "kubeletVersion": "v1.36.3",
        "kubeProxyVersion": "",
        "operatingSystem": "linux",
        "architecture": "amd64",
    }


def _tolerated(state: str) -> Object:
    key = f"node.kubernetes.io/{state}"
    return {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}


def _uid(*parts: str) -> str:
    return str(uuid.uuid5(_IDS, "/".join(parts)))


def _images(node: str, size: int) -> list[Object]:
    images: list[Object] = []
    while size > 0:
        digest = hashlib.sha256(f"{node}/{len(images)}".encode()).hexdigest()
        image = {"names": [f"image-{len(images)}@sha256:{digest}"], "sizeBytes": int(digest[:7], 16)}
        images.append(image)
        size -= len(orjson.dumps(image))
    return images
