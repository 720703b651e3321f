"""What kube-scheduler refuses a v1 configuration for, and what it accepts although it cannot work."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from harness.errors import InputError
from harness.extender.entry import duration_seconds
from harness.scenario.problems import Path
from harness.scenario.words import shown
from harness.variant.legacy.base import Draft
from harness.variant.legacy.names import ALL, CLOUD_LIMITS, FIT, GONE, SCORERS, SPREADERS

LONG_SECONDS = 30.0
SHORT_SECONDS = 0.01
REMOVED = {*CLOUD_LIMITS, *GONE, *SCORERS, *SPREADERS}
_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_DOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
# "requests." goes before the name in a quota, and the whole may have 253 characters.
_DOMAIN_CHARACTERS_MAX = 253 - len("requests.")


def check(draft: Draft) -> None:
    """Look through a configuration of the right shape; every finding gets its place in the old text."""
    config = draft.config
    extenders = config.get("extenders") or []
    for index, extender in enumerate(extenders):
        if extender:
            _check_extender(draft, extender, ("extenders", index))
    _check_binders(draft, extenders)
    _check_resources(draft, extenders)
    profiles = config.get("profiles") or []
    _check_profiles(draft, profiles)
    _check_ignored(draft, extenders, profiles)
    _check_numbers(draft, config)
    election = config.get("leaderElection") or {}
    lock = election.get("resourceLock")
    if lock and lock != "leases" and election.get("leaderElect") is not False:
        _refuse(draft, ("leaderElection", "resourceLock"), f'{shown(lock)} seen, "leases" expected')


def _check_extender(draft: Draft, extender: Mapping[str, Any], path: Path) -> None:
    for key in ("filterVerb", "preemptVerb", "prioritizeVerb", "bindVerb"):
        verb = extender.get(key) or ""
        if verb.startswith("/"):
            told = f"{shown(verb)} seen, which makes the URL end in {shown('/' + verb)}"
            _refuse(draft, (*path, key), f"{told}; write {shown(verb.lstrip('/'))}")
        elif re.search(r"[\s?#]", verb):
            _refuse(draft, (*path, key), f"{shown(verb)} seen, a path without spaces and without a query expected")
    if extender.get("prioritizeVerb") and (extender.get("weight") or 0) <= 0:
        seen = shown(extender.get("weight"))
        _refuse(draft, (*path, "weight"), f"{seen} seen, a positive weight beside prioritizeVerb expected")
    _check_timeout(draft, extender.get("httpTimeout"), (*path, "httpTimeout"))
    _check_url(draft, extender, path)
    if not any(extender.get(key) for key in ("filterVerb", "preemptVerb", "prioritizeVerb", "bindVerb")):
        _warn(draft, path, "has no verb: kube-scheduler never calls this extender")
    if extender.get("bindVerb") and extender.get("ignorable"):
        _warn(draft, (*path, "bindVerb"), "when it fails, an ignorable extender's pods are bound without it")


def _check_timeout(draft: Draft, text: str | None, path: Path) -> None:
    if not text:
        return
    try:
        seconds = duration_seconds(text)
    except InputError as error:
        _refuse(draft, path, str(error).removeprefix("httpTimeout: "))
        return
    if seconds < 0:
        _refuse(draft, path, f"{shown(text)} seen: kube-scheduler then waits without end; give a positive duration")
    elif 0 < seconds < SHORT_SECONDS:
        _warn(draft, path, f"{shown(text)}: hardly any extender answers that fast, so that every call times out")
    elif seconds > LONG_SECONDS:
        _warn(draft, path, f"{shown(text)}: while the extender hangs, no pod at all is scheduled for that long")


def _check_url(draft: Draft, extender: Mapping[str, Any], path: Path) -> None:
    url, tls = extender.get("urlPrefix") or "", extender.get("tlsConfig") or {}
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        known = False
    if not known:
        _refuse(draft, (*path, "urlPrefix"), f"{shown(url)} seen, a URL such as http://127.0.0.1:8888 expected")
        return
    has_authority = bool(tls.get("caFile") or tls.get("caData"))
    if tls.get("insecure") and has_authority:
        message = "insecure and a CA exclude each other; kube-scheduler does not start; leave one out"
        _refuse(draft, (*path, "tlsConfig"), message)
    if extender.get("enableHTTPS") and parts.scheme == "http":
        _warn(draft, (*path, "enableHTTPS"), "urlPrefix says http, so that calls go out in plain text all the same")
    elif extender.get("enableHTTPS") and not has_authority:
        _warn(draft, (*path, "enableHTTPS"), "without a CA in tlsConfig the extender's certificate is not verified")


def _check_binders(draft: Draft, extenders: list[Any]) -> None:
    binders = [index for index, one in enumerate(extenders) if one and one.get("bindVerb")]
    for index in binders[1:]:
        first = draft.origin(("extenders", binders[0], "bindVerb"))
        place = f"stands in line {first.line}" if first.document.lines else f"is extenders[{binders[0]}]"
        message = f"a second extender that binds, only one is allowed; the first {place}"
        _refuse(draft, ("extenders", index, "bindVerb"), message)


def _check_resources(draft: Draft, extenders: list[Any]) -> None:
    seen: set[str] = set()
    for index, extender in enumerate(extenders):
        for number, resource in enumerate((extender or {}).get("managedResources") or []):
            name = (resource or {}).get("name") or ""
            path = ("extenders", index, "managedResources", number, "name")
            if not is_extended_resource(name):
                message = f"{shown(name)} seen, an extended resource such as example.com/gpu expected"
                _refuse(draft, path, message)
            elif name in seen:
                _refuse(draft, path, f"{shown(name)} is managed twice, once in all extenders together is allowed")
            seen.add(name)


def is_extended_resource(name: str) -> bool:
    """Tell whether kube-scheduler takes a name for that of an extended resource."""
    domain, slash, rest = name.rpartition("/")
    if not slash or not _NAME.fullmatch(rest) or "/" in domain or "kubernetes.io/" in name:
        return False
    is_domain = len(domain) <= _DOMAIN_CHARACTERS_MAX and bool(_DOMAIN.fullmatch(domain))
    return is_domain and not name.startswith("requests.")


def _check_profiles(draft: Draft, profiles: list[Any]) -> None:
    names: set[str | None] = set()
    for index, profile in enumerate(profiles):
        path: Path = ("profiles", index)
        name = (profile or {}).get("schedulerName")
        if len(profiles) > 1 and not name:
            _refuse(draft, path, "schedulerName is missing; every one of several profiles needs its own")
        elif name in names:
            _refuse(draft, (*path, "schedulerName"), f"{shown(name)} is the name of an earlier profile too")
        names.add(name)
        for point, chosen in ((profile or {}).get("plugins") or {}).items():
            for number, plugin in enumerate((chosen or {}).get("enabled") or []):
                if (plugin or {}).get("name") in REMOVED:
                    where = (*path, "plugins", point, "enabled", number)
                    _refuse(draft, where, f"plugin {shown(plugin['name'])} does not exist in v1; leave it out")


def _check_ignored(draft: Draft, extenders: list[Any], profiles: list[Any]) -> None:
    """A resource can be ignored only by NodeResourcesFit, which a profile may have disabled."""
    paths = [
        ("extenders", index, "managedResources", number, "ignoredByScheduler")
        for index, extender in enumerate(extenders)
        for number, resource in enumerate((extender or {}).get("managedResources") or [])
        if (resource or {}).get("ignoredByScheduler")
    ]
    for index, profile in enumerate(profiles):
        if paths and not _has_fit(profile or {}):
            told = f"{FIT} has to ignore the resource, but profiles[{index}] disables it; kube-scheduler does not start"
            _refuse(draft, paths[0], f"{told}; leave ignoredByScheduler out")


def _has_fit(profile: Mapping[str, Any]) -> bool:
    points = {point: chosen or {} for point, chosen in (profile.get("plugins") or {}).items()}
    enabled = {plugin.get("name") for chosen in points.values() for plugin in chosen.get("enabled") or []}
    disabled = {plugin.get("name") for plugin in points.get("multiPoint", {}).get("disabled") or []}
    configured = {one.get("name") for one in profile.get("pluginConfig") or []}
    return FIT in enabled | configured or not disabled & {FIT, ALL}


def _check_numbers(draft: Draft, config: Mapping[str, Any]) -> None:
    first, last = config.get("podInitialBackoffSeconds"), config.get("podMaxBackoffSeconds")
    bounds = {
        "parallelism": (1, None),
        "percentageOfNodesToScore": (0, 100),
        "podInitialBackoffSeconds": (1, None),
        "podMaxBackoffSeconds": (1 if first is None else first, None),
    }
    if first is not None and last is None:
        bounds["podInitialBackoffSeconds"] = (1, 10)
    for key, (low, high) in bounds.items():
        value = config.get(key)
        if value is not None and (value < low or (high is not None and value > high)):
            wanted = f"{low} to {high}" if high is not None else f"at least {low}"
            _refuse(draft, (key,), f"{value} seen, {wanted} expected")


def _refuse(draft: Draft, path: Path, message: str) -> None:
    draft.problems.append(draft.origin(path).problem(message))


def _warn(draft: Draft, path: Path, message: str) -> None:
    draft.warnings.append(draft.origin(path).problem(message))
