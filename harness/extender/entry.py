"""One `extenders[]` entry of a KubeSchedulerConfiguration: what the scheduler is told about an extender."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from harness.errors import InputError

VERBS = ("filter", "prioritize", "preempt", "bind")
DEFAULT_TIMEOUT_SECONDS = 5.0

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(
    r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h)(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))*"
)
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")
# v1 name: (attribute, type). The scheduler decodes strictly, so a name that is not here keeps it from starting.
_FIELDS: dict[str, tuple[str, type]] = {
    "urlPrefix": ("url_prefix", str),
    "filterVerb": ("filter_verb", str),
    "prioritizeVerb": ("prioritize_verb", str),
    "preemptVerb": ("preempt_verb", str),
    "bindVerb": ("bind_verb", str),
    "weight": ("weight", int),
    "enableHTTPS": ("enable_https", bool),
    "tlsConfig": ("tls", dict),
    "httpTimeout": ("http_timeout", str),
    "nodeCacheCapable": ("node_cache_capable", bool),
    "managedResources": ("managed_resources", list),
    "ignorable": ("ignorable", bool),
}


@dataclass(frozen=True)
class Entry:
    """What kube-scheduler knows about one extender, with the meaning and the defaults that it gives each key."""

    url_prefix: str = ""
    filter_verb: str = ""
    prioritize_verb: str = ""
    preempt_verb: str = ""
    bind_verb: str = ""
    weight: int = 0
    enable_https: bool = False
    tls: Mapping[str, Any] = field(default_factory=dict)
    http_timeout: str = ""
    node_cache_capable: bool = False
    managed_resources: tuple[Mapping[str, Any], ...] = ()
    ignorable: bool = False

    @classmethod
    def from_json(cls, value: Mapping[str, Any], where: str = "extenders[]") -> "Entry":
        """Return the entry that a configuration spells out.

        Raises:
            InputError: a key or a value is one that kube-scheduler would refuse to start with.
        """
        known: dict[str, Any] = {}
        for key, part in value.items():
            if key not in _FIELDS:
                near = next((name for name in _FIELDS if name.lower() == key.lower()), None)
                hint = f'; did you mean "{near}"?' if near else f"; known: {', '.join(_FIELDS)}"
                raise InputError(f"{where}: unknown key {key!r}, which kube-scheduler refuses to start with{hint}")
            name, kind = _FIELDS[key]
            # A bool is an int to Python, but not to kube-scheduler.
            if not isinstance(part, kind) or (kind is int and isinstance(part, bool)):
                raise InputError(f"{where}.{key}: {part!r} seen, {_WORDS[kind]} expected")
            if isinstance(part, list) and not all(isinstance(one, dict) for one in part):
                raise InputError(f"{where}.{key}: {part!r} seen, a list of objects expected")
            known[name] = tuple(part) if isinstance(part, list) else part
        entry = cls(**known)
        _ = entry.timeout_seconds  # said now, with its place, rather than by a scheduler that does not start
        return entry

    def to_json(self) -> dict[str, Any]:
        """Return the entry as a configuration spells it, without what is not set."""
        values = {key: getattr(self, name) for key, (name, _) in _FIELDS.items()}
        values["managedResources"] = [dict(one) for one in self.managed_resources]
        values["tlsConfig"] = dict(self.tls)
        return {key: value for key, value in values.items() if value not in ("", 0, False, {}, [])}

    def verb(self, kind: str) -> str:
        """Return what is configured for `filter`, `prioritize`, `preempt` or `bind`; empty when it is not."""
        return str(getattr(self, f"{kind}_verb"))

    def verbs(self) -> dict[str, str]:
        """Return the configured verbs, by kind."""
        return {kind: self.verb(kind) for kind in VERBS if self.verb(kind)}

    def url(self, kind: str) -> str:
        """Return where kube-scheduler sends a kind of call: it appends the verb as it is."""
        return f"{self.url_prefix.rstrip('/')}/{self.verb(kind)}"

    def kind_of(self, path: str) -> str | None:
        """Return which kind of call arrives at a path of the extender's server."""
        return next((kind for kind in self.verbs() if path == _path(self.url(kind))), None)

    def at(self, url_prefix: str) -> "Entry":
        """Return the same entry for an extender that listens elsewhere."""
        return replace(self, url_prefix=url_prefix)

    @property
    def timeout_seconds(self) -> float:
        """Return how long a call may take; kube-scheduler takes 5 s when nothing is said.

        Raises:
            InputError: it is no duration as Go writes one.
        """
        return (
            duration_seconds(self.http_timeout) or DEFAULT_TIMEOUT_SECONDS
            if self.http_timeout
            else (DEFAULT_TIMEOUT_SECONDS)
        )

    def is_interested(self, pod: Mapping[str, Any]) -> bool:
        """Tell whether kube-scheduler calls this extender for a pod at all."""
        managed = {one.get("name") for one in self.managed_resources}
        if not managed:
            return True
        spec = pod.get("spec") or {}
        containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
        resources = [container.get("resources") or {} for container in containers]
        return any(managed & set(part.get(kind) or ()) for part in resources for kind in ("requests", "limits"))


_WORDS = {str: "a string", int: "an integer", bool: "true or false", dict: "an object", list: "a list"}


def duration_seconds(text: str) -> float:
    """Return the seconds of a duration as Go writes it, such as 1m30s or 250ms.

    Raises:
        InputError: it is none.
    """
    if text == "0":
        return 0.0
    if not _DURATION.fullmatch(text):
        raise InputError(f'httpTimeout: {text!r} seen, a duration such as "5s" or "250ms" expected')
    total = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
    return -total if text.startswith("-") else total


def _path(url: str) -> str:
    rest = url.partition("://")[2]
    return "/" + rest.partition("/")[2]
