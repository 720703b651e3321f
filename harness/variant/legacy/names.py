"""Names that schedulers used to know, and what took their place. From Kubernetes 1.18 to 1.23, where they ended."""

from dataclasses import dataclass

FIT = "NodeResourcesFit"
SPREAD = "PodTopologySpread"
LIMITS = "NodeVolumeLimits"
AFFINITY = "NodeAffinity"
PREEMPTION = "DefaultPreemption"
ALL = "*"

# predicate: the plugins whose Filter does the same
PREDICATES: dict[str, tuple[str, ...]] = {
    "GeneralPredicates": (FIT, "NodeName", "NodePorts", AFFINITY),
    "PodFitsResources": (FIT,),
    "HostName": ("NodeName",),
    "PodFitsHostPorts": ("NodePorts",),
    "PodFitsPorts": ("NodePorts",),
    "MatchNodeSelector": (AFFINITY,),
    "PodToleratesNodeTaints": ("TaintToleration",),
    "CheckNodeUnschedulable": ("NodeUnschedulable",),
    "NoDiskConflict": ("VolumeRestrictions",),
    "NoVolumeZoneConflict": ("VolumeZone",),
    "CheckVolumeBinding": ("VolumeBinding",),
    "NoVolumeNodeConflict": ("VolumeBinding",),
    "MatchInterPodAffinity": ("InterPodAffinity",),
    "EvenPodsSpread": (SPREAD,),
    "MaxCSIVolumeCountPred": (LIMITS,),
    "MaxEBSVolumeCount": (LIMITS,),
    "MaxGCEPDVolumeCount": (LIMITS,),
    "MaxAzureDiskVolumeCount": (LIMITS,),
    "MaxCinderVolumeCount": (LIMITS,),
}
MANDATORY = ("TaintToleration", "NodeUnschedulable")
"""Filters that a Policy could not leave out."""

_CONDITION = "the node's condition is a taint since 1.12, which TaintToleration sees"
DROPPED_PREDICATES = {
    "CheckNodeCondition": _CONDITION,
    "CheckNodeMemoryPressure": _CONDITION,
    "CheckNodeDiskPressure": _CONDITION,
    "CheckNodePIDPressure": _CONDITION,
    "PodToleratesNodeNoExecuteTaints": "TaintToleration, which is on, looks at NoExecute taints too",
}
SERVICE_AFFINITY = "no plugin keeps a service's pods on nodes of equal labels; use podAffinity in the pods"
SERVICE_ANTI_AFFINITY = (
    "no plugin spreads a service over a node label; use topologySpreadConstraints in the pods, or defaultConstraints "
    "of PodTopologySpread"
)
LABEL_PREFERENCE = "no plugin scores by the mere presence of a label; use preferred addedAffinity of NodeAffinity"

# priority: the plugin whose Score does the same
PRIORITIES: dict[str, str] = {
    "LeastRequestedPriority": FIT,
    "MostRequestedPriority": FIT,
    "RequestedToCapacityRatioPriority": FIT,
    "RequestedToCapacityRatio": FIT,
    "BalancedResourceAllocation": "NodeResourcesBalancedAllocation",
    "ImageLocalityPriority": "ImageLocality",
    "InterPodAffinityPriority": "InterPodAffinity",
    "NodeAffinityPriority": AFFINITY,
    "TaintTolerationPriority": "TaintToleration",
    "EvenPodsSpreadPriority": SPREAD,
    "SelectorSpreadPriority": SPREAD,
    "ServiceSpreadingPriority": SPREAD,
}
RATIO = "RequestedToCapacityRatio"
STRATEGIES = {
    "LeastRequestedPriority": "LeastAllocated",
    "MostRequestedPriority": "MostAllocated",
    "RequestedToCapacityRatioPriority": RATIO,
    "RequestedToCapacityRatio": RATIO,
}
DROPPED_PRIORITIES = {
    "EqualPriority": "equal points for every node decide nothing",
    "NodePreferAvoidPodsPriority": "the annotation that it read is gone; use taints on the nodes",
    "ResourceLimitsPriority": "it was an alpha feature and is gone; nothing scores by limits",
}

# score plugin: the scoring strategy of NodeResourcesFit that took its place
SCORERS = {
    "NodeResourcesLeastAllocated": "LeastAllocated",
    "NodeResourcesMostAllocated": "MostAllocated",
    RATIO: RATIO,
}
SPREADERS = ("SelectorSpread", "DefaultPodTopologySpread")
CLOUD_LIMITS = ("EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits")
GONE = {
    "NodeLabel": LABEL_PREFERENCE,
    "ServiceAffinity": SERVICE_AFFINITY,
    "NodePreferAvoidPods": DROPPED_PRIORITIES["NodePreferAvoidPodsPriority"],
    "NodeResourceLimits": DROPPED_PRIORITIES["ResourceLimitsPriority"],
}
"""Plugins without a successor, and what comes nearest."""


@dataclass(frozen=True)
class Plugin:
    """A plugin that v1 enables by default and that a Policy decides about, with the points at which it acts."""

    filters: bool = False
    scores: bool = False
    prepares_filter: bool = False
    prepares_score: bool = False


DEFAULTS: dict[str, Plugin] = {
    "NodeUnschedulable": Plugin(filters=True),
    "NodeName": Plugin(filters=True),
    "TaintToleration": Plugin(filters=True, scores=True, prepares_score=True),
    AFFINITY: Plugin(filters=True, scores=True, prepares_filter=True, prepares_score=True),
    "NodePorts": Plugin(filters=True, prepares_filter=True),
    FIT: Plugin(filters=True, scores=True, prepares_filter=True, prepares_score=True),
    "VolumeRestrictions": Plugin(filters=True, prepares_filter=True),
    LIMITS: Plugin(filters=True, prepares_filter=True),
    "VolumeBinding": Plugin(filters=True, prepares_filter=True),
    "VolumeZone": Plugin(filters=True, prepares_filter=True),
    SPREAD: Plugin(filters=True, scores=True, prepares_filter=True, prepares_score=True),
    "InterPodAffinity": Plugin(filters=True, scores=True, prepares_filter=True, prepares_score=True),
    "NodeResourcesBalancedAllocation": Plugin(scores=True, prepares_score=True),
    "ImageLocality": Plugin(scores=True),
}
HEAVIER = {"TaintToleration": 3, AFFINITY: 2, "InterPodAffinity": 2}
"""Score plugins whose default weight was 1 before v1beta3."""
