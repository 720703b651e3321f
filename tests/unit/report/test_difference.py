import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.report.difference import compare
from harness.report.distance import (
    ALPHA,
    distance,
    distance_p,
    drawn_floor,
    figure_p,
    measured_floor,
    nameless_distance,
)
from harness.report.moves import moves
from harness.report.randomness import Lots
from harness.report.repeats import Side, named, sides
from harness.report.summary import RunSummary
from tests.unit.expect.records import NO_CPU, RecordBuilder
from tests.unit.report.given import judged
from tests.unit.report.placing import at_random, builder, renamed, run

# A machine that others use too is no fault of the code.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
COUNTS = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 20), min_size=1).filter(
    lambda one: sum(one.values())
)


def on(counts: Sequence[int]) -> dict[str, int]:
    return {f"n{place}": count for place, count in enumerate(counts)}


def several(*each: Sequence[int], variant: str = "default", slow: float = 1.0) -> list[RunSummary]:
    return [
        run(counts, run_id=f"{variant}-{turn}", variant=variant, slow=slow + 0.01 * turn)
        for turn, counts in enumerate(each)
    ]


# Distances


@patient
@given(COUNTS, COUNTS)
def test_distances_are_shares_and_the_same_both_ways(here: dict[str, int], there: dict[str, int]) -> None:
    for measure in (distance, nameless_distance):
        apart = measure(here, there)
        assert apart is not None
        assert 0 <= apart <= 1 + 1e-12
        assert apart == measure(there, here)
    assert (nameless_distance(here, there) or 0) <= (distance(here, there) or 0) + 1e-12


@patient
@given(COUNTS, st.randoms(use_true_random=False))
def test_nothing_is_apart_from_itself_nor_sorted_from_its_shuffle(counts: dict[str, int], random: object) -> None:
    assert distance(counts, dict(counts)) == 0
    values = list(counts.values())
    random.shuffle(values)  # type: ignore[attr-defined]
    assert nameless_distance(counts, dict(zip(counts, values, strict=True))) == 0


def test_a_distance_is_the_share_of_pods_to_move() -> None:
    assert distance({"a": 7, "b": 7, "c": 6}, {"a": 7, "b": 6, "c": 7}) == pytest.approx(1 / 20)
    assert distance({"a": 3}, {"b": 3}) == 1
    assert distance({"a": 3}, {"a": 0}) is None


def test_the_floor_of_random_runs() -> None:
    """1000 pods on 100 nodes twice: 0.177 apart on average."""
    floor = drawn_floor(Lots.of(1000, [1] * 100))
    assert floor.mean == pytest.approx(0.177, abs=0.004)
    far = [
        (distance(on(at_random(1000, 100, seed)), on(at_random(1000, 100, seed + 500))) or 0) > floor.most
        for seed in range(300)
    ]
    assert np.mean(far) <= 0.03
    assert (floor.runs, floor.weak) == (0, False)


def test_the_floor_of_repeats_says_how_many_they_were() -> None:
    repeats = [on(counts) for counts in ((7, 7, 6), (7, 6, 7), (7, 7, 6))]
    floor = measured_floor(repeats)
    assert floor is not None
    assert (floor.runs, floor.weak) == (3, True)
    assert (floor.mean, floor.most, floor.nameless_most) == pytest.approx((0.1 / 3, 0.05, 0))
    assert measured_floor(repeats[:1]) is None
    enough = measured_floor(repeats * 2)
    assert enough is not None
    assert not enough.weak


def test_fewer_than_five_runs_are_never_tested() -> None:
    assert figure_p([1.0] * 4, [9.0] * 5) is None
    assert distance_p([on((1, 0))] * 4, [on((0, 1))] * 9) is None


def test_five_runs_that_differ_are_significant_and_repeats_are_not() -> None:
    low, high = [1.0, 1.1, 0.9, 1.05, 0.95], [2.0, 2.1, 1.9, 2.05, 1.95]
    assert figure_p(low, high) == pytest.approx(2 / 252)
    assert figure_p(low, low) == 1.0
    # One run on a busy machine decides nothing, whichever side it is on.
    assert figure_p([*low[:4], 99.0], high) == figure_p([*low[:4], 3.0], high)
    even, packed = [on((5, 5))] * 5, [on((10, 0))] * 5
    assert (distance_p(even, packed) or 1) < ALPHA
    assert distance_p(even, even) == 1.0


def test_tests_over_runs_are_honest() -> None:
    random = np.random.default_rng(1)
    alarms = [(figure_p(*random.normal(size=(2, 5)).tolist()) or 1) < ALPHA for _ in range(400)]
    # 1 % expected: 4 of 400; 12 and more happen once in a thousand.
    assert sum(alarms) < 12


