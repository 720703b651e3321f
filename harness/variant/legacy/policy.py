"""A Policy: predicates and priorities by name, as kube-scheduler read them up to 1.22."""

from typing import Any

from harness.scenario.problems import Path
from harness.scenario.words import shown
from harness.variant.legacy import names
from harness.variant.legacy.base import Draft, Kind, Spot
from harness.variant.legacy.extenders import translate_extenders
from harness.variant.legacy.names import AFFINITY, ALL, DEFAULTS, FIT, SPREAD
from harness.variant.legacy.profile import Profile
from harness.variant.legacy.shape import unknown_value

SYMMETRIC_WEIGHT_MAX = 100


def translate_policy(draft: Draft, spot: Spot, profile: Profile) -> None:
    """Add a Policy to the new configuration: its extenders, and what it says about plugins to a profile."""
    filters = _filters(draft, spot.at("predicates"), profile) if spot.get("predicates") is not None else None
    scores = _scores(draft, spot.at("priorities"), profile) if spot.get("priorities") is not None else None
    _choose(profile, filters, scores)
    symmetric_weight(draft, spot, profile)
    if "alwaysCheckAllPredicates" in spot.data:
        text = "the first plugin that rejects a node ends its filtering; there is no such switch any more"
        kind: Kind = "unsupported" if spot.get("alwaysCheckAllPredicates") else "dropped"
        draft.change(kind, spot.at("alwaysCheckAllPredicates"), text, profile.path)
    if spot.get("extenders") is not None:
        translate_extenders(draft, spot.at("extenders"))
    if scores is None:
        tell_weights(draft, spot, profile)


def tell_weights(draft: Draft, spot: Spot, profile: Profile) -> None:
    """Note the score plugins that weigh more by default than they used to."""
    given = profile.names("score", "enabled") + profile.names("score", "disabled")
    heavier = [f"{name} {weight}" for name, weight in names.HEAVIER.items() if name not in given]
    if heavier and not profile.clears("score"):
        text = f"default weights of score plugins grew from 1: {', '.join(heavier)}"
        draft.change("default", spot, text, ("profiles",))


def _filters(draft: Draft, spot: Spot, profile: Profile) -> set[str]:
    wanted = set(names.MANDATORY)
    place: Path = (*profile.path, "plugins")
    for part in _given(spot):
        name, argument = part.get("name"), part.get("argument") or {}
        if name in names.PREDICATES:
            plugins = names.PREDICATES[name]
            wanted.update(plugins)
            draft.change("converted", part, f"predicate {name} is the filter of {', '.join(plugins)}", place)
        elif name in names.DROPPED_PREDICATES:
            draft.change("dropped", part, f"predicate {name}: {names.DROPPED_PREDICATES[name]}", place)
        elif argument.get("labelsPresence"):
            _labels(draft, part, profile)
            wanted.add(AFFINITY)
        elif name == "CheckServiceAffinity" or "serviceAffinity" in argument:
            draft.change("unsupported", part, f"predicate {name}: {names.SERVICE_AFFINITY}", place)
        else:
            known = [*names.PREDICATES, *names.DROPPED_PREDICATES]
            draft.refuse(part.at("name"), f"predicate {unknown_value(name, known)}")
    return wanted


def _given(spot: Spot) -> list[Spot]:
    """Return the items of a list that are not null."""
    return [part for part in spot.parts() if part.data is not None]


def _labels(draft: Draft, part: Spot, profile: Profile) -> None:
    argument = part.at("argument").at("labelsPresence")
    labels, presence = argument.get("labels") or [], bool(argument.get("presence"))
    profile.require_labels(labels if presence else (), () if presence else labels)
    word = "present" if presence else "absent"
    text = f"predicate {part.get('name')}: labels that have to be {word} are addedAffinity of NodeAffinity"
    draft.change("converted", part, text, profile.place_of(AFFINITY))


def _scores(draft: Draft, spot: Spot, profile: Profile) -> dict[str, int]:
    wanted: dict[str, int] = {}
    strategies: list[tuple[int, Spot, str]] = []
    place: Path = (*profile.path, "plugins", "score")
    for part in _given(spot):
        name, weight = part.get("name"), part.get("weight")
        argument = part.get("argument") or {}
        ratio = "requestedToCapacityRatioArguments" in argument
        if name in names.DROPPED_PRIORITIES:
            kind: Kind = "dropped" if name == "EqualPriority" else "unsupported"
            draft.change(kind, part, f"priority {name}: {names.DROPPED_PRIORITIES[name]}", place)
        elif weight is None or weight <= 0:
            draft.refuse(part.at("weight"), f"{shown(weight)} seen, a positive weight expected")
        elif name in names.STRATEGIES or ratio:
            strategies.append((weight, part, names.STRATEGIES.get(name, names.RATIO)))
        elif name in names.PRIORITIES:
            plugin = names.PRIORITIES[name]
            wanted[plugin] = max(weight, wanted.get(plugin, 0))
            draft.change("converted", part, f"priority {name} is the score of {plugin}", place)
        else:
            _lost(draft, part, place)
    _spreading(draft, spot, profile)
    wanted.update(_strategy(draft, strategies, profile))
    return wanted


