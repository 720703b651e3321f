from collections import Counter
from math import isclose

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.report import randomness
from harness.report.randomness import Lots, chances, dispersion, draws
from harness.report.spread import Loads, loads, spread
from tests.unit.expect.records import RecordBuilder
from tests.unit.report.placing import at_random, builder

SIZES = [(20, 3), (20, 5), (20, 7), (100, 10), (40, 40), (250, 50), (1000, 100)]


def of(*counts: int) -> Loads:
    return loads(builder(counts, cpu=1_000_000, pods=100_000).build())


def test_figures_of_one_placement() -> None:
    found = spread([of(4, 2, 0, 2)])
    assert (found.pods, found.nodes, found.empty, found.measure) == (8, 4, 1, "pods")
    # Counts 4, 2, 0, 2: mean 2, variance 2; chi-square (4 + 0 + 4 + 0) / 2 over 3 degrees of freedom.
    assert found.cv == pytest.approx(2**0.5 / 2)
    assert found.max_over_mean == pytest.approx(2.0)
    assert found.index == pytest.approx(4 / 3)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(0, 50), min_size=2, max_size=12).filter(any))
def test_the_index_is_the_cv_in_other_words(counts: list[int]) -> None:
    """Chi-square is N times CV squared where all nodes are expected to hold the same."""
    share = (1 / len(counts),) * len(counts)
    cv = float(np.std(counts) / np.mean(counts))
    assert isclose(dispersion(counts, share), sum(counts) * cv**2 / (len(counts) - 1), abs_tol=1e-9)


@pytest.mark.parametrize(("pods", "nodes"), SIZES)
def test_random_placements_are_in_the_band_as_often_as_promised(pods: int, nodes: int) -> None:
    lots = Lots.of(pods, [1] * nodes)
    low, high = chances(lots).band()
    other = np.random.default_rng(7).multinomial(pods, [1 / nodes] * nodes, size=4000)
    indices = [dispersion(counts, lots.shares) for counts in other]
    inside = np.mean([low - 1e-6 <= index <= high + 1e-6 for index in indices])
    # 99 % or more where few values are possible; three standard errors of 4000 draws are half a percent.
    assert inside >= 0.985
    if pods >= 100:
        assert inside <= 0.996


def test_the_band_of_published_figures() -> None:
    """loads of 100 pods on 10 nodes and 1000 on 100: 99.9 % bands 0.11 to 3.3 and 0.60 to 1.53."""
    assert chances(Lots.of(100, [1] * 10)).band(0.999) == pytest.approx((0.11, 3.3), abs=0.15)
    assert chances(Lots.of(1000, [1] * 100)).band(0.999) == pytest.approx((0.60, 1.53), abs=0.03)


def test_small_cases_are_exact() -> None:
    found = chances(Lots.of(20, [1, 1, 1]))
    assert found.how == "exact"
    # 3 * 20! / (7! 7! 6!) ways of 3^20 are as even as can be.
    assert found.at_most(0.05) == pytest.approx(3 * 133024320 / 3**20)
    assert found.at_least(0.0) == pytest.approx(1.0)


def test_the_table_is_only_used_where_it_is_right() -> None:
    assert chances(Lots.of(100, [1] * 10)).how == "drawn"
    assert chances(Lots.of(249, [1] * 50)).how == "drawn"
    assert chances(Lots.of(250, [1] * 50)).how == "table"


def test_exact_and_drawn_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    lots = Lots.of(20, [1, 2, 3])
    exact = chances(lots)
    monkeypatch.setattr(randomness, "EXACT_WAYS_MAX", 0)
    drawn = chances.__wrapped__(lots)
    assert (exact.how, drawn.how) == ("exact", "drawn")
    assert drawn.at_most(1.0) == pytest.approx(exact.at_most(1.0), abs=0.015)


def test_the_table_and_drawn_agree_from_fifty_nodes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    lots = Lots.of(250, [1] * 50)
    table = chances(lots)
    monkeypatch.setattr(randomness, "TABLE_NODES_MIN", 1000)
    drawn = chances.__wrapped__(lots)
    assert (table.how, drawn.how) == ("table", "drawn")
    assert drawn.band() == pytest.approx(table.band(), abs=0.05)


def test_the_same_question_has_the_same_answer() -> None:
    lots = Lots.of(100, [1] * 10)
    assert chances.__wrapped__(lots).band() == chances.__wrapped__(lots).band()


