"""The keys of what came before v1, each with what it holds. Extenders have their own rules: see extenders.py."""

from harness.variant.legacy.shape import (
    ANYTHING,
    CLIENT_CONNECTION,
    CONFIG,
    LEADER_ELECTION,
    PLUGIN_SET,
    POINTS,
    PROFILE,
    RESOURCES,
    SHAPE_POINTS,
    Shape,
)

ALPHA = ("v1alpha1", "v1alpha2")
_LABELS = {"labels": [str], "presence": bool}
POLICY: dict[str, Shape] = {
    "apiVersion": str,
    "kind": str,
    "predicates": [
        {"name": str, "argument": {"serviceAffinity": {"labels": [str]}, "labelsPresence": _LABELS}},
    ],
    "priorities": [
        {
            "name": str,
            "weight": int,
            "argument": {
                "serviceAntiAffinity": {"label": str},
                "labelPreference": {"label": str, "presence": bool},
                "requestedToCapacityRatioArguments": {"shape": SHAPE_POINTS, "resources": RESOURCES},
            },
        }
    ],
    "extenders": [ANYTHING],
    "hardPodAffinitySymmetricWeight": int,
    "alwaysCheckAllPredicates": bool,
}
_SOURCE = {
    "provider": str,
    "policy": {"file": {"path": str}, "configMap": {"namespace": str, "name": str}},
}
_LOCK = {**LEADER_ELECTION, "lockObjectName": str, "lockObjectNamespace": str}
_SAME = {key: shape for key, shape in CONFIG.items() if key not in ("profiles", "extenders")}


def shape_of(version: str) -> Shape:
    """Return the keys of a Policy or of a version before v1, and what they hold."""
    if version == "Policy":
        return POLICY
    plugins = dict.fromkeys((*POINTS, *(("unreserve",) if version in ALPHA else ())), PLUGIN_SET)
    made: dict[str, Shape] = {**_SAME, "leaderElection": _LOCK, "clientConnection": CLIENT_CONNECTION}
    if version != "v1beta3":
        made |= {"healthzBindAddress": str, "metricsBindAddress": str}
    if version in ALPHA:
        made |= {"disablePreemption": bool, "bindTimeoutSeconds": int, "failureDomains": str}
    if version == "v1alpha1":
        made |= {"schedulerName": str, "algorithmSource": _SOURCE, "hardPodAffinitySymmetricWeight": int}
        return made | {"plugins": plugins, "pluginConfig": PROFILE["pluginConfig"]}
    return made | {"profiles": [{**PROFILE, "plugins": plugins}], "extenders": [ANYTHING]}
