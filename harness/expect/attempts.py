"""Judges how often pods were tried when an extender decides by lot."""

from collections.abc import Sequence

from harness.expect.base import Verdict, counted, status_of
from harness.expect.chance import attempts_bounds, binomial_bounds
from harness.expect.matching import described, existing, matching_pods
from harness.record.model import Record
from harness.scenario.expectations_extender import Attempts


def attempts(expectation: Attempts, record: Record, peers: Sequence[Record] = ()) -> Verdict:
    """Judge that the number of attempts, and of nodes kept, is one that luck explains."""
    pods = existing(matching_pods(record, selector=expectation.selector, namespace=expectation.namespace))
    bound = [pod for pod in pods if pod.node]
    calls = [call for pod in pods for call in record.calls_by_uid.get(pod.uid, ()) if call.kind == "filter"]
    alarms = expectation.false_alarms / (2 if expectation.node_chance else 1)
    title = f"attempts of {described(expectation.selector, namespace=expectation.namespace)}"
    if len(bound) < len(pods) or not pods:
        seen = f"{len(bound)} of {len(pods)} bound"
        return Verdict("attempts", title, "rejected", "every pod bound", seen)
    low, high = attempts_bounds(len(pods), expectation.chance, alarms)
    held = low <= len(calls) <= high
    expected, seen = f"{low} to {high} attempts", counted(len(calls), "attempt")
    facts = [f"{counted(len(pods), 'pod')}, each attempt succeeds with {expectation.chance}"]
    if expectation.node_chance:
        asked = sum(call.nodes_in or 0 for call in calls)
        kept = sum(call.nodes_out or 0 for call in calls)
        least, most = binomial_bounds(asked, expectation.node_chance, alarms)
        held = held and least <= kept <= most
        expected += f", {least} to {most} nodes kept"
        seen += f", {kept} of {asked} nodes kept"
        facts.append(f"each node is kept with {expectation.node_chance}")
    facts.append(f"luck alone leaves these bounds once in {round(1 / expectation.false_alarms):,} runs")
    return Verdict("attempts", title, status_of(held), expected, seen, evidence=tuple(facts))
