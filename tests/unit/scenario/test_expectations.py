import pytest

from harness.scenario.expectations import CountOf, NeverOn, OnlyOn, Pending, Timing
from harness.scenario.fields import Range
from harness.scenario.steps import CreatePods, UpdateNodes

WEB = {"app": "web"}


@pytest.mark.parametrize(
    ("bounds", "inside", "outside", "words"),
    [
        (Range.model_validate(3), [3], [2, 4], "exactly 3"),
        (Range.model_validate(0), [0], [1], "exactly 0"),
        (Range(min=2), [2, 99], [1], "at least 2"),
        (Range(max=2), [0, 2], [3], "at most 2"),
        (Range(min=2, max=4), [2, 3, 4], [1, 5], "2 to 4"),
    ],
)
def test_ranges(bounds: Range, inside: list[int], outside: list[int], words: str) -> None:
    assert all(bounds.holds(number) for number in inside)
    assert not any(bounds.holds(number) for number in outside)
    assert str(bounds) == words


def test_picks_by_selector_and_namespace() -> None:
    expectation = CountOf(selector="app=web", namespace="shop", running=Range(min=1))
    assert expectation.picks("shop", "a", WEB)
    assert not expectation.picks("default", "a", WEB)
    assert not expectation.picks("shop", "a", {"app": "db"})
    assert CountOf(total=Range(min=0)).picks("anywhere", "a", {})


def test_picks_by_name() -> None:
    expectation = Pending(pods=("web-*", "db"))
    assert expectation.picks("default", "web-7", {})
    assert expectation.picks("default", "db", {})
    assert not expectation.picks("default", "db-1", {})
    assert not expectation.picks("default", "WEB-7", {})


def test_one_name_needs_no_list() -> None:
    assert Pending.model_validate({"kind": "pending", "pods": "web-*"}).pods == ("web-*",)


def test_picks_nodes() -> None:
    by_name = OnlyOn(nodes=("node-*",))
    assert by_name.picks_node("node-1", {})
    assert not by_name.picks_node("worker", {})
    by_label = NeverOn(node_selector="zone in (a,b)")
    assert by_label.picks_node("x", {"zone": "a"})
    assert not by_label.picks_node("x", {"zone": "c"})


def test_demands_are_those_given() -> None:
    expectation = CountOf(pending=Range(max=0), running=Range(min=1))
    assert [(state, str(demand)) for state, demand in expectation.demands.items()] == [
        ("running", "at least 1"),
        ("pending", "at most 0"),
    ]


def test_defaults() -> None:
    assert str(Pending().count) == "at least 1"
    assert Timing(measure="createToBound", at_most=2.0, relative_to="default").percentile == 50


def test_pods_of_a_step() -> None:
    step = CreatePods(count=2, name="web-{index}")
    assert step.pod_names() == ["web-1", "web-2"]
    assert step.requests == {"cpu": "100m"}


def test_null_removes_a_label() -> None:
    step = UpdateNodes.model_validate({"op": "updateNodes", "names": ["a"], "labels": {"gone": None, "new": "x"}})
    assert step.labels == {"gone": None, "new": "x"}
    assert UpdateNodes.model_validate({"op": "updateNodes", "selector": "", "cordon": False}).cordon is False
