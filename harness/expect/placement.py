"""Judges which nodes pods were put on."""

from collections.abc import Sequence

from harness.expect import evidence
from harness.expect.base import Verdict, at, counted, limited, listed, status_of
from harness.expect.matching import by_binding, described, existing, matching_pods
from harness.record.model import PodHistory, Record
from harness.scenario.expectations import NeverOn, NodeSet, OnlyOn, Placement

_Landing = tuple[PodHistory, str, float]


def placement(expectation: Placement, record: Record, peers: Sequence[Record] = ()) -> Verdict:
    """Judge exact placements, of the pods that exist at the end; a name that matches no pod is a rejection."""
    wrong: list[str] = []
    waiting: list[PodHistory] = []
    right = 0
    for name, node in expectation.on.items():
        pods = existing(matching_pods(record, namespace=expectation.namespace, names=(name,)))
        if not pods:
            wrong.append(f"{name}: no such pod")
        for pod in pods:
            if pod.node == node:
                right += 1
            else:
                wrong.append(f"{pod.name} → {pod.node or 'no node'}, {node} expected")
        waiting.extend(pod for pod in pods if pod.pending)
    return Verdict(
        kind=expectation.kind,
        title="placement",
        status=status_of(not wrong),
        expected=listed(f"{pod} → {node}" for pod, node in expectation.on.items()),
        seen=f"{len(wrong)} of {right + len(wrong)} otherwise" if wrong else f"all {right} so",
        detail="; ".join(limited(wrong)),
        evidence=evidence.waiting(record, waiting),
    )


def only_on(expectation: OnlyOn, record: Record, peers: Sequence[Record] = ()) -> Verdict:
    """Judge that every binding of the pods, also of pods since deleted, went to one of the nodes.

    No bound pod at all is a rejection: an expectation that looked at nothing proves nothing.
    """
    landings = _landings(expectation, record)
    outside = [landing for landing in landings if not _meant(expectation, record, landing)]
    return _verdict(expectation, record, landings, outside, ("only on", "elsewhere"))


def never_on(expectation: NeverOn, record: Record, peers: Sequence[Record] = ()) -> Verdict:
    """Judge that no binding of the pods, also of pods since deleted, went to one of the nodes.

    No bound pod at all is a rejection: an expectation that looked at nothing proves nothing.
    """
    landings = _landings(expectation, record)
    inside = [landing for landing in landings if _meant(expectation, record, landing)]
    return _verdict(expectation, record, landings, inside, ("never on", "there"))


def _landings(expectation: NodeSet, record: Record) -> list[_Landing]:
    """Return every pod with every node it was bound to and when, in the order of binding."""
    pods = matching_pods(record, selector=expectation.selector, namespace=expectation.namespace, names=expectation.pods)
    landings: list[_Landing] = []
    for pod in sorted((pod for pod in pods if pod.nodes), key=by_binding):
        first: dict[str, float] = {}
        for seen in pod.observations:
            if seen.node:
                first.setdefault(seen.node, seen.t)
        landings.extend((pod, node, t) for node, t in first.items())
    return landings


def _meant(expectation: NodeSet, record: Record, landing: _Landing) -> bool:
    """Tell whether the node is one of those that are meant, by the labels it had when the pod was bound."""
    _, name, t = landing
    node = record.node_at(name, t)
    return expectation.picks_node(name, node.at(t).labels if node else {})


def _verdict(
    expectation: OnlyOn | NeverOn,
    record: Record,
    landings: list[_Landing],
    breaches: list[_Landing],
    words: tuple[str, str],
) -> Verdict:
    demand, breach = words
    where = ", ".join(expectation.nodes or ()) or f"nodes {expectation.node_selector}"
    pods = described(expectation.selector, expectation.pods, expectation.namespace)
    bound = {pod.uid for pod, _, _ in landings}
    wrong = {pod.uid for pod, _, _ in breaches}
    lines = [f"{pod.name} → {node} at {at(t)}" for pod, node, t in breaches]
    if bound:
        seen = f"{len(wrong)} of {counted(len(bound), 'bound pod')} {breach}"
        facts: tuple[str, ...] = ()
    else:
        seen = "no bound pod"
        matched = matching_pods(
            record, selector=expectation.selector, namespace=expectation.namespace, names=expectation.pods
        )
        waiting = evidence.waiting(record, (pod for pod in matched if pod.pending))
        facts = (f"{counted(len(matched), 'pod')} matched, none was ever bound", *waiting)
    return Verdict(
        kind=expectation.kind,
        title=pods,
        status=status_of(bool(bound) and not breaches),
        expected=f"{demand} {where}",
        seen=seen,
        detail=_per_node(landings),
        evidence=(*facts, *limited(lines)),
    )


def _per_node(landings: list[_Landing]) -> str:
    counts: dict[str, int] = {}
    for _, node, _ in landings:
        counts[node] = counts.get(node, 0) + 1
    return ", ".join(f"{node} {number}" for node, number in sorted(counts.items())[:12])
