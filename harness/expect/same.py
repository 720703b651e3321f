"""Judges that pods are on the nodes they are on with another variant, pod by pod."""

from collections.abc import Sequence

from harness.expect.base import Verdict, counted, limited, status_of
from harness.expect.findings import findings
from harness.expect.matching import described, existing, matching_pods
from harness.record.model import PodHistory, Record
from harness.scenario.expectations_extender import SameAs

_NOWHERE = "no node"
_ABSENT = "no such pod"


def same_as(expectation: SameAs, record: Record, peers: Sequence[Record] = ()) -> Verdict:
    """Judge that every chosen pod has the node of the pod of its name in the runs of the variant `relativeTo`.

    Those are the peers of the same scenario, size and seed; a record of that variant is its own reference. Without one
    the verdict is `not-judged`. No bound pod at all is a rejection: nothing would have been compared.
    """
    own = record.meta.variant == expectation.relative_to
    references = [record] if own else [peer for peer in peers if _comparable(expectation, record, peer)]
    title = described(expectation.selector, namespace=expectation.namespace)
    expected = f"on the same nodes as with {expectation.relative_to}"
    if not references:
        return Verdict(
            kind=expectation.kind,
            title=title,
            status="not-judged",
            expected=expected,
            seen="nothing to compare with",
            note=f"not judged: no run of variant {expectation.relative_to} with seed {record.meta.seed} in this "
            f"session; add --variant {expectation.relative_to}",
        )
    pods = _chosen(expectation, record)
    bound = sum(pod.node is not None for pod in pods.values())
    lines, absent = _differences(pods, [_chosen(expectation, reference) for reference in references])
    codes = set() if own else {finding.code for finding in findings(record)}
    # A finding tells of other nodes, and never of pods that are not there.
    explained = bool(lines) and not absent and not codes.isdisjoint({expectation.unless, expectation.differs})
    unseen = expectation.differs if not lines and expectation.differs in codes else None
    facts = [] if bound else [f"{counted(len(pods), 'pod')} matched, none of them is bound"]
    if own:
        facts.append(f"this run is of variant {expectation.relative_to}: it is its own reference")
    return Verdict(
        kind=expectation.kind,
        title=title,
        status=status_of(bool(bound) and (explained or not lines) and not unseen),
        expected=expected + _exception(expectation),
        seen=f"{len(lines)} of {counted(len(pods), 'pod')} elsewhere" if bound else "no bound pod",
        detail="; ".join(limited(lines)),
        evidence=tuple(facts),
        note=_note(record, absent) if lines else _unseen(unseen),
    )


def _differences(pods: dict[str, PodHistory], others: Sequence[dict[str, PodHistory]]) -> tuple[list[str], int]:
    """Return a line per pod that is elsewhere in one of the others, and how many of them are not there at all."""
    lines, absent = [], 0
    for name in dict.fromkeys([*pods, *(name for other in others for name in other)]):
        here = _place(pods.get(name))
        there = next((place for other in others if (place := _place(other.get(name))) != here), here)
        if here != there:
            absent += _ABSENT in (here, there)
            lines.append(f"{name.removeprefix('default/')}: here {here}, there {there}")
    return lines, absent


def _place(pod: PodHistory | None) -> str:
    return _ABSENT if pod is None else pod.node or _NOWHERE


def _exception(expectation: SameAs) -> str:
    if expectation.unless:
        return f", unless {expectation.unless}"
    return f", elsewhere with {expectation.differs}" if expectation.differs else ""


def _unseen(code: str | None) -> str | None:
    """Say that what a finding warns of did not happen, perhaps because this version of Kubernetes has it mended."""
    return f"{code} was found and made no difference: this version of Kubernetes may have it mended" if code else None


def _note(record: Record, absent: int) -> str | None:
    """Name what is known to make placements differ."""
    if absent:
        return "pods that a controller names have another name in every run; createPods gives names that repeat"
    blind = [finding.extender for finding in findings(record) if finding.code == "blind-scoring"]
    if blind:
        return (
            f"extender {', '.join(blind)} is not nodeCacheCapable: since Kubernetes 1.33 resource scores then see "
            "empty nodes, which can explain the difference (kubernetes#141781)"
        )
    return None


def _chosen(expectation: SameAs, record: Record) -> dict[str, PodHistory]:
    found = existing(matching_pods(record, selector=expectation.selector, namespace=expectation.namespace))
    return {pod.full_name: pod for pod in found}


def _comparable(expectation: SameAs, record: Record, peer: Record) -> bool:
    mine, theirs = record.meta, peer.meta
    return (theirs.scenario, theirs.size, theirs.seed, theirs.variant) == (
        mine.scenario,
        mine.size,
        mine.seed,
        expectation.relative_to,
    )
