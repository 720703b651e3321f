"""Takes the scheduler's sentence about an unschedulable pod apart, so that people read causes instead of prose.

kube-scheduler joins everything it knows into one string (FitError.Error in pkg/scheduler/framework/types.go):
`0/X nodes are available: <PreFilter text>. | <count reason, ...>. <PostFilter text, ...>`. A node may count under
several reasons, so counts can add up to more than X. Reasons no plugin of Kubernetes gives come from an extender or
from a plugin out of tree.
"""

import re
from dataclasses import dataclass

_HEAD = re.compile(r"0/(?P<total>\d+) nodes are available(?::\s*(?P<rest>.*))?", re.DOTALL)
_PREEMPTION = re.compile(r"(?:^|\s)preemption: ")
# What the PostFilter of DynamicResources says about every pod, with claims or without; it explains nothing.
_NOISE = re.compile(r"(?:^|,?\s+)(?:no new claims to deallocate|plugin disabled|still not schedulable),?\s*$")
_COUNTED = re.compile(r"(?P<nodes>\d+) (?P<text>.+)", re.DOTALL)
_NAMED_PLUGIN = re.compile(r"node\(s\) didn't satisfy plugin(?:\(s\))? \[?(?P<names>[^\]]+?)\]?(?: simultaneously)?")
_OPENING = "{[("
_CLOSING = "}])"