def test_many_runs_are_drawn_from_and_not_listed() -> None:
    random = np.random.default_rng(2)
    here, there = random.normal(size=12).tolist(), (random.normal(size=12) + 3).tolist()
    assert (figure_p(here, there) or 1) < 0.001
    assert figure_p(here, there) == figure_p(here, there)


# Moves


def test_pods_with_names_are_followed_one_by_one() -> None:
    there = RecordBuilder().node("n1").node("n2").pod("stays", "n1").pod("moves", "n1").pod("stuck", "n2")
    there.pod("freed", message=NO_CPU).pod("gone", "n2")
    here = RecordBuilder().node("n1").node("n2").pod("stays", "n1").pod("moves", "n2").pod("stuck", message=NO_CPU)
    here.pod("freed", "n1").pod("new", "n1").pod("agent", "n2", owner={"kind": "DaemonSet", "name": "d", "uid": "u"})
    found = moves(here.build(), there.build())
    assert {move.pod: (move.what, move.there, move.here) for move in found.named} == {
        "moves": ("moved", "n1", "n2"),
        "stuck": ("newly-pending", "n2", None),
        "freed": ("no-longer-pending", None, "n1"),
        "gone": ("only-there", "n2", None),
        "new": ("only-here", None, "n1"),
    }
    assert (found.moved, found.pods, found.share) == (1, 5, 1.0)


def drawn(names: Sequence[str], nodes: Sequence[str | None], replica_set: str = "web-1") -> RecordBuilder:
    made = RecordBuilder().node("n1").node("n2").workload("Deployment", "web", len(names))
    made.workload("ReplicaSet", replica_set, len(names), owner={"kind": "Deployment", "name": "web", "uid": "uid-web"})
    owner = {"kind": "ReplicaSet", "name": replica_set, "uid": f"uid-{replica_set}"}
    for name, node in zip(names, nodes, strict=True):
        made.pod(f"{replica_set}-{name}", node, owner=owner, message=None if node else NO_CPU)
    return made


def test_pods_with_random_names_are_counted_per_node() -> None:
    """The name of the ReplicaSet differs too: it depends on the schedulerName."""
    there = drawn("abcd", ["n1", "n1", "n2", "n2"]).build()
    here = drawn("wxyz", ["n1", "n1", "n1", None], "web-2").build()
    found = moves(here, there)
    assert found.named == ()
    (work,) = found.workloads
    assert (work.workload, work.moved, work.nodes) == ("Deployment web", 1, ["n1", "n2"])
    assert {what: count for what, count in found.counts.items() if count} == {"moved": 1, "newly-pending": 1}


def test_the_same_numbers_are_no_difference_whatever_the_names() -> None:
    found = moves(drawn("ab", ["n1", "n2"]).build(), drawn("xy", ["n2", "n1"]).build())
    assert (found.moved, found.share) == (0, 0.0)


# Sides


def test_repeats_stand_together_and_the_first_is_the_base() -> None:
    runs = [*several((2, 1), (1, 2)), *several((2, 1), variant="extender")]
    first, second = sides([runs[0], runs[2], runs[1]])
    assert (first.name, len(first.runs), second.name, len(second.runs)) == ("default", 2, "extender", 1)


def test_runs_of_one_kind_stand_alone() -> None:
    assert [side.name for side in sides(several((2, 1), (1, 2)))] == ["default #1", "default #2"]


def test_other_extenders_are_another_side() -> None:
    made = [builder((2, 1), variant="extender").extender(name) for name in ("one", "two")]
    assert [side.name for side in sides([judged(one) for one in made])] == ["extender (ref:one)", "extender (ref:two)"]


def test_ports_tell_nothing() -> None:
    base = [
        builder((2, 1), variant="extender").extender("one", urlPrefix=f"http://127.0.0.1:{port}") for port in (1, 2)
    ]
    runs = [*map(judged, base), *several((2, 1))]
    assert [len(side.runs) for side in sides(runs)] == [2, 1]


def test_groups_that_a_person_made_stay() -> None:
    runs = several((2, 1), (1, 2), (2, 1))
    assert [side.name for side in named([runs[:2], runs[2:]])] == ["default #1", "default #2"]


# Comparisons


def versus(base: Sequence[RunSummary], other: Sequence[RunSummary]) -> Any:
    (one,) = compare([Side("base", tuple(base)), Side("other", tuple(other))]).others
    return one


def test_a_run_does_not_differ_from_its_twin() -> None:
    one = versus([run((7, 7, 6))], [run((7, 7, 6), run_id="twin")])
    assert (one.apart.distance, one.apart.outcome, one.moves.share) == (0, "same", 0)
    assert one.figure("p50_ms").outcome == "same"
    assert one.figure("pods_per_second").outcome == "same"
    assert not one.rejected


