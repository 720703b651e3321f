"""Translates a scheduler configuration of any age into KubeSchedulerConfiguration v1."""

import copy

from harness.errors import InputError
from harness.scenario.positions import Document
from harness.scenario.problems import Problem
from harness.scenario.words import did_you_mean, listed, shown
from harness.variant.legacy.base import GROUP, KIND, V1, Draft, Files, Source, Spot, Translation
from harness.variant.legacy.checks import check
from harness.variant.legacy.config import VERSIONS, translate_config
from harness.variant.legacy.find import POLICY_KEY, Found, find, is_json, seen
from harness.variant.legacy.oldshape import shape_of
from harness.variant.legacy.policy import translate_policy
from harness.variant.legacy.profile import Profile
from harness.variant.legacy.render import render
from harness.variant.legacy.shape import check_shape

_POLICY = ("algorithmSource", "policy")
"""Where a draft keeps the Policy that it is made of; no place of the new configuration."""


def translate(text: str, where: str, files: Files, option: str | None = None) -> Translation:
    """Return what a scheduler configuration says, as KubeSchedulerConfiguration v1.

    Args:
        text: YAML or JSON: KubeSchedulerConfiguration of any version or a Policy, by itself, among other documents, or
            inside of a ConfigMap.
        where: what to call the text in messages, such as its path.
        files: finds the Policy that a v1alpha1 configuration refers to.
        option: what the command has for a Policy that is elsewhere, if it has that.

    Raises:
        InputError: the text cannot be read, or kube-scheduler would refuse it; every problem has its file and line.
    """
    source = Source(text, where)
    found = find(source)
    draft = Draft()
    spot = _chosen(found, where)
    draft.kept(spot, ())
    version = _version(spot)
    draft.is_strict = version == "v1"
    if version == "v1":
        draft.config = copy.deepcopy(spot.data)
    elif not _has_shape(draft, spot, version):
        pass
    elif version == "Policy":
        _from_policy(draft, spot)
    else:
        translate_config(draft, spot, version, lambda policy: _referred(draft, policy, found, files, option))
    _check(draft)
    _tell_left_out(draft, found, spot)
    changes = tuple(sorted(draft.changes, key=lambda change: (change.file != where, change.file, change.line)))
    as_is = version == "v1" and not (is_json(text) or found.others or found.policies or found.is_embedded)
    head = f"{KIND} v1, translated from {version} by harness translate."
    new = text if as_is else render(draft.config, changes, head if changes else f"{KIND} v1.", where)
    return Translation(draft.config, changes, new, tuple(str(problem) for problem in draft.warnings))


def _has_shape(draft: Draft, spot: Spot, version: str) -> bool:
    """Return whether every key of an old text is known and holds what it should."""
    before = len(draft.problems)
    check_shape(draft, spot, shape_of(version))
    return len(draft.problems) == before


def _tell_left_out(draft: Draft, found: Found, spot: Spot) -> None:
    if found.others:
        told = f"other documents are left out: {listed(found.others)}"
        draft.warnings.append(Problem(spot.where, 1, (), told))
    for policy in found.policies:
        if policy not in (spot, draft.origins.get(_POLICY)):
            draft.warnings.append(policy.problem("the Policy is left out; the configuration does not refer to it"))


def _chosen(found: Found, where: str) -> Spot:
    """Return what is to be translated: the configuration, or the Policy when there is none.

    Raises:
        InputError: there is none, or more than one.
    """
    candidates = found.configs or found.policies
    if not candidates:
        raise InputError(f"{where}: {seen(found)}, a {KIND} or a Policy expected")
    if len(candidates) > 1:
        lines = listed(str(spot.line) for spot in candidates)
        raise InputError(
            f"{where}: {len(candidates)} configurations seen, at lines {lines}; one expected; split the file"
        )
    return candidates[0]