# Every reason an in-tree plugin of Kubernetes 1.36 can give, and those of the neighbouring versions, as full matches.
# The texts stand as ErrReason constants and literals in pkg/scheduler/framework/plugins/*.
_REASONS: tuple[tuple[str, str], ...] = (
    (r"Insufficient \S+", "NodeResourcesFit"),
    (r"Too many pods", "NodeResourcesFit"),
    (r"Pod has a restartable init container and the SidecarContainers feature is disabled", "NodeResourcesFit"),
    (r"node\(s\) had untolerated taint.*", "TaintToleration"),
    (r"node\(s\) had taints that the pod didn't tolerate", "TaintToleration"),
    (r"node\(s\) were unschedulable", "NodeUnschedulable"),
    (r"node\(s\) had unknown conditions", "NodeUnschedulable"),
    (r"node\(s\) didn't match Pod's node affinity/selector", "NodeAffinity"),
    (r"node\(s\) didn't match scheduler-enforced node affinity", "NodeAffinity"),
    (r"pod affinity terms conflict", "NodeAffinity"),
    (r"node\(s\) didn't match the requested node name", "NodeName"),
    (r"node\(s\) didn't have free ports for the requested pod ports", "NodePorts"),
    (r"node\(s\) didn't match Pod's required features", "NodeDeclaredFeatures"),
    (r"node\(s\) didn't match pod topology spread constraints.*", "PodTopologySpread"),
    (r"node\(s\) didn't satisfy existing pods anti-affinity rules", "InterPodAffinity"),
    (r"node\(s\) didn't match pod (anti-)?affinity rules", "InterPodAffinity"),
    (r"node\(s\) exceed max volume count", "NodeVolumeLimits"),
    (r"\S+ CSI driver is not installed on the node", "NodeVolumeLimits"),
    (r"node\(s\) didn't find available persistent volumes to bind", "VolumeBinding"),
    (r"node\(s\) didn't match PersistentVolume's node affinity", "VolumeBinding"),
    (r"node\(s\) had volume node affinity conflict", "VolumeBinding"),
    (r"node\(s\) did not have enough free storage", "VolumeBinding"),
    (r"node\(s\) unavailable due to one or more pvc\(s\) bound to non-existent pv\(s\)", "VolumeBinding"),
    (r"pod has unbound immediate PersistentVolumeClaims.*", "VolumeBinding"),
    (r"persistentvolumeclaim .*", "VolumeBinding"),
    (r"waiting for ephemeral volume controller to create the persistentvolumeclaim .*", "VolumeBinding"),
    (r"node\(s\) had no available disk", "VolumeRestrictions"),
    (r"node\(s\) unavailable due to PersistentVolumeClaim with ReadWriteOncePod .*", "VolumeRestrictions"),
    (r"node\(s\) had no available volume zone", "VolumeZone"),
    (r"PersistentVolume(Claim)? had no .*", "VolumeZone"),
    (r"VolumeBindingMode not set for StorageClass .*", "VolumeZone"),
    (r"resource ?claim.*", "DynamicResources"),
    (r"request \S+: device class \S+ does not exist", "DynamicResources"),
    (r"node allocatable resource claim .*", "DynamicResources"),
    (r"claim \S+: node-allocatable resource claim .*", "DynamicResources"),
    (r"pod level request for \S+ is insufficient to cover .*DRA requests", "DynamicResources"),
    (r"asked by caller to stop allocating devices: .*", "DynamicResources"),
    (r"(deallocation|deletion) of ResourceClaim completed", "DynamicResources"),
    (r"cannot (allocate all claims|schedule extended resource claim|fit resource)", "DynamicResources"),
    (r"waiting for (pods's pod group|minCount pods from a gang) .*", "GangScheduling"),
    (r"waiting for scheduling gates: .*", "SchedulingGates"),
    (r"Scheduling is blocked due to non-empty scheduling gates", "SchedulingGates"),
    (r"waiting for the preemption for this pod( group)? to be finished", "DefaultPreemption"),
    (r"No preemption victims found for incoming \S+", "DefaultPreemption"),
    (r"Preemption is not helpful for scheduling", "DefaultPreemption"),
    (r"no candidate node for preemption", "DefaultPreemption"),
    (r"not eligible due to .*", "DefaultPreemption"),
)
_PLUGINS = tuple((re.compile(pattern, re.DOTALL), plugin) for pattern, plugin in _REASONS)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why some nodes were refused; `plugin` is None when no in-tree plugin speaks so."""

    nodes: int
    text: str
    plugin: str | None

    def __str__(self) -> str:
        return f"{self.nodes} {self.text}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """One message taken apart.

    `total` is the number of nodes looked at, None when the message is of another shape. `general` is what was said
    about the pod as a whole: a PreFilter text, a scheduler error, or a message of unknown shape.
    """

    message: str
    total: int | None
    reasons: tuple[Reason, ...]
    general: str | None
    general_plugin: str | None
    preemption: str | None
    preemption_reasons: tuple[Reason, ...]

    @property
    def plugins(self) -> tuple[str, ...]:
        """The in-tree plugins that refused, in the order of the message."""
        named = [*(reason.plugin for reason in self.reasons), self.general_plugin]
        return tuple(dict.fromkeys(name for name in named if name))

    def by_plugin(self) -> dict[str | None, tuple[Reason, ...]]:
        """Group the reasons by the plugin that gave them."""
        groups: dict[str | None, list[Reason]] = {}
        for reason in self.reasons:
            groups.setdefault(reason.plugin, []).append(reason)
        return {plugin: tuple(reasons) for plugin, reasons in groups.items()}

    def summary(self) -> str:
        """Say it in one line: `of 3 nodes: NodeResourcesFit 2 Insufficient cpu; TaintToleration 1 node(s) had …`."""
        if not self.reasons:
            return f"{self.general_plugin}: {self.general}" if self.general_plugin else self.general or self.message
        parts = [
            f"{plugin or UNKNOWN_PLUGIN} {', '.join(str(reason) for reason in reasons)}"
            for plugin, reasons in self.by_plugin().items()
        ]
        return f"of {self.total} nodes: {'; '.join(parts)}"


UNKNOWN_PLUGIN = "extender or out-of-tree plugin"


def explain(message: str) -> Explanation:
    """Take a FailedScheduling or PodScheduled message apart; text of an unknown shape ends up in `general`."""
    body, preemption = _split_preemption(message.strip())
    head = _HEAD.match(body)
    if head is None:
        general = _without_stop(body) or None
        return Explanation(
            message=message,
            total=None,
            reasons=(),
            general=general,
            general_plugin=plugin_of(general) if general else None,
            preemption=preemption,
            preemption_reasons=_preemption_reasons(preemption),
        )
    reasons, general = _reasons(_without_stop(head["rest"] or ""))
    return Explanation(
        message=message,
        total=int(head["total"]),
        reasons=reasons,
        general=general,
        general_plugin=plugin_of(general) if general else None,
        preemption=preemption,
        preemption_reasons=_preemption_reasons(preemption),
    )


def plugin_of(reason: str) -> str | None:
    """Return the in-tree plugin that gives this reason, or None."""
    named = _NAMED_PLUGIN.fullmatch(reason)
    if named:
        # PreFilter results name their plugins themselves, separated by blanks as Go prints a slice.
        return ", ".join(named["names"].split())
    return next((plugin for pattern, plugin in _PLUGINS if pattern.fullmatch(reason)), None)


def _split_preemption(message: str) -> tuple[str, str | None]:
    found = _PREEMPTION.search(message)
    if found is None:
        return _NOISE.sub("", message), None
    body, preemption = message[: found.start()], message[found.end() :]
    return _NOISE.sub("", body).rstrip(" ,"), _NOISE.sub("", preemption).strip(" ,") or None


def _preemption_reasons(preemption: str | None) -> tuple[Reason, ...]:
    head = _HEAD.match(preemption) if preemption else None
    return _reasons(_without_stop(head["rest"] or ""))[0] if head else ()


def _reasons(text: str) -> tuple[tuple[Reason, ...], str | None]:
    """Return the counted reasons and the text that follows them, or the text itself when it does not count nodes."""
    parts = _split_reasons(text)
    general: str | None = None
    if parts:
        # A PostFilter plugin out of tree says what it likes after the last reason's full stop.
        head, stop, tail = parts[-1].partition(". ")
        counted_head = _COUNTED.fullmatch(head)
        if stop and counted_head and plugin_of(counted_head["text"]):
            parts[-1], general = head, tail
    counted = [_COUNTED.fullmatch(part) for part in parts]
    found = [match for match in counted if match]
    if not found or len(found) < len(counted):
        return (), text or None
    return tuple(Reason(int(one["nodes"]), one["text"], plugin_of(one["text"])) for one in found), general


def _split_reasons(text: str) -> list[str]:
    """Split at commas that begin a new count; commas inside brackets or of a reason's own prose stay."""
    parts: list[str] = []
    depth = 0
    start = 0
    for place, character in enumerate(text):
        if character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth = max(depth - 1, 0)
        elif character == "," and depth == 0 and re.match(r", \d+ ", text[place : place + 16]):
            parts.append(text[start:place])
            start = place + 2
    return [*parts, text[start:]] if text else []


def _without_stop(text: str) -> str:
    return text.strip().removesuffix(".")