def _lost(draft: Draft, part: Spot, place: Path) -> None:
    name, argument = part.get("name"), part.get("argument") or {}
    if "labelPreference" in argument:
        draft.change("unsupported", part, f"priority {name}: {names.LABEL_PREFERENCE}", place)
    elif "serviceAntiAffinity" in argument:
        draft.change("unsupported", part, f"priority {name}: {names.SERVICE_ANTI_AFFINITY}", place)
    else:
        known = [*names.PRIORITIES, *names.DROPPED_PRIORITIES]
        draft.refuse(part.at("name"), f"priority {unknown_value(name, known)}")


def _spreading(draft: Draft, spot: Spot, profile: Profile) -> None:
    """Let PodTopologySpread spread by itself only where a priority did."""
    given = [part.get("name") for part in _given(spot)]
    by_itself = {"SelectorSpreadPriority", "ServiceSpreadingPriority"} & set(given)
    if "EvenPodsSpreadPriority" in given and not by_itself:
        profile.arguments_of(SPREAD)["defaultingType"] = "List"
        text = "without SelectorSpreadPriority, pods that name no constraints are not spread: defaultingType List"
        draft.change("default", spot, text, profile.place_of(SPREAD))


def _strategy(draft: Draft, found: list[tuple[int, Spot, str]], profile: Profile) -> dict[str, int]:
    """Choose how NodeResourcesFit scores: it has one strategy, a Policy could have several."""
    if not found:
        return {}
    weight, chosen, strategy = max(found, key=lambda one: one[0])
    argument: Any = (chosen.get("argument") or {}).get("requestedToCapacityRatioArguments")
    profile.score_by(strategy, argument)
    place = profile.place_of(FIT)
    draft.change("converted", chosen, f"priority {chosen.get('name')} is scoringStrategy {strategy} of {FIT}", place)
    for _, part, lost in found:
        if part is not chosen:
            text = f"priority {part.get('name')}: {FIT} has one scoringStrategy, and {strategy} weighs more than {lost}"
            draft.change("unsupported", part, text, place)
    return {FIT: weight}


def _choose(profile: Profile, filters: set[str] | None, scores: dict[str, int] | None) -> None:
    """Disable what v1 enables by default and the Policy did not name; everything else stays as v1 has it."""
    filtering = {name for name, plugin in DEFAULTS.items() if plugin.filters and (filters is None or name in filters)}
    scoring = {name for name, plugin in DEFAULTS.items() if plugin.scores and (scores is None or name in scores)}
    # Off at every point, since what reserves and binds would miss what the filter prepares.
    off = [name for name in DEFAULTS if name not in filtering | scoring]
    profile.disable("multiPoint", off)
    only_scores = [name for name, plugin in DEFAULTS.items() if plugin.filters and name in scoring - filtering]
    profile.disable("preFilter", [name for name in only_scores if DEFAULTS[name].prepares_filter])
    profile.disable("filter", only_scores)
    if scores is not None:
        only_filters = [name for name in DEFAULTS if name in filtering - scoring and DEFAULTS[name].prepares_score]
        profile.disable("preScore", only_filters)
        profile.disable("score", [ALL])
        for name in DEFAULTS:
            if name in scores:
                profile.enable("score", name, scores[name])


def symmetric_weight(draft: Draft, spot: Spot, profile: Profile) -> None:
    """Give InterPodAffinity the weight that a Policy or v1alpha1 has at its top."""
    key = "hardPodAffinitySymmetricWeight"
    weight = spot.get(key)
    if weight is None:
        return
    if not 0 <= weight <= SYMMETRIC_WEIGHT_MAX:
        draft.refuse(spot.at(key), f"{shown(weight)} seen, 0 to {SYMMETRIC_WEIGHT_MAX} expected")
    elif weight == 0 and spot.get("kind") == "Policy":
        draft.change("dropped", spot.at(key), "0 means the default of 1", profile.path)
    else:
        profile.arguments_of("InterPodAffinity")["hardPodAffinityWeight"] = weight
        text = "is hardPodAffinityWeight, an argument of InterPodAffinity"
        draft.change("converted", spot.at(key), text, profile.place_of("InterPodAffinity"))
