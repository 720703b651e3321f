"""Judges how evenly pods are distributed over nodes and over the values of a node label."""

from collections.abc import Mapping, Sequence

from harness.expect import evidence
from harness.expect.base import Verdict, at, counted, listed, status_of
from harness.expect.matching import by_binding, described, existing, matching_nodes, matching_pods
from harness.record.model import PodHistory, Record
from harness.scenario.expectations import Distribution, Spread

_DOMAINS_SHOWN_MAX = 12


def distribution(expectation: Distribution, record: Record, peers: Sequence[Record] = ()) -> Verdict:
    """Judge the number of pods per node at the end, over every node that matches, schedulable or not.

    `counts` may leave out empty nodes: `[7, 7, 6]` holds on four nodes when the fourth has none.
    """
    pods = existing(matching_pods(record, selector=expectation.selector, namespace=expectation.namespace))
    seen = {node.name: 0 for node in matching_nodes(record, expectation.node_selector or "")}
    for pod in pods:
        if pod.node in seen:
            seen[pod.node] += 1
    wrong = _wrong_nodes(expectation, seen)
    held = bool(seen) and not wrong and _same_counts(expectation.counts, seen)
    return Verdict(
        kind=expectation.kind,
        title=f"distribution of {described(expectation.selector, namespace=expectation.namespace)}",
        status=status_of(held),
        expected=_demand(expectation),
        seen=f"[{listed((str(n) for n in sorted(seen.values(), reverse=True)), _DOMAINS_SHOWN_MAX)}]",
        detail=_shown(seen) or "no node matches",
        evidence=(
            _bound(pods),
            *([f"out of range: {listed(wrong)}"] if wrong else []),
            *_elsewhere(pods, seen),
            *evidence.waiting(record, (pod for pod in pods if pod.pending)),
        ),
    )


def spread(expectation: Spread, record: Record, peers: Sequence[Record] = ()) -> Verdict:
    """Judge the difference between the fullest and the emptiest domain at the end.

    Every value of the label on a matching node is a domain, also one without pods. No bound pod, or no domain, is a
    rejection: an expectation that looked at nothing proves nothing.
    """
    pods = existing(matching_pods(record, selector=expectation.selector, namespace=expectation.namespace))
    nodes = matching_nodes(record, expectation.node_selector or "")
    domain_of = {node.name: node.labels[expectation.over] for node in nodes if expectation.over in node.labels}
    counts = dict.fromkeys(sorted(set(domain_of.values())), 0)
    counting = sorted((pod for pod in pods if pod.node in domain_of), key=by_binding)
    breach: PodHistory | None = None
    for pod in counting:
        counts[domain_of[pod.node or ""]] += 1
        if breach is None and _skew(counts) > expectation.max_skew:
            breach = pod
    held = bool(counting) and _skew(counts) <= expectation.max_skew
    broken = (
        [] if held or breach is None else [f"first breach {breach.name} → {breach.node} at {at(breach.bound_t or 0)}"]
    )
    return Verdict(
        kind=expectation.kind,
        title=f"spread over {expectation.over}",
        status=status_of(held),
        expected=f"maxSkew {expectation.max_skew}",
        seen=str(_skew(counts)) if counting else "no bound pod in any domain",
        detail=_shown(counts) or f"no node has the label {expectation.over}",
        evidence=(
            _bound(pods),
            *broken,
            *_elsewhere(pods, domain_of),
            *evidence.waiting(record, (pod for pod in pods if pod.pending)),
        ),
    )


def _skew(counts: Mapping[str, int]) -> int:
    return max(counts.values(), default=0) - min(counts.values(), default=0)


def _same_counts(wanted: Sequence[int] | None, seen: Mapping[str, int]) -> bool:
    """Compare as multisets; nodes beyond those that are listed have to be empty."""
    if wanted is None:
        return True
    padded = sorted([*wanted, *[0] * (len(seen) - len(wanted))])
    return padded == sorted(seen.values())


def _wrong_nodes(expectation: Distribution, seen: Mapping[str, int]) -> list[str]:
    wanted = expectation.per_node
    return [] if wanted is None else [f"{name} {number}" for name, number in seen.items() if not wanted.holds(number)]


def _demand(expectation: Distribution) -> str:
    parts = [] if expectation.per_node is None else [f"{expectation.per_node} per node"]
    if expectation.counts is not None:
        parts.append(f"[{listed((str(n) for n in sorted(expectation.counts, reverse=True)), _DOMAINS_SHOWN_MAX)}]")
    where = f" on nodes {expectation.node_selector}" if expectation.node_selector else ""
    return ", ".join(parts) + where


def _shown(counts: Mapping[str, int]) -> str:
    return listed((f"{name} {number}" for name, number in counts.items()), _DOMAINS_SHOWN_MAX)


def _bound(pods: Sequence[PodHistory]) -> str:
    return f"{sum(bool(pod.nodes) for pod in pods)} of {counted(len(pods), 'pod')} bound"


def _elsewhere(pods: Sequence[PodHistory], counted_nodes: Mapping[str, object]) -> list[str]:
    away = [f"{pod.name} → {pod.node}" for pod in pods if pod.node and pod.node not in counted_nodes]
    return [f"not counted, on other nodes: {listed(away)}"] if away else []
