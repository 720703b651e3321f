"""KubeSchedulerConfiguration of v1alpha1 to v1beta3: what stands at its top, and the profiles below."""

from collections.abc import Callable

from harness.scenario.problems import Path
from harness.scenario.words import shown
from harness.variant.legacy.base import KIND, V1, Draft, Spot
from harness.variant.legacy.extenders import translate_extenders
from harness.variant.legacy.names import PREEMPTION
from harness.variant.legacy.oldshape import ALPHA
from harness.variant.legacy.plugins import translate_plugins
from harness.variant.legacy.policy import symmetric_weight, tell_weights, translate_policy
from harness.variant.legacy.profile import Profile
from harness.variant.legacy.shape import CONFIG

VERSIONS = (*ALPHA, "v1beta1", "v1beta2", "v1beta3", "v1")
LIGHTER = (*ALPHA, "v1beta1", "v1beta2")
"""Versions with the smaller default weights."""

_SERVED = (
    "health and metrics are served by HTTPS only, at the flags --bind-address and --secure-port (10259 unless told)"
)
_LOCKS = {"lockObjectName": "resourceName", "lockObjectNamespace": "resourceNamespace"}
_BIND_ADDRESSES = ("healthzBindAddress", "metricsBindAddress")

FindPolicy = Callable[[Spot], Spot | None]


def translate_config(draft: Draft, spot: Spot, version: str, find_policy: FindPolicy) -> None:
    """Fill the draft from an old configuration; `find_policy` finds the Policy that `algorithmSource` names."""
    draft.config.update(apiVersion=V1, kind=KIND)
    draft.change("converted", spot.at("apiVersion"), f"was {spot.get('apiVersion')}", ("apiVersion",))
    for part in spot.parts():
        if part.key in _BIND_ADDRESSES:
            draft.change("dropped", part, _SERVED)
        elif part.key == "leaderElection":
            _leader_election(draft, part)
        elif part.key in CONFIG and part.key not in ("apiVersion", "kind", "profiles", "extenders"):
            draft.config[part.key] = part.data
    profiles = _profiles(draft, spot, version, find_policy)
    made = [profile.to_json() for profile in profiles]
    if any(made):
        draft.config["profiles"] = made
    if spot.get("extenders") is not None and version != "v1alpha1":
        translate_extenders(draft, spot.at("extenders"))


def _leader_election(draft: Draft, spot: Spot) -> None:
    made = draft.config.setdefault("leaderElection", {})
    for part in spot.parts():
        new = _LOCKS.get(part.key, part.key)
        path: Path = ("leaderElection", new)
        if part.key in _LOCKS and spot.get(new) not in (None, "", part.data):
            draft.refuse(part, f"{shown(part.data)} and {new} {shown(spot.get(new))} differ; leave one out")
        elif part.key in _LOCKS:
            made[new] = part.data
            draft.kept(part, path)
            draft.change("renamed", part, f"is {new}", path)
        elif part.key == "resourceLock" and isinstance(part.data, str) and part.data not in ("", "leases"):
            made[new] = "leases"
            text = f"was {part.data}; schedulers of both kinds do not see each other's lock"
            draft.change("converted", part, text, path)
        else:
            made[new] = part.data


def _profiles(draft: Draft, spot: Spot, version: str, find_policy: FindPolicy) -> list[Profile]:
    if version == "v1alpha1":
        found = [_alpha_profile(draft, spot, find_policy)]
    else:
        found = []
        parts = list(spot.at("profiles").parts()) if spot.get("profiles") else []
        for index, part in enumerate(parts):
            found.append(_profile(draft, part, Profile(("profiles", index)), version))
    if version in ALPHA and not found:
        found = [Profile(("profiles", 0))]
    for profile in found:
        _alpha_keys(draft, spot, profile)
    if version in LIGHTER and not found:
        tell_weights(draft, spot.at("apiVersion"), Profile(("profiles", 0)))
    return found


def _profile(draft: Draft, spot: Spot, profile: Profile, version: str) -> Profile:
    draft.kept(spot, profile.path)
    if spot.data is not None:
        rest = {key: value for key, value in spot.data.items() if key not in ("plugins", "pluginConfig")}
        profile.head.update(rest)
        translate_plugins(draft, spot, profile, version)
    if version in LIGHTER:
        tell_weights(draft, spot, profile)
    return profile


def _alpha_profile(draft: Draft, spot: Spot, find_policy: FindPolicy) -> Profile:
    profile = Profile(("profiles", 0))
    name = spot.get("schedulerName")
    if name is not None:
        profile.head["schedulerName"] = name
        place = (*profile.path, "schedulerName")
        draft.kept(spot.at("schedulerName"), place)
        draft.change("converted", spot.at("schedulerName"), "stands in a profile", place)
    symmetric_weight(draft, spot, profile)
    policy = _source(draft, spot, profile, find_policy)
    if policy is not None:
        translate_policy(draft, policy, profile)
    translate_plugins(draft, spot, profile, "v1alpha1")
    for key in ("plugins", "pluginConfig"):
        if spot.get(key):
            draft.change("converted", spot.at(key), "stands in a profile", (*profile.path, key))
    if policy is None:
        tell_weights(draft, spot.at("apiVersion"), profile)
    return profile


def _source(draft: Draft, spot: Spot, profile: Profile, find_policy: FindPolicy) -> Spot | None:
    """Return the Policy that an algorithm source names, and let the profile do what a provider did."""
    source = spot.at("algorithmSource")
    if spot.get("algorithmSource") is None:
        return None
    provider = source.get("provider")
    if source.get("policy") is not None:
        return find_policy(source.at("policy"))
    if provider == "ClusterAutoscalerProvider":
        profile.score_by("MostAllocated")
        text = "ClusterAutoscalerProvider is scoringStrategy MostAllocated of NodeResourcesFit"
        draft.change("converted", source.at("provider"), text, profile.path)
    elif provider in (None, "", "DefaultProvider"):
        draft.change("dropped", source, "the default plugins are what v1 starts with", profile.path)
    else:
        text = f"provider {shown(provider)} is none of kube-scheduler's own; list its plugins in a profile"
        draft.change("unsupported", source.at("provider"), text, profile.path)
    return None


def _alpha_keys(draft: Draft, spot: Spot, profile: Profile) -> None:
    """Move what alpha versions had at their top into a profile."""
    is_first = profile.path[-1] == 0
    off, timeout = spot.get("disablePreemption"), spot.get("bindTimeoutSeconds")
    if off:
        profile.disable("postFilter", [PREEMPTION])
        place = (*profile.path, "plugins", "postFilter")
        draft.change("converted", spot.at("disablePreemption"), f"{PREEMPTION} is disabled", place)
    elif off is not None and is_first:
        draft.change("dropped", spot.at("disablePreemption"), "false is how v1 starts", profile.path)
    if timeout is not None:
        profile.arguments_of("VolumeBinding").setdefault("bindTimeoutSeconds", timeout)
        place = (*profile.place_of("VolumeBinding"), "args", "bindTimeoutSeconds")
        draft.kept(spot.at("bindTimeoutSeconds"), place)
        draft.change("converted", spot.at("bindTimeoutSeconds"), "is an argument of VolumeBinding", place)
    if spot.get("failureDomains") is not None and is_first:
        text = "it was about an empty topologyKey, which pods cannot have any more"
        draft.change("dropped", spot.at("failureDomains"), text, profile.path)
