"""The keys of KubeSchedulerConfiguration v1, each with what it holds; kube-scheduler decodes them strictly.

The newest supported release knows the most keys; one that an older release lacks is accepted here.
"""

from collections.abc import Mapping
from typing import Any

from harness.scenario.words import did_you_mean, listed, shown
from harness.variant.legacy.base import Draft, Spot

Shape = Any
"""A type, a mapping of keys to shapes, or a list with the shape of its items; `ANYTHING` is not looked into."""

ANYTHING = object()
DURATION = "duration"

PLUGIN = {"name": str, "weight": int}
PLUGIN_SET = {"enabled": [PLUGIN], "disabled": [PLUGIN]}
POINTS = (
    *("preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit"),
    *("preBind", "bind", "postBind", "multiPoint", "placementGenerate", "placementScore", "podGroupPostFilter"),
)
PLUGINS = dict.fromkeys(POINTS, PLUGIN_SET)
TLS = {
    "insecure": bool,
    "serverName": str,
    "certFile": str,
    "keyFile": str,
    "caFile": str,
    "certData": str,
    "keyData": str,
    "caData": str,
}
MANAGED_RESOURCE = {"name": str, "ignoredByScheduler": bool}
EXTENDER = {
    "urlPrefix": str,
    "filterVerb": str,
    "preemptVerb": str,
    "prioritizeVerb": str,
    "weight": int,
    "bindVerb": str,
    "enableHTTPS": bool,
    "tlsConfig": TLS,
    "httpTimeout": DURATION,
    "nodeCacheCapable": bool,
    "managedResources": [MANAGED_RESOURCE],
    "ignorable": bool,
}
LEADER_ELECTION = {
    "leaderElect": bool,
    "leaseDuration": DURATION,
    "renewDeadline": DURATION,
    "retryPeriod": DURATION,
    "resourceLock": str,
    "resourceName": str,
    "resourceNamespace": str,
}
CLIENT_CONNECTION = {
    "kubeconfig": str,
    "acceptContentTypes": str,
    "contentType": str,
    "qps": float,
    "burst": int,
}
PROFILE = {
    "schedulerName": str,
    "percentageOfNodesToScore": int,
    "plugins": PLUGINS,
    "pluginConfig": [{"name": str, "args": ANYTHING}],
}
CONFIG: dict[str, Shape] = {
    "apiVersion": str,
    "kind": str,
    "parallelism": int,
    "leaderElection": LEADER_ELECTION,
    "clientConnection": CLIENT_CONNECTION,
    "enableProfiling": bool,
    "enableContentionProfiling": bool,
    "percentageOfNodesToScore": int,
    "podInitialBackoffSeconds": int,
    "podMaxBackoffSeconds": int,
    "delayCacheUntilActive": bool,
    "profiles": [PROFILE],
    "extenders": [EXTENDER],
}

LABEL_ARGS = ("presentLabels", "absentLabels", "presentLabelsPreference", "absentLabelsPreference")
_TYPED = {"apiVersion": str, "kind": str}
RESOURCES = [{"name": str, "weight": int}]
SHAPE_POINTS = [{"utilization": int, "score": int}]
_STRATEGY = {"type": str, "resources": RESOURCES, "requestedToCapacityRatio": {"shape": SHAPE_POINTS}}
ARGS: dict[str, Shape] = {
    "DefaultPreemption": {**_TYPED, "minCandidateNodesPercentage": int, "minCandidateNodesAbsolute": int},
    "InterPodAffinity": {**_TYPED, "hardPodAffinityWeight": int, "ignorePreferredTermsOfExistingPods": bool},
    "NodeAffinity": {**_TYPED, "addedAffinity": ANYTHING},
    "NodeResourcesFit": {
        **_TYPED,
        "ignoredResources": [str],
        "ignoredResourceGroups": [str],
        "scoringStrategy": _STRATEGY,
    },
    "NodeResourcesBalancedAllocation": {**_TYPED, "resources": RESOURCES},
    "PodTopologySpread": {**_TYPED, "defaultConstraints": ANYTHING, "defaultingType": str},
    "VolumeBinding": {**_TYPED, "bindTimeoutSeconds": int, "shape": SHAPE_POINTS},
    "RequestedToCapacityRatio": {**_TYPED, "shape": SHAPE_POINTS, "resources": RESOURCES},
    "NodeResourcesLeastAllocated": {**_TYPED, "resources": RESOURCES},
    "NodeResourcesMostAllocated": {**_TYPED, "resources": RESOURCES},
    "NodeLabel": {**_TYPED, **{key: [str] for key in LABEL_ARGS}},
    "DynamicResources": {**_TYPED, "filterTimeout": DURATION, "bindingTimeout": DURATION},
}
"""The arguments of the plugins that kube-scheduler knows or used to know; those of others are not looked into."""

_WORDS = {str: "a string", int: "an integer", bool: "true or false", float: "a number"}


def check_shape(draft: Draft, spot: Spot, shape: Shape = CONFIG) -> None:
    """Refuse every key and type with which kube-scheduler does not start. Null stands for a key that is not given."""
    data = spot.data
    if data is None or shape is ANYTHING:
        return
    if isinstance(shape, Mapping):
        if draft.mapping(spot):
            _check_keys(draft, spot, shape)
    elif isinstance(shape, list):
        if draft.items(spot):
            for part in spot.parts():
                _check_item(draft, part, shape[0])
    elif shape == DURATION:
        if not isinstance(data, str):
            draft.refuse(spot, f'{shown(data)} seen, a duration in quotes such as "5s" expected')
    elif not _fits(data, shape):
        draft.refuse(spot, f"{shown(data)} seen, {_WORDS[shape]} expected")


def _check_item(draft: Draft, spot: Spot, shape: Shape) -> None:
    if spot.data is None and isinstance(shape, type):
        draft.refuse(spot, f"null seen, {_WORDS[shape]} expected")
    check_shape(draft, spot, shape)


def _check_keys(draft: Draft, spot: Spot, shape: Mapping[str, Shape]) -> None:
    for part in spot.parts():
        if part.key in shape:
            check_shape(draft, part, shape[part.key])
        else:
            draft.unknown(part, list(shape))
    name = spot.get("name")
    if spot.path[-2:-1] == ("pluginConfig",) and isinstance(name, str) and name in ARGS and "args" in spot.data:
        check_shape(draft, spot.at("args"), ARGS[name])


def _fits(data: Any, wanted: type) -> bool:
    # A bool is an int to Python, but not to kube-scheduler.
    if isinstance(data, bool) or wanted is bool:
        return isinstance(data, bool) and wanted is bool
    return isinstance(data, (int, float) if wanted is float else wanted)


def spelled(word: str, known: list[str]) -> str | None:
    """Return the key that a word stands for when the case of its letters does not count."""
    return next((key for key in known if key.lower() == word.lower()), None)


def unknown_value(seen: Any, known: list[str]) -> str:
    """Return the words for a value that is none of the known ones."""
    return f"{shown(seen)} is not known{did_you_mean(str(seen), known)} known: {listed(known)}"