def test_one_slow_run_is_unclear_and_five_are_significant() -> None:
    single = versus([run((7, 7, 6))], [run((7, 7, 6), run_id="slow", slow=2.0)]).figure("p50_ms")
    assert (single.tested, single.outcome) == ("pods", "unclear")
    assert single.change == pytest.approx(1.0)
    assert (single.p or 1) < ALPHA
    # The test over pods is of all waits: nobody tested this one.
    high = versus([run((7, 7, 6))], [run((7, 7, 6), run_id="slow", slow=2.0)]).figure("p90_ms")
    assert (high.tested, high.outcome, high.p, high.change) == ("", "too-few", None, pytest.approx(1.0))
    five = [(7, 7, 6)] * 5
    many = versus(several(*five), several(*five, variant="slow", slow=2.0)).figure("p50_ms")
    assert (many.tested, many.outcome, many.p) == ("runs", "different", pytest.approx(2 / 252))


def test_a_little_slower_is_not_significant() -> None:
    one = versus([run((7, 7, 6))], [run((7, 7, 6), run_id="slower", slow=1.01)]).figure("p50_ms")
    assert (one.outcome, one.tested) == ("not-significant", "pods")
    assert one.change == pytest.approx(0.01)


def test_four_runs_are_not_enough() -> None:
    four = [(7, 7, 6)] * 4
    found = versus(several(*four), several(*four, variant="slow", slow=2.0))
    assert found.figure("p50_ms").outcome == "unclear"
    assert found.figure("pods_per_second").outcome == "too-few"


@pytest.mark.parametrize("unlike", [{"machine": {"id": "there"}}, {"cluster": "kind"}, {"status": "failed"}])
def test_times_of_other_machines_are_shown_and_never_compared(unlike: dict[str, Any]) -> None:
    one = versus([run((7, 7, 6))], [run((7, 7, 6), run_id="there", slow=9.0, **unlike)])
    figure = one.figure("p50_ms")
    assert (figure.outcome, figure.p) == ("not-compared", None)
    assert (figure.change or 0) > 1
    assert one.figure("attempts").outcome == "unknown"
    assert one.apart.outcome == "same"


def test_placements_are_held_against_the_floor() -> None:
    # Two random ones are as far apart as random ones are; even and packed ones are not.
    near = versus([run(at_random(100, 10, 1))], [run(at_random(100, 10, 2))])
    assert (near.apart.outcome, near.apart.floor.runs) == ("within", 0)
    assert versus([run([10] * 10)], [run([50, 50] + [0] * 8)]).apart.outcome == "beyond"
    # By the names of nodes an even and a random one are within the floor; sorted, they are not.
    mixed = versus([run([10] * 60)], [run(at_random(600, 60, 3))]).apart
    assert mixed.distance < mixed.floor.most
    assert (mixed.nameless > mixed.floor.nameless_most, mixed.outcome) == (True, "beyond")


def test_a_measured_floor_wins_over_a_drawn_one() -> None:
    base = several((7, 7, 6), (7, 6, 7), (6, 7, 7))
    apart = versus(base, several((12, 4, 4), variant="other")).apart
    assert (apart.floor.runs, apart.floor.weak, apart.outcome) == (3, True, "beyond")


def test_five_runs_each_are_tested_for_their_places() -> None:
    even, odd = [(10,) * 10] * 5, [tuple(at_random(100, 10, seed)) for seed in range(5)]
    assert versus(several(*even), several(*odd, variant="odd")).apart.outcome == "different"
    other = [tuple(at_random(100, 10, seed)) for seed in range(5, 10)]
    assert versus(several(*odd), several(*other, variant="odd")).apart.outcome == "not-significant"


def test_verdicts_that_held_before() -> None:
    wanted = {"kind": "count", "running": 3}
    good, bad = (builder(counts) for counts in ((2, 1), (1, 1)))
    good.expect = bad.expect = (wanted,)
    (told,) = versus([judged(good)], [renamed(judged(bad), "bad")]).rejected
    assert "3 running" in told
    assert versus([judged(bad)], [renamed(judged(bad), "again")]).rejected == ()


def test_a_comparison_is_json() -> None:
    runs = [*several((2, 1), (1, 2)), *several((2, 1), variant="extender")]
    document = json.loads(json.dumps(compare(sides(runs)).to_json()))
    (other,) = document["others"]
    assert {one["name"] for one in other["changes"]} >= {"p50_ms", "p90_ms", "pods_per_second", "cpu_ms_per_pod"}
    assert (document["base"]["runs"], other["placement"]["floor"]["runs"]) == (["default-0", "default-1"], 2)


def test_every_pair_counts() -> None:
    base, other = several((2, 0), (0, 2)), several((2, 0), (1, 1), variant="other")
    pairs = [distance(on(one), on(two)) for one in ((2, 0), (0, 2)) for two in ((2, 0), (1, 1))]
    assert versus(base, other).apart.distance == pytest.approx(sum(apart or 0 for apart in pairs) / 4)
