import pytest

from harness.errors import InputError
from harness.report.difference import compare
from harness.report.gate import Condition, Finding, conditions, gate
from harness.report.repeats import Side
from harness.report.summary import RunSummary
from harness.report.words import LANGUAGES, Words
from tests.unit.expect.records import NO_CPU
from tests.unit.report.given import judged
from tests.unit.report.placing import at_random, builder, renamed, run

EVEN, PACKED = [10] * 10, [50, 50] + [0] * 8


def found(text: str, base: list[RunSummary], other: list[RunSummary], language: str = "en") -> list[Finding]:
    comparison = compare([Side("base", tuple(base)), Side("other", tuple(other))])
    return list(gate(comparison, conditions(text), Words(language)))


def repeats(slow: float, name: str) -> list[RunSummary]:
    return [run((7, 7, 6), run_id=f"{name}-{turn}", slow=slow + 0.01 * turn) for turn in range(5)]


def test_conditions_as_people_write_them() -> None:
    assert conditions("placement, latency:20,cost:0.5%") == (
        Condition("placement"),
        Condition("latency", 0.2),
        Condition("cost", 0.005),
    )
    assert [one.title for one in conditions("placement,latency:20")] == ["placement", "latency:20"]


@pytest.mark.parametrize("text", ["speed", "latency:fast", "latency:-1", "latency:nan", "verdict:5", "", ","])
def test_conditions_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match="--fail-on"):
        conditions(text)


def test_a_twin_hits_nothing() -> None:
    everything = "placement:0,pending:0,latency:0,throughput:0,verdict"
    assert found(everything, [run((7, 7, 6))], [run((7, 7, 6), run_id="twin")]) == []


def test_placement_with_and_without_a_limit() -> None:
    base, other = [run(EVEN)], [run(PACKED, run_id="packed")]
    (free,) = found("placement", base, other)
    assert (free.hit, free.text) == (True, "TVD 0.800 is more than runs of the same have (0.280)")
    assert [one.hit for one in found("placement:50", base, other)] == [True]
    assert found("placement:100", base, other) == []
    (sorted_,) = found("placement", [run([10] * 60)], [run(at_random(600, 60, 3), run_id="random")])
    assert sorted_.text.startswith("TVD of sorted loads 0.1")
    even, packed = ([run(one, run_id=f"{turn}{one[0]}") for turn in range(5)] for one in (EVEN, PACKED))
    (tested,) = found("placement", even, packed)
    assert tested.text == "TVD 0.800, and chance does not explain it (p 0.0079)"
    # Which of equal nodes gets a pod more is chance: that alone hits only a plain limit.
    chance = [run((7, 6, 7), run_id="chance")]
    assert found("placement", [run((7, 7, 6))], chance) == []
    assert [one.hit for one in found("placement:0", [run((7, 7, 6))], chance)] == [True]


def test_placements_of_which_one_has_no_pod_are_not_decided() -> None:
    waiting = builder((0, 0)).pod("waits", message=NO_CPU)
    (one,) = found("placement", [run((2, 1))], [renamed(judged(waiting), "other")])
    assert (one.hit, "cannot be compared" in one.text) == (False, True)


def test_pods_that_wait() -> None:
    waiting = builder((2, 1)).pod("waits", message=NO_CPU).pod("too", message=NO_CPU)
    base, other = [judged(builder((2, 1)))], [renamed(judged(waiting), "other")]
    (one,) = found("pending", base, other)
    assert one.text == "2 pods are pending, 0 in the base; at most 0 more accepted"
    assert found("pending:70", base, other) == []
    assert found("pending", other, base) == []


def test_a_limit_on_latency_is_plain() -> None:
    base, slow = [run((7, 7, 6))], [run((7, 7, 6), run_id="slow", slow=1.5)]
    (p50, p90) = found("latency:20", base, slow)
    assert p50.hit
    assert "worse by 50.0%, at most 20.0% accepted" in p50.text
    assert "p90" in p90.text
    assert found("latency:60", base, slow) == []
    assert found("latency:0", slow, base) == []


def test_without_a_limit_five_runs_of_each_decide() -> None:
    one = found("latency", [run((7, 7, 6))], [run((7, 7, 6), run_id="slow", slow=2.0)])
    assert [each.hit for each in one] == [False, False]
    assert "five runs of each are needed" in one[0].text
    many = found("latency", repeats(1.0, "base"), repeats(2.0, "other"))
    assert [each.hit for each in many] == [True, True]
    assert "chance does not explain it (p 0.0079)" in many[0].text
    assert found("latency", repeats(2.0, "base"), repeats(1.0, "other")) == []


def test_fewer_pods_per_second_are_worse() -> None:
    base, slow = [run((7, 7, 6))], [run((7, 7, 6), run_id="slow", slow=4.0)]
    assert [one.hit for one in found("throughput:10", base, slow)] == [True]
    assert found("throughput:10", slow, base) == []


def test_cost_is_cpu_per_pod() -> None:
    base = [run((7, 7, 6), cpu_seconds={"default-scheduler": 0.1})]
    dear = [run((7, 7, 6), run_id="dear", cpu_seconds={"default-scheduler": 0.1, "extender x": 0.1})]
    (one,) = found("cost:50", base, dear)
    assert "10.00 against 5.00: worse by 100.0%" in one.text
    (unknown,) = found("cost:50", base, [run((7, 7, 6), run_id="unmeasured")])
    assert (unknown.hit, "is not known of both" in unknown.text) == (False, True)


def test_another_machine_never_fails_a_build() -> None:
    there = [run((7, 7, 6), run_id="there", slow=9.0, machine={"id": "there"})]
    told = found("latency:1,throughput:1", [run((7, 7, 6))], there)
    assert {one.hit for one in told} == {False}
    assert all("cannot be compared" in one.text for one in told)


@pytest.mark.parametrize("language", LANGUAGES)
def test_verdicts_in_every_language(language: str) -> None:
    good, bad = builder((2, 1)), builder((1, 1))
    good.expect = bad.expect = ({"kind": "count", "running": 3},)
    (one,) = found("verdict", [judged(good)], [renamed(judged(bad), "bad")], language)
    assert one.hit
    assert one.text