def _version(spot: Spot) -> str:
    """Return the version of a configuration, `Policy` for a Policy."""
    if spot.get("kind") != KIND and not str(spot.get("apiVersion")).startswith(f"{GROUP}/"):
        return "Policy"
    if spot.get("kind") != KIND:
        raise InputError(str(spot.at("kind").problem(f"{shown(spot.get('kind'))} seen, {KIND} expected")))
    group, _, version = str(spot.get("apiVersion")).rpartition("/")
    if group in (GROUP, "componentconfig") and version in VERSIONS:
        return version
    known = [f"{GROUP}/{one}" for one in VERSIONS]
    told = (
        f"{shown(spot.get('apiVersion'))} seen{did_you_mean(str(spot.get('apiVersion')), known)} known: {listed(known)}"
    )
    raise InputError(str(spot.at("apiVersion").problem(told)))


def _from_policy(draft: Draft, spot: Spot) -> None:
    draft.config.update(apiVersion=V1, kind=KIND)
    text = "a Policy was given by --policy-config-file or --policy-configmap, this is given by --config"
    draft.change("converted", spot.at("kind"), text, ("kind",))
    text = "beside --config the flag --kubeconfig has no effect; say clientConnection.kubeconfig here"
    draft.change("default", spot, text, ("kind",))
    profile = Profile(("profiles", 0))
    translate_policy(draft, spot, profile)
    made = profile.to_json()
    if made:
        _before_extenders(draft, [made])


def _before_extenders(draft: Draft, profiles: list[object]) -> None:
    extenders = draft.config.pop("extenders", None)
    draft.config["profiles"] = profiles
    if extenders is not None:
        draft.config["extenders"] = extenders


def _referred(draft: Draft, spot: Spot, found: Found, files: Files, option: str | None) -> Spot | None:
    """Return the Policy that `algorithmSource.policy` refers to; it may stand in the same text."""
    name, missing = _reference(draft, spot, option)
    if name is None:
        return None
    text = files(name)
    if text is not None:
        source = text if isinstance(text, Source) else Source(text, name)
        there = find(source)
        if len(there.policies) != 1:
            count = len(there.policies)
            draft.refuse(
                spot, f"{source.where}: {count} Policies seen, one expected" + (f"; {seen(there)}" * (not count))
            )
            return None
        policy = there.policies[0]
    elif len(found.policies) == 1:
        policy = found.policies[0]
    else:
        draft.refuse(spot, missing)
        return None
    if not _has_shape(draft, policy, "Policy"):
        return None
    draft.kept(policy, _POLICY)
    draft.change("converted", spot, f"the Policy of {policy.where} is part of this file", ("extenders",))
    return policy


def _reference(draft: Draft, spot: Spot, option: str | None) -> tuple[str | None, str]:
    """Return how `files` knows a Policy, and what to say when it is not there."""
    file, configmap = spot.get("file"), spot.get("configMap")
    given = f"give it with {option}" if option else ""
    path = file.get("path") if isinstance(file, dict) else None
    if isinstance(path, str) and path:
        return path, f"the Policy file {shown(path)} is not there; {given or 'put it beside this file'}"
    if isinstance(configmap, dict) and configmap.get("name"):
        name = f"{configmap.get('namespace') or 'kube-system'}/{configmap['name']}"
        where = f"and {given}" if given else "at the end of this file, after a line ---"
        told = f"the Policy is in ConfigMap {name}; save the value of its key {POLICY_KEY} {where}"
        return f"configmap:{name}", told
    draft.refuse(spot, f"{shown(spot.data)} seen, file.path or configMap.name expected")
    return None, ""


def _check(draft: Draft) -> None:
    """Look for what kube-scheduler would refuse, and raise what was found.

    Raises:
        InputError: there is a problem; it has every one of them.
    """
    if draft.problems:
        raise _refusal(draft)
    inner = Draft(is_strict=draft.is_strict)
    check_shape(inner, Spot("", Document(draft.config, {})))
    for problem in inner.problems:
        draft.problems.append(draft.origin(problem.path).problem(problem.message))
    if not draft.problems:
        check(draft)
    if draft.problems:
        raise _refusal(draft)


def _refusal(draft: Draft) -> InputError:
    told = sorted(dict.fromkeys(draft.problems), key=lambda problem: (problem.file, problem.line))
    return InputError("\n".join(str(problem) for problem in told))