def test_policies_are_told_apart() -> None:
    assert spread([of(*[10] * 10)]).policy == "spreading"
    assert spread([of(*[50, 50, 0, 0, 0, 0, 0, 0, 0, 0])]).policy == "packing"
    told = Counter(spread([of(*at_random(100, 10, seed))]).policy for seed in range(100))
    assert told["random"] >= 96


def test_what_few_pods_cannot_tell_is_unclear() -> None:
    one = spread([of(7, 7, 6)])
    assert one.policy == "unclear"
    assert one.evener == pytest.approx(0.114, abs=0.001)
    assert spread([of(3, 0, 0)]).policy == "unclear"
    assert spread([of(8, 7, 5)]).policy == "random"


def test_repeats_tell_what_one_run_cannot() -> None:
    five = spread([of(7, 7, 6), of(6, 7, 7), of(7, 6, 7), of(7, 7, 6), of(7, 7, 6)])
    assert (five.runs, five.policy) == (5, "spreading")
    assert five.index == pytest.approx(0.05)


def test_random_repeats_are_still_random() -> None:
    told = Counter(spread([of(*at_random(20, 3, 5 * seed + turn)) for turn in range(5)]).policy for seed in range(60))
    assert told["random"] >= 57


def test_repeats_that_placed_other_numbers_have_no_band() -> None:
    found = spread([of(7, 7, 6), of(7, 7, 5)])
    assert (found.low, found.high, found.policy) == (None, None, "none")


def test_a_placement_that_had_to_be_is_not_called_spreading() -> None:
    """Twelve pods of one cpu fill three nodes of four: a random scheduler gives the same."""
    made = RecordBuilder()
    for place in range(3):
        made.node(f"n{place}", cpu=4000)
    for number in range(12):
        made.pod(f"p{number}", f"n{number % 3}", requests={"cpu": 1000, "pods": 1})
    found = spread([loads(made.build())])
    assert (found.low, found.high, found.policy) == (0.0, 0.0, "unclear")


def test_room_is_kept_while_lots_are_drawn() -> None:
    lots = Lots.of(10, [1, 1, 1], [4, 4, 4])
    (drawn,) = draws(lots, 500)
    assert drawn.sum(axis=1).tolist() == [10] * 500
    assert drawn.max() == 4
    # One after the other: 4, 4, 2 in any order, or 4, 3, 3.
    rng = np.random.default_rng(3)
    singles = []
    for _ in range(2000):
        counts = np.zeros(3, dtype=int)
        for _ in range(10):
            counts[rng.choice(np.flatnonzero(counts < 4))] += 1
        singles.append(sorted(counts.tolist()) == [2, 4, 4])
    share = np.mean([sorted(row) == [2, 4, 4] for row in np.concatenate(list(draws(lots, 4000))).tolist()])
    assert share == pytest.approx(np.mean(singles), abs=0.04)


def test_unequal_nodes_are_measured_by_what_is_used_up_most() -> None:
    made = RecordBuilder().node("small", cpu=1000, pods=1000).node("large", cpu=3000, pods=1000)
    for number in range(20):
        made.pod(f"p{number}", "small" if number < 5 else "large", requests={"cpu": 100, "memory": 1, "pods": 1})
    one = loads(made.build())
    found = spread([one])
    assert (found.measure, one.shares) == ("cpu", (0.75, 0.25))
    # Both are half full, and hold what their size lets expect.
    assert [found.cv, found.index] == pytest.approx([0.0, 0.0])


def test_what_nobody_chose_is_not_counted() -> None:
    made = builder([3, 2], cpu=100_000).node("tainted").node("cordoned").node("gone", removed_t=5.0)
    made.node_changes("tainted", 0.5, taints=[{"key": "k", "effect": "NoSchedule"}])
    made.node_changes("cordoned", 0.5, unschedulable=True)
    made.pod("agent", "node-1", owner={"kind": "DaemonSet", "name": "agent", "uid": "u"})
    made.pod("dns", "node-1", namespace="kube-system").pod("waits").pod("deleted", "node-2", deleted_t=4.0)
    one = loads(made.build())
    assert one.counts == {"node-1": 3, "node-2": 2}
    assert one.left_out == 2


def test_nothing_to_be_uneven_with() -> None:
    for made in (RecordBuilder(), builder([3]), builder([0, 0])):
        assert spread([loads(made.build())]).policy == "none"


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(0, 6), min_size=2, max_size=6).filter(any))
def test_order_of_nodes_means_nothing(counts: list[int]) -> None:
    here, there = spread([of(*counts)]), spread([of(*reversed(counts))])
    assert here.index == pytest.approx(there.index)
    assert here.policy == there.policy
