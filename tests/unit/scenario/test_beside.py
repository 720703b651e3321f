"""Shipped scenarios on a cluster that has nodes besides theirs: a scheduler counts them all in what it says."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from harness.scenario.expectations import Pending
from harness.scenario.find import find
from harness.scenario.load import load

SCENARIOS = Path(__file__).parents[3] / "scenarios"
TAINTED = "node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }"
ELSEWHERE = "node(s) didn't match Pod's node affinity/selector"
UNHELPFUL, NO_VICTIMS = "Preemption is not helpful for scheduling", "No preemption victims found for incoming pod"
EXTENDER_500 = "preemption: failed preempt with extender at URL http://127.0.0.1:4242/preempt, code 500"
# Above nine, they are the first of the text again.
BESIDE: tuple[dict[str, int], ...] = ({}, {TAINTED: 1}, {TAINTED: 1, ELSEWHERE: 2}, {ELSEWHERE: 5}, {TAINTED: 12})


def waiting(name: str, size: str, provider: str = "existing") -> Iterator[str]:
    """Yield the messages that a scenario expects of pods that wait."""
    scenario = load(SCENARIOS / f"{name}.yaml").at(size).on_cluster(provider)
    for one in scenario.expect:
        if isinstance(one, Pending) and one.message:
            yield one.message


def refusal(reasons: Mapping[str, int]) -> str:
    """Return how kube-scheduler says how many nodes refused a pod for which reason: sorted as texts."""
    told = sorted(f"{count} {reason}" for reason, count in reasons.items())
    return f"0/{sum(reasons.values())} nodes are available: {', '.join(told)}."


@pytest.mark.parametrize("provider", ["embedded", "kind", "existing"])
@pytest.mark.parametrize("beside", BESIDE, ids=str)
@pytest.mark.parametrize("claims", ["", "no new claims to deallocate, "])
def test_a_preemption_that_fails_is_known_whatever_nodes_there_are(
    provider: str, beside: dict[str, int], claims: str
) -> None:
    (pattern,) = waiting("faults/27-preempt-500", "strict", provider)
    refused = refusal({"Insufficient cpu": 3, **beside})
    assert re.search(pattern, f"{refused} {claims}{EXTENDER_500}")
    assert re.search(pattern, f"{refusal({'Insufficient cpu': 14})} {EXTENDER_500}")
    assert not re.search(pattern, f"{refused} preemption: {refusal({UNHELPFUL: 3})}")
    assert not re.search(pattern, f"{refusal({'Insufficient cpu': 2, **beside})} {EXTENDER_500}")


@pytest.mark.parametrize("beside", BESIDE, ids=str)
@pytest.mark.parametrize(
    ("name", "then"),
    [
        ("12-filter-rejects", {NO_VICTIMS: 3}),
        ("13-filter-unresolvable", {UNHELPFUL: 3}),
        ("18-filter-rejects-high-priority", None),
    ],
)
def test_a_refusal_of_an_extender_is_known_among_those_of_other_nodes(
    name: str, then: dict[str, int] | None, beside: dict[str, int]
) -> None:
    others = sum(beside.values())
    if then is None:
        end = 'expected at least one victim pod on node "node-1"'
    else:
        end = refusal({**then, UNHELPFUL: then.get(UNHELPFUL, 0) + others} if others else then)
    (pattern,) = set(waiting(f"faults/{name}", "strict"))
    assert re.search(pattern, f"{refusal({'no gpu': 3, **beside})} preemption: {end}")


@pytest.mark.parametrize("path", find([], [SCENARIOS]), ids=lambda path: path.stem)
def test_no_shipped_scenario_counts_all_nodes_of_a_cluster_that_is_not_its_own(path: Path) -> None:
    file = load(path)
    for size in file.sizes:
        for message in waiting(str(path.relative_to(SCENARIOS).with_suffix("")), size):
            if "nodes are available" in message:
                assert re.match(r"\^?0/\\d\+ nodes are available", message), f"{size}: {message}"
