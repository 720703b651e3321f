"""Profiles of v1alpha1 to v1beta3: plugins by point, some of which have gone or go by another name."""

import copy
from collections.abc import Mapping
from typing import Any

from harness.scenario.words import shown
from harness.variant.legacy import names
from harness.variant.legacy.base import GROUP, V1, Draft, Spot
from harness.variant.legacy.names import AFFINITY, FIT, LIMITS, SPREAD
from harness.variant.legacy.oldshape import ALPHA
from harness.variant.legacy.profile import Profile
from harness.variant.legacy.shape import LABEL_ARGS

# v1alpha1 called the point before scoring postFilter, and undid reservations at a point of its own.
ALPHA_POINTS = {"postFilter": "preScore", "unreserve": "reserve"}


def translate_plugins(draft: Draft, spot: Spot, profile: Profile, version: str) -> None:
    """Add `plugins` and `pluginConfig` of an old profile to the new one."""
    configs = _configs(draft, spot)
    for point in _given(spot, "plugins"):
        _point(draft, point, profile, version)
    for name, part in configs.items():
        _arguments(draft, part, name, profile)
    _scoring(draft, spot, profile, configs)
    _labels(draft, profile, configs.get("NodeLabel"))


def _configs(draft: Draft, spot: Spot) -> dict[str, Spot]:
    """Return the places of the arguments, by plugin."""
    found: dict[str, Spot] = {}
    for part in _given(spot, "pluginConfig"):
        name = part.get("name")
        if not name:
            draft.refuse(part, f"name: {shown(name)} seen, the name of a plugin expected")
        elif name in found:
            draft.refuse(part, f"arguments of {shown(name)} are given twice; leave one out")
        else:
            found[name] = part
    return found


def _given(spot: Spot, key: str) -> list[Spot]:
    """Return the items of a list, or the values of a mapping, that are not null."""
    return [part for part in spot.at(key).parts() if part.data is not None] if spot.get(key) else []


def _point(draft: Draft, spot: Spot, profile: Profile, version: str) -> None:
    new = spot.key
    if new == "unreserve" or (version == "v1alpha1" and new in ALPHA_POINTS):
        new = ALPHA_POINTS[new]
        draft.change("renamed", spot, f"is {new}", (*profile.path, "plugins", new))
    # What is disabled first, since it decides what becomes of the rest.
    for chosen in ("disabled", "enabled"):
        for part in _given(spot, chosen):
            if chosen == "enabled" or not _disabled(draft, part, profile, new, version):
                _plugin(draft, part, profile, new, enabled=chosen == "enabled")


def _disabled(draft: Draft, part: Spot, profile: Profile, point: str, version: str) -> bool:
    """Do what disabling a plugin without a successor of its own meant; return whether there was anything to do."""
    if part.get("name") not in names.SPREADERS or version not in ALPHA or point != "score":
        return False
    profile.arguments_of(SPREAD)["defaultingType"] = "List"
    text = f"without {part.get('name')}, pods that name no constraints are not spread: defaultingType List"
    draft.change("converted", part, text, profile.place_of(SPREAD))
    return True


def _plugin(draft: Draft, part: Spot, profile: Profile, point: str, *, enabled: bool) -> None:
    name, place = part.get("name"), (*profile.path, "plugins", point)
    if name in names.SCORERS and point == "score":
        # Decided when all are known: there is one strategy for what used to be three plugins.
        return
    if name in names.CLOUD_LIMITS and enabled:
        profile.enable(point, LIMITS)
        draft.change("converted", part, f"{name} is part of {LIMITS}", place)
    elif name in names.SPREADERS and enabled and profile.clears(point):
        profile.enable(point, SPREAD, part.get("weight"))
        draft.change("converted", part, f"{name} is {SPREAD}, which spreads by default", place)
    elif name in names.SPREADERS and enabled:
        draft.change("dropped", part, f"{name} is {SPREAD}, which is on and spreads by default", place)
    elif name in {*names.CLOUD_LIMITS, *names.SPREADERS, *names.GONE, *names.SCORERS} and not enabled:
        draft.change("dropped", part, f"{name} is gone, so that there is nothing to disable", place)
    elif name == "NodeLabel" and point != "score":
        draft.change("converted", part, f"NodeLabel is addedAffinity of {AFFINITY}", place)
    elif name in names.GONE:
        draft.change("unsupported", part, f"{name}: {names.GONE[name]}", place)
    else:
        _same(draft, part, profile, point, enabled=enabled)


def _same(draft: Draft, part: Spot, profile: Profile, point: str, *, enabled: bool) -> None:
    chosen = profile.points.setdefault(point, {}).setdefault("enabled" if enabled else "disabled", [])
    where = (*profile.path, "plugins", point, "enabled" if enabled else "disabled", len(chosen))
    draft.kept(part, where)
    chosen.append(dict(part.data))


