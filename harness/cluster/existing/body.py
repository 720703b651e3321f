"""Translates what is sent to a shared cluster and what comes back, so that a scenario sees only its own world. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.cluster.existing.names import AS_LABEL, DEFAULT_SCHEDULER, RUN_LABEL, Names
from harness.kube import Object

NAME_LABEL = "kubernetes.io/metadata.name"
PLAYED = "kwok.x-k8s.io/node"
# Their keys are the user's own words, whatever they look like.
FREE = frozenset(
    {"annotations", "binaryData", "data", "labels", "managedFields", "matchLabels", "nodeSelector", "stringData"}
)


@dataclass(frozen=True)
class PodRules:
    """What is put into every pod of a run: the schedulers that have other names here, and which nodes it may go to."""

    schedulers: Mapping[str, str] = field(default_factory=dict)
    own_nodes: bool = False


def sent(value: Any, names: Names, rules: PodRules) -> Any:
    """Return a body as the cluster is to get it; the one that is given stays as it is."""
    if isinstance(value, dict):
        made = {key: _part(key, part, names, rules) for key, part in value.items()}
        return _pod(made, names, rules) if isinstance(value.get("containers"), list) else made
    if isinstance(value, list):
        return [sent(part, names, rules) for part in value]
    return names.account(value) if isinstance(value, str) else value


def _part(key: str, value: Any, names: Names, rules: PodRules) -> Any:
    if key in FREE:
        return value
    if key == "namespace" and isinstance(value, str) and value:
        return names.real(value)
    if key == "namespaces" and isinstance(value, list) and all(isinstance(one, str) for one in value):
        return [names.real(one) for one in value]
    if key == "namespaceSelector" and isinstance(value, dict):
        return _selector(value, names)
    return sent(value, names, rules)


def _selector(selector: Object, names: Names) -> Object:
    """Return a selector of namespaces that selects none but the run's own; one of every namespace means those."""
    labels = {
        key: names.real(value) if key == NAME_LABEL else value
        for key, value in (selector.get("matchLabels") or {}).items()
    }
    expressions = [
        {**one, "values": [names.real(value) for value in one.get("values") or ()]}
        if one.get("key") == NAME_LABEL
        else one
        for one in selector.get("matchExpressions") or ()
    ]
    made: Object = {**selector, "matchLabels": {**labels, RUN_LABEL: names.run}}
    return {**made, "matchExpressions": expressions} if expressions else made


def _pod(spec: Object, names: Names, rules: PodRules) -> Object:
    wanted = rules.schedulers.get(spec.get("schedulerName") or DEFAULT_SCHEDULER)
    made = {**spec, "schedulerName": wanted} if wanted else spec
    if not rules.own_nodes:
        return made
    made = {**made, "tolerations": [*(spec.get("tolerations") or ()), toleration(names)]}
    if spec.get("nodeName"):
        # Whoever names a node does not ask a scheduler.
        return made
    return {**made, "nodeSelector": {**(spec.get("nodeSelector") or {}), RUN_LABEL: names.run}}


def toleration(names: Names) -> Object:
    """Return what lets a pod onto the run's own nodes."""
    return {"key": RUN_LABEL, "operator": "Equal", "value": names.run, "effect": "NoSchedule"}


def marked(item: Object, names: Names) -> Object:
    """Return an object that is known as the run's own."""
    metadata = item.get("metadata") or {}
    return {**item, "metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), RUN_LABEL: names.run}}}


def namespace(item: Object, names: Names) -> Object:
    """Return a Namespace as the cluster is to get it."""
    metadata = item.get("metadata") or {}
    name = str(metadata.get("name", ""))
    made = marked({**item, "metadata": {**metadata, "name": names.real(name)}}, names)
    made["metadata"]["labels"][AS_LABEL] = names.shown(name)
    return made


def own_node(item: Object, names: Names) -> Object:
    """Return a Node that is played, and that nobody else's pods go to."""
    made = marked(item, names)
    made["metadata"]["annotations"] = {**(made["metadata"].get("annotations") or {}), PLAYED: "fake"}
    spec = item.get("spec") or {}
    taint = {"key": RUN_LABEL, "value": names.run, "effect": "NoSchedule"}
    return {**made, "spec": {**spec, "taints": [*(spec.get("taints") or ()), taint]}}


def shown(item: Object, plural: str, names: Names) -> Object:
    """Change an object of the cluster into the one that the scenario speaks of, and return it."""
    metadata = item.get("metadata") or {}
    # Who set which field is half of a pod's size, and nobody here asks.
    metadata.pop("managedFields", None)
    if "namespace" in metadata:
        metadata["namespace"] = names.shown(metadata["namespace"])
    match plural:
        case "namespaces":
            _shown_namespace(metadata, names)
        case "events":
            _shown_event(item, names)
        case "pods":
            _shown_pod(item, names)
        case "nodes":
            _shown_node(item)
    return item


def _shown_namespace(metadata: Object, names: Names) -> None:
    metadata["name"] = names.shown(metadata.get("name", ""))
    labels = metadata.get("labels") or {}
    for key in (RUN_LABEL, AS_LABEL):
        labels.pop(key, None)
    if NAME_LABEL in labels:
        labels[NAME_LABEL] = metadata["name"]


def _shown_event(item: Object, names: Names) -> None:
    for key in ("involvedObject", "regarding", "related"):
        about = item.get(key)
        if about and about.get("namespace"):
            about["namespace"] = names.shown(about["namespace"])
    for key in ("message", "note", "reportingComponent", "reportingController"):
        if item.get(key):
            item[key] = names.told(item[key])
    source = item.get("source")
    if source and source.get("component"):
        source["component"] = names.told(source["component"])


def _shown_pod(item: Object, names: Names) -> None:
    spec = item.get("spec") or {}
    if spec.get("schedulerName"):
        spec["schedulerName"] = names.told(spec["schedulerName"])


def _shown_node(item: Object) -> None:
    (item["metadata"].get("labels") or {}).pop(RUN_LABEL, None)
    spec = item.get("spec") or {}
    if any(taint["key"] == RUN_LABEL for taint in spec.get("taints") or ()):
        spec["taints"] = [taint for taint in spec["taints"] if taint["key"] != RUN_LABEL]
