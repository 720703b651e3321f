"""Refuses a workload whose parts are of another kind than Kubernetes has there, before anybody looks at them. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from harness.scenario.problems import Path
from harness.scenario.words import shown

PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS: Mapping[str, Any] = {"httpGet": {}, "tcpSocket": {}}
# A list stands for lists of what is in it, an empty one for lists of anything; so do mappings.
_POD: Mapping[str, Any] = {
    "containers": [
        {"command": [], "args": [], "volumeMounts": [{}], "ports": [{}], **dict.fromkeys(PROBES, _HANDLERS)}
    ],
    "volumes": [{"configMap": {"items": [{}]}}],
}
_SPECS: Mapping[str, Any] = {"Pod": {"spec": _POD}}
_TEMPLATE: Mapping[str, Any] = {"spec": {"template": {"spec": _POD}}}


def misshapen(item: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield each part of a workload, or of a ConfigMap, that is something else than it has to be, and what it is."""
    kind = str(item.get("kind"))
    yield from _misshapen(item, {"data": {}} if kind == "ConfigMap" else _SPECS.get(kind, _TEMPLATE), ())


def _misshapen(value: Any, shape: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(shape, list):
        if not isinstance(value, list):
            yield path, f"{shown(value)} seen, a list expected"
            return
        for place, one in enumerate(value if shape else ()):
            yield from _misshapen(one, shape[0], (*path, place))
    elif not isinstance(value, dict):
        yield path, f"{shown(value)} seen, a mapping expected"
    else:
        for key, below in shape.items():
            if value.get(key) is not None:
                yield from _misshapen(value[key], below, (*path, key))