def _arguments(draft: Draft, part: Spot, name: str, profile: Profile) -> None:
    if name in names.SCORERS or name == "NodeLabel":
        return
    if name in {*names.GONE, *names.CLOUD_LIMITS, *names.SPREADERS}:
        text = f"arguments of {name}: {names.GONE.get(name, 'the plugin has gone')}"
        draft.change("unsupported", part, text, (*profile.path, "pluginConfig"))
        return
    args = part.get("args")
    # A Policy, or a plugin that is gone, may have given it arguments before.
    before = profile.arguments.get(name)
    profile.arguments[name] = {**(before or {}), **copy.deepcopy(args)} if isinstance(args, dict) else args or before
    place = (*profile.place_of(name), "args")
    draft.kept(part, place[:-1])
    if not isinstance(args, dict):
        return
    version = args.get("apiVersion")
    if isinstance(version, str) and version.startswith(f"{GROUP}/") and version != V1:
        profile.arguments[name]["apiVersion"] = V1
        inner = part.at("args").at("apiVersion")
        draft.change("converted", inner, f"was {version}", (*place, "apiVersion"))
    if name == SPREAD and args.get("defaultConstraints") and not args.get("defaultingType"):
        profile.arguments[name]["defaultingType"] = "List"
        text = "defaultConstraints used to imply defaultingType List, which has to be said now"
        draft.change("default", part.at("args"), text, (*place, "defaultingType"))


def _scoring(draft: Draft, spot: Spot, profile: Profile, configs: Mapping[str, Spot]) -> None:
    """Make one scoring strategy of what used to be three plugins."""
    enabled, disabled = _scorers(spot, "enabled"), _scorers(spot, "disabled")
    place = (*profile.path, "plugins", "score")
    by_default = "NodeResourcesLeastAllocated"
    keeps_default = not profile.clears("score") and by_default not in {*enabled, *disabled}
    for name, part in disabled.items():
        if name == by_default and not enabled:
            profile.disable("score", [FIT])
            draft.change("converted", part, f"{name} is the score of {FIT}", place)
        else:
            draft.change("dropped", part, f"{name} is a scoringStrategy of {FIT}, which has one", place)
    chosen = max(
        enabled, key=lambda name: enabled[name].get("weight") or 1, default=by_default if keeps_default else None
    )
    for name, part in enabled.items():
        strategy = names.SCORERS[name]
        if name == chosen:
            profile.enable("score", FIT, part.get("weight"))
            draft.change("converted", part, f"{name} is scoringStrategy {strategy} of {FIT}", place)
        else:
            draft.change("unsupported", part, f"{name}: {FIT} has one scoringStrategy, which is {chosen}'s", place)
    if enabled and keeps_default:
        text = f"{by_default}, on by default, scored as well; {FIT} has one scoringStrategy"
        draft.change("unsupported", next(iter(enabled.values())), text, place)
    _scoring_arguments(draft, profile, configs, chosen if enabled or chosen in configs else None)


def _scoring_arguments(draft: Draft, profile: Profile, configs: Mapping[str, Spot], chosen: str | None) -> None:
    for name in names.SCORERS:
        if name in configs and name != chosen:
            draft.change("dropped", configs[name], f"{name} did not score", (*profile.path, "pluginConfig"))
    if chosen is None:
        return
    given = configs[chosen].get("args") if chosen in configs else None
    if "scoringStrategy" in profile.arguments_of(FIT):
        part = configs.get(chosen) or configs[FIT]
        draft.change(
            "unsupported", part, f"{FIT} has a scoringStrategy of its own, which is kept", profile.place_of(FIT)
        )
        return
    profile.score_by(names.SCORERS[chosen], given)
    if chosen in configs:
        text = f"arguments of {chosen} are scoringStrategy of {FIT}"
        draft.change("converted", configs[chosen], text, (*profile.place_of(FIT), "args", "scoringStrategy"))


def _scorers(spot: Spot, chosen: str) -> dict[str, Spot]:
    points = [point for point in _given(spot, "plugins") if point.key == "score"]
    parts = [part for point in points for part in _given(point, chosen)]
    return {part.get("name"): part for part in parts if part.get("name") in names.SCORERS}


def _labels(draft: Draft, profile: Profile, part: Spot | None) -> None:
    args = part.get("args") if part else None
    if part is None or args is None:
        return
    lists: dict[str, Any] = {key: args.get(key) or [] for key in LABEL_ARGS}
    if lists["presentLabels"] or lists["absentLabels"]:
        profile.require_labels(lists["presentLabels"], lists["absentLabels"])
        text = f"labels of NodeLabel are addedAffinity of {AFFINITY}"
        draft.change("converted", part, text, profile.place_of(AFFINITY))
    if lists["presentLabelsPreference"] or lists["absentLabelsPreference"]:
        draft.change("unsupported", part, f"NodeLabel: {names.LABEL_PREFERENCE}", profile.path)
