"""Takes secrets out of recorded traffic, so that a cassette can be shown around.

What is taken out is replaced by a mark that is the same for the same value and tells nothing about it. Nothing that a
scheduler decides by is touched: names, labels, taints, tolerations, affinity, resources.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from typing import Any

ENV = "env values"
APPLIED = "last-applied-configuration annotations"
ANNOTATIONS = "annotations that look secret"
ARGUMENTS = "arguments that look secret"
HEADERS = "headers of probes that look secret"
VOLUMES = "volume options that look secret"
SECRETS = "data of Secrets"
RULES = (ENV, APPLIED, ANNOTATIONS, ARGUMENTS, HEADERS, VOLUMES, SECRETS)

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
LOOKS = (
    r"token|passw(?:or)?d|pwd|passphrase|secret|credential|api[-_.]?key|private[-_.]?key|access[-_.]?key|authorization"
)
_SECRET = re.compile(LOOKS, re.IGNORECASE)
# `secretName` and the like say where a secret is, not what it is.
REFERENCE = re.compile(r"(?:name|namespace|ref|path|file)s?$", re.IGNORECASE)
_ASSIGNED = re.compile(rf"(-{{0,2}}[\w.-]*(?:{LOOKS})[\w.-]*[=:]\s*)(\S.*)", re.IGNORECASE | re.DOTALL)
_FLAG = re.compile(rf"--?[\w.-]*(?:{LOOKS})[\w.-]*", re.IGNORECASE)
# What stands after a flag and is another one, rather than a secret that begins like one.
OPTION = re.compile(r"--[A-Za-z][A-Za-z-]*(?:=.*)?|-[A-Za-z]", re.DOTALL)
# A password may have an @ of its own, a host has none.
LOGIN = re.compile(r"(\w+://[^/\s:@]*:)([^/\s]+)(@)")
# What schedulers decide by, and what makes up most of a Node; there are no secrets in it.
_HARMLESS = ("labels", "matchLabels", "nodeSelector", "affinity", "tolerations", "taints", "status", "managedFields")
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
_MEMBER = re.compile(
    rf'("(?:[^"\\]*(?:{LOOKS})[^"\\]*|{re.escape(_LAST_APPLIED)}|value)"\s*:\s*")((?:[^"\\]|\\.)*)'.encode(),
    re.IGNORECASE | re.DOTALL,
)
# New in every process: marks can be compared within a cassette, and guessing the value behind one leads nowhere.
_KEY = secrets.token_bytes(16)


def redact(value: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a copy of a JSON value without secrets, and which of `RULES` had something to do."""
    seen: set[str] = set()
    return _walk(value, seen), tuple(rule for rule in RULES if rule in seen)


def redact_bytes(body: bytes) -> bytes:
    """Return a text that is no JSON without what looks like secrets in it, as far as that can be told."""
    return _MEMBER.sub(lambda match: match[1] + (mark(match[2]).encode() if match[2] else b""), body)


def mark(value: Any) -> str:
    """Return what stands for a secret value."""
    data = value if isinstance(value, bytes) else repr(value).encode("utf-8", "surrogatepass")
    return f"redacted-{hmac.new(_KEY, data, hashlib.sha256).hexdigest()[:12]}"


def _walk(value: Any, seen: set[str]) -> Any:
    if isinstance(value, list):
        parts = [_walk(one, seen) for one in value]
        return parts if any(new is not old for new, old in zip(parts, value, strict=True)) else value
    if not isinstance(value, dict):
        return value
    changed = {}
    for key, part in value.items():
        rule = _RULES_BY_KEY.get(key)
        new = rule(part, seen) if rule else _walk(part, seen)
        if new is not part:
            changed[key] = new
    if value.get("kind") == "Secret":
        for key in ("data", "stringData"):
            if isinstance(value.get(key), dict) and value[key]:
                changed[key] = {name: _hidden(part, SECRETS, seen) for name, part in value[key].items()}
    return {**value, **changed} if changed else value


def _annotations(value: Any, seen: set[str]) -> Any:
    if not isinstance(value, dict):
        return value
    changed = {}
    for key, part in value.items():
        if key == _LAST_APPLIED:
            changed[key] = _hidden(part, APPLIED, seen)
        elif _SECRET.search(key) and part:
            changed[key] = _hidden(part, ANNOTATIONS, seen)
    return {**value, **changed} if changed else value


def _containers(value: Any, seen: set[str]) -> Any:
    if not isinstance(value, list):
        return value
    return [_container(one, seen) if isinstance(one, dict) else one for one in value]


def _container(value: dict[str, Any], seen: set[str]) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    if isinstance(env := value.get("env"), list):
        changed["env"] = [_env(one, seen) if isinstance(one, dict) else one for one in env]
    for key in ("args", "command"):
        if isinstance(value.get(key), list):
            changed[key] = _arguments(value[key], seen)
    for key in ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle"):
        if key in value:
            changed[key] = _probe(value[key], seen)
    return {**value, **changed}


def _env(value: dict[str, Any], seen: set[str]) -> dict[str, Any]:
    return {**value, "value": _hidden(value["value"], ENV, seen)} if value.get("value") else value


def _arguments(values: list[Any], seen: set[str]) -> list[Any]:
    safe: list[Any] = []
    follows = False
    for one in values:
        if not isinstance(one, str):
            safe.append(one)
            continue
        text = one
        if follows and not OPTION.fullmatch(one):
            text = _hidden(one, ARGUMENTS, seen)
        else:
            for pattern in (_ASSIGNED, LOGIN):
                text = pattern.sub(lambda match: _replaced(match, seen), text)
        follows = bool(_FLAG.fullmatch(one))
        safe.append(text)
    return safe


def _replaced(match: re.Match[str], seen: set[str]) -> str:
    before, value, *after = match.groups()
    return before + _hidden(value, ARGUMENTS, seen) + "".join(after)


def _probe(value: Any, seen: set[str]) -> Any:
    """Look into everything that a probe or a hook may run or send."""
    if isinstance(value, list):
        return [_probe(one, seen) for one in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("command"), list):
        return {**value, "command": _arguments(value["command"], seen)}
    if _SECRET.search(str(value.get("name") or "")) and value.get("value"):
        return {**value, "value": _hidden(value["value"], HEADERS, seen)}
    return {key: _probe(part, seen) for key, part in value.items()}


def _volumes(value: Any, seen: set[str]) -> Any:
    if isinstance(value, list):
        return [_volumes(one, seen) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _hidden(part, VOLUMES, seen)
        if isinstance(part, str) and part and _SECRET.search(key) and not REFERENCE.search(key)
        else _volumes(part, seen)
        for key, part in value.items()
    }


def _hidden(value: Any, rule: str, seen: set[str]) -> str:
    seen.add(rule)
    return mark(value)


_RULES_BY_KEY: dict[str, Callable[[Any, set[str]], Any]] = {
    "annotations": _annotations,
    "volumes": _volumes,
    **dict.fromkeys(_HARMLESS, lambda value, seen: value),
    **dict.fromkeys(_CONTAINERS, _containers),
}
