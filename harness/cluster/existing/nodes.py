"""Compares the nodes that a scenario declares with those that a cluster has. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from harness.cluster.nodes import takes_pods
from harness.errors import InputError
from harness.kube import Object
from harness.scenario.amounts import amounts
from harness.scenario.nodes import NodeSpec

SHOWN = 5
KEEPS_AWAY = ("NoSchedule", "NoExecute")


def fit(declared: Sequence[NodeSpec], there: Sequence[Object]) -> list[str]:
    """Return what is not as declared, one sentence each, when a scenario runs on the nodes that are there.

    Raises:
        InputError: there are too few; says the ways out.
    """
    by_name = {node["metadata"]["name"]: node for node in there}
    usable = [name for name, node in by_name.items() if is_usable(node)]
    if all(_is_it(spec, by_name.get(spec.name)) for spec in declared):
        return list(_differences(declared, by_name, usable))
    # A declared node that keeps pods away, such as a control plane, needs no counterpart.
    wanted = [spec for spec in declared if not any(taint.effect in KEEPS_AWAY for taint in spec.taints)]
    if usable and len(usable) >= len(wanted):
        missing = [spec.name for spec in declared if not _is_it(spec, by_name.get(spec.name))]
        told = f"the declared nodes {few(missing)} are not there with their labels: the scenario runs on the "
        return [f"{told}{len(usable)} nodes that the cluster has ({few(usable)}), as they are"]
    raise InputError(
        f"the scenario declares {len(declared)} nodes ({few([spec.name for spec in declared])}), and the cluster has "
        f"{len(usable)} that take pods ({few(usable)}). Let the harness add them, played by kwok (--kwok-nodes "
        "--allow-cluster-wide), or choose a cluster with more nodes"
    )


def is_usable(node: Object) -> bool:
    """Tell whether a node takes pods that tolerate nothing."""
    spec = node.get("spec") or {}
    tainted = any(taint.get("effect") in KEEPS_AWAY for taint in spec.get("taints") or ())
    return takes_pods(node) and not tainted and not spec.get("unschedulable")


def few(names: Sequence[str]) -> str:
    """Return the first of many names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return (", ".join(names[:SHOWN]) or "none") + more


def _is_it(spec: NodeSpec, node: Object | None) -> bool:
    if node is None:
        return False
    labels: Mapping[str, str] = node["metadata"].get("labels") or {}
    return spec.labels.items() <= labels.items()


def _differences(declared: Sequence[NodeSpec], by_name: Mapping[str, Object], usable: Sequence[str]) -> Iterator[str]:
    unlike = [spec.name for spec in declared if _is_unlike(spec, by_name[spec.name])]
    if unlike:
        yield f"nodes {few(unlike)} have other taints or amounts of resources than declared, and are used as they are"
    names = {spec.name for spec in declared}
    others = [name for name in usable if name not in names]
    if others:
        yield f"the cluster has {len(others)} more nodes that pods can go to: {few(others)}"


def _is_unlike(spec: NodeSpec, node: Object) -> bool:
    allocatable = amounts((node.get("status") or {}).get("allocatable") or {})
    wanted = amounts(spec.capacity)
    same_amounts = all(allocatable.get(name) == amount for name, amount in wanted.items())
    taints = {(taint["key"], taint.get("value", ""), taint["effect"]) for taint in node["spec"].get("taints") or ()}
    return not same_amounts or taints != {(taint.key, taint.value, taint.effect) for taint in spec.taints}
