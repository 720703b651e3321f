"""Judges that pods follow what extenders said: each is on the node that their scores put first."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from harness.errors import InputError
from harness.expect import evidence
from harness.expect.base import Verdict, counted, limited, listed, status_of
from harness.expect.calls import untapped
from harness.expect.matching import described, existing, matching_pods
from harness.extender.cassette.file import CassetteCall, read
from harness.extender.entry import Entry
from harness.extender.reply.effect import Effect, effect
from harness.record.call import CASSETTE
from harness.record.model import PodHistory, Record
from harness.scenario.expectations_extender import HighestScore

POINTS_PER_SCORE = 10
"""kube-scheduler stretches an extender's 0 to 10 to the plugins' 0 to 100 before it applies the weight."""


def highest_score(expectation: HighestScore, record: Record, peers: Sequence[Record] = ()) -> Verdict:
    """Judge that each chosen pod is on the node that alone got the most from extenders, in its last attempt.

    Equal scores at the top prefer nothing and are a rejection: the plugins, or the lot, then decided. So is a pod that
    has no node or was never scored, and a run of which nothing is known.
    """
    title = described(expectation.selector, expectation.pods, expectation.namespace)
    demand = "on the node that extenders gave the most"
    trouble = untapped(record, None)
    last: dict[str, list[CassetteCall]] = {}
    if trouble is None:
        try:
            last = _last_scores(read(record.path / CASSETTE).calls)
        except InputError as error:
            trouble = f"what was said cannot be read: {error}"
    if trouble:
        return Verdict(expectation.kind, title, "rejected", demand, "nothing to look at", evidence=(trouble,))
    entries = {one.name: Entry.from_json(one.entry) for one in record.extenders}
    pods = existing(
        matching_pods(record, selector=expectation.selector, namespace=expectation.namespace, names=expectation.pods)
    )
    wrong = [line for pod in pods if (line := _otherwise(pod, _added(last.get(pod.uid, ()), entries)))]
    return Verdict(
        kind=expectation.kind,
        title=title,
        status=status_of(bool(pods) and not wrong),
        expected=demand,
        seen=f"{len(pods) - len(wrong)} of {counted(len(pods), 'pod')} so",
        evidence=(*limited(wrong), *evidence.waiting(record, (pod for pod in pods if pod.pending))),
    )


def points(scored: Mapping[str, Effect], entries: Mapping[str, Entry]) -> Counter[str]:
    """Add up what extenders gave to each node, as kube-scheduler adds it to what the plugins give."""
    added: Counter[str] = Counter()
    for name, made in scored.items():
        for node, score in made.scores.items():
            added[node] += score * entries[name].weight * POINTS_PER_SCORE
    return added


def _last_scores(calls: Iterable[CassetteCall]) -> dict[str, list[CassetteCall]]:
    """Return the prioritize calls of each pod's last attempt, by its UID; a filter call begins an attempt."""
    last: dict[str, list[CassetteCall]] = {}
    for call in sorted(calls, key=lambda call: (call.t, call.seq)):
        if call.uid and call.kind == "filter":
            last[call.uid] = []
        elif call.uid and call.kind == "prioritize":
            last.setdefault(call.uid, []).append(call)
    return last


def _added(calls: Iterable[CassetteCall], entries: Mapping[str, Entry]) -> Counter[str]:
    # Only the last reply of each counts: one that has no filter verb shows no attempts.
    last = {call.extender: call for call in calls if call.extender in entries and not call.omitted}
    made = {
        name: effect("prioritize", entries[name], call.request, call.status, call.body, ending=call.ending)
        for name, call in last.items()
    }
    return points({name: one for name, one in made.items() if not one.error}, entries)


def _otherwise(pod: PodHistory, added: Mapping[str, int]) -> str | None:
    """Say why a pod is not where it should be, None if it is."""
    if pod.node is None:
        return f"{pod.name} → no node"
    if not added:
        return f"{pod.name} → {pod.node}: no extender scored it"
    most = max(added.values())
    first = [node for node, value in added.items() if value == most]
    if first == [pod.node]:
        return None
    if len(first) > 1:
        return f"{pod.name} → {pod.node}: extenders prefer no node, {listed(first)} got {most} points each"
    return f"{pod.name} → {pod.node} with {added.get(pod.node, 0)} points, {first[0]} got {most}"
