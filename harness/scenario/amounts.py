"""What pods ask of a node and what nodes have, in whole numbers."""

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from harness.scenario import quantity

Object = Mapping[str, Any]
Amounts = dict[str, int]

# Thousands of pods ask for the same few amounts.
_amount = functools.lru_cache(maxsize=4096)(quantity.amount)


def amounts(quantities: Mapping[str, Any]) -> Amounts:
    """Return millicores of `cpu` and whole units of everything else."""
    return {name: _amount(name, value) for name, value in quantities.items()}


def pod_requests(spec: Object) -> Amounts:
    """Return what a scheduler reserves: a pod's containers together or its largest init container, plus overhead.

    What has only a limit asks for that much, as the API server would have written down.
    """
    together = _sum(_asked(container) for container in spec.get("containers") or ())
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in spec.get("initContainers") or ():
        asked = _asked(container)
        if container.get("restartPolicy") == "Always":
            sidecars = _sum([sidecars, asked])
            peak = _most(peak, sidecars)
        else:
            peak = _most(peak, _sum([sidecars, asked]))
    # What a pod states for itself as a whole stands above what its containers add up to.
    needed = {**_most(_sum([together, sidecars]), peak), **_asked(spec)}
    return _sum([needed, amounts(spec.get("overhead") or {})])


def _asked(part: Object) -> Amounts:
    resources = part.get("resources") or {}
    return amounts({**(resources.get("limits") or {}), **(resources.get("requests") or {})})


def _sum(parts: Iterable[Amounts]) -> Amounts:
    total: Amounts = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, 0) + value
    return total


def _most(one: Amounts, other: Amounts) -> Amounts:
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in {**one, **other}}
